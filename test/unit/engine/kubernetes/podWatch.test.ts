import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { Cancelled, HumanError } from '../../../../src/domain/work';
import { EngineTrouble } from '../../../../src/engine/docker/connection/engineProblem';
import { ImageMissing } from '../../../../src/engine/docker/images/pull/pullProblem';
import { SandboxUnusable } from '../../../../src/engine/engine';
import { AvoidedNodes } from '../../../../src/engine/kubernetes/nodes';
import type { Cluster } from '../../../../src/engine/kubernetes/cluster';
import { clusterProblem } from '../../../../src/engine/kubernetes/clusterProblem';
import { PodWatch, type AwaitedPod } from '../../../../src/engine/kubernetes/podWatch';

/** A cluster whose lists show one state of the pod `p` after the other; the last one stays. */
function clusterOf(states: readonly (V1Pod | Error | undefined)[]): Cluster {
  let at = 0;
  const next = async (): Promise<V1Pod | undefined> => {
    const state = states[Math.min(at, states.length - 1)];
    at += 1;
    if (state instanceof Error) throw state;
    return Promise.resolve(state);
  };
  const core = {
    listNamespacedPod: async () => {
      const pod = await next();
      return {
        items: pod === undefined ? [] : [{ ...pod, metadata: { name: 'p', ...pod.metadata } }],
      };
    },
    readNamespacedPod: async () => (await next()) ?? Promise.reject(answer(404, 'not found')),
  };
  const ask = (doing: string, call: () => Promise<unknown>): Promise<unknown> =>
    call().catch((error: unknown) => {
      throw clusterProblem(error, 'https://c, namespace n', doing);
    });
  return { core, ask, namespace: 'n' } as unknown as Cluster;
}

const answer = (code: number, message: string): Error =>
  Object.assign(new Error('HTTP-Code'), { code, body: JSON.stringify({ message }) });

const onNode = (state: object, more: object = {}): V1Pod =>
  ({
    spec: { nodeName: 'a', containers: [] },
    status: { containerStatuses: [{ state, imageID: 'sha256:1' }], hostIP: '10.0.0.1', ...more },
  }) as unknown as V1Pod;
const running = onNode({ running: {} });
const pulling = onNode({ waiting: { reason: 'ContainerCreating' } });
const pending: V1Pod = {
  status: {
    conditions: [
      {
        ...{ type: 'PodScheduled', status: 'False' },
        message: '0/2 nodes are available: 2 Insufficient memory.',
      },
    ],
  },
};

const limits = { pendingMinutes: 5, memoryMb: 1024 };
const later = (): number => performance.now() + 3_600_000;

describe('waiting for a pod', () => {
  let said: string[];
  let placed: number;
  beforeEach(() => {
    said = [];
    placed = 0;
  });
  const pod = (more: Partial<AwaitedPod> = {}): AwaitedPod => ({
    ...{ name: 'p', instance: 'octo__cat-1', image: 'i', signal: undefined },
    ...{ until: later(), roomUntil: Infinity, reported: { progress: '', isLogged: false } },
    onPlaced: () => (placed += 1),
    reporter: { progress: (line) => void said.push(line), log: (line) => void said.push(line) },
    ...more,
  });
  const waitFor = (
    states: readonly (V1Pod | Error | undefined)[],
    more: Partial<AwaitedPod> = {},
  ) => new PodWatch(clusterOf(states), limits).running(pod(more), 'sandbox');

  it('says what it waits for, and when the pod has a node', async () => {
    const state = await waitFor([undefined, pending, pending, pulling, running]);
    assert.equal(state.is, 'running');
    assert.deepEqual(said, [
      'octo__cat-1: waiting for pods: 1 pending: no node has 1 GiB',
      'octo__cat-1: a pod is waiting for room: 1 pending: no node has 1 GiB',
      'octo__cat-1: waiting for pods: 1 pulling',
    ]);
    assert.equal(placed, 2, 'pulling, running');
  });

  it('goes on elsewhere when a node need not be avoided any more', async () => {
    const state = await waitFor([pending], { roomUntil: 0 });
    assert.deepEqual([state.is, placed], ['waiting', 0]);
  });

  it('ends at its limit with what was missing', async () => {
    await assert.rejects(
      waitFor([pending], { until: 0 }),
      /pod of octo__cat-1 did not start within 5 minutes: 1 pending: no node has 1 GiB/,
    );
  });

  for (const [what, states, kind, message] of [
    ['the pod is gone', [undefined], SandboxUnusable, /its pod was removed/],
    ['it is evicted', [onNode({}, { reason: 'Evicted' })], SandboxUnusable, /evicted/],
    [
      'there is no image',
      [onNode({ waiting: { reason: 'ErrImagePull', message: 'i: not found' } })],
      ImageMissing,
      /No pod can be started from i: i: not found/,
    ],
    ['the API is in trouble', [answer(500, 'etcd')], EngineTrouble, /reading pods: etcd/],
    ['it may not look', [answer(403, 'no')], HumanError, /You have no permission.*reading pods/],
  ] as const) {
    it(`fails when ${what}`, async () => {
      await assert.rejects(waitFor(states), (error: unknown) => {
        assert.ok(error instanceof kind, String(error));
        assert.match(error.message, message);
        return true;
      });
    });
  }

  it('can be cancelled', async () => {
    await assert.rejects(waitFor([pending], { signal: AbortSignal.abort() }), Cancelled);
  });

  describe('that a quota leaves no room for', () => {
    const full = answer(403, 'pods "p" is forbidden: exceeded quota: q, used: pods=2');
    const make = (answers: readonly (Error | undefined)[], more: Partial<AwaitedPod> = {}) => {
      const cluster = clusterOf([running]);
      const left = [...answers];
      const watch = new PodWatch(cluster, limits);
      return watch.created(pod(more), () =>
        cluster.ask('creating a pod', () => {
          const error = left.shift();
          return error === undefined ? Promise.resolve() : Promise.reject(error);
        }),
      );
    };

    it('waits for it, and says so', async () => {
      await make([full, undefined]);
      assert.match(said[0] ?? '', /waiting for pods: 1 pending: exceeded quota: q, used: pods=2/);
      assert.equal(placed, 0);
    });

    it('ends at its limit, and with any other answer', async () => {
      await assert.rejects(
        make([full, full], { until: 0 }),
        /did not start within 5 minutes.*quota/,
      );
      await assert.rejects(make([answer(403, 'forbidden')]), /You have no permission/);
      await assert.rejects(make([answer(409, 'already exists')]), /refused .* \(status 409\)/);
    });
  });
});

describe('a lost pod', () => {
  const lost = (state: V1Pod | Error | undefined) =>
    new PodWatch(clusterOf([state]), limits).whyLost('p');

  it('says whether its node may be lost too', async () => {
    const evicted = await lost(onNode({}, { reason: 'Evicted', message: 'low disk' }));
    assert.equal(evicted.withNode, false);
    assert.match(JSON.stringify(evicted.loss), /low disk/);
    assert.equal((await lost(undefined)).withNode, false, 'somebody removed it');
    assert.equal((await lost(onNode({}, { phase: 'Unknown' }))).withNode, true);
    const silent = await lost(answer(503, 'no'));
    assert.deepEqual(silent, { loss: undefined, withNode: true });
  });

  it('keeps further pods from its node for a while', () => {
    let now = 1000;
    const avoided = new AvoidedNodes(() => now);
    assert.deepEqual(avoided.present, { nodes: [], until: Infinity });
    avoided.add('a');
    now += 60_000;
    avoided.add('b');
    assert.deepEqual(avoided.present, { nodes: ['a', 'b'], until: 121_000 });
    now = 121_000;
    assert.deepEqual(avoided.present, { nodes: ['b'], until: 181_000 });
  });
});
