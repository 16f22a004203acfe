import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { workersFor } from '../../../../src/batch/workersFor';
import { EngineGone, EngineTrouble } from '../../../../src/engine/docker/connection/engineProblem';
import { dockerSettings } from '../../../../src/engine/docker/dockerSettings';
import { clusterProblem } from '../../../../src/engine/kubernetes/clusterProblem';
import { kubernetesSettings } from '../../../../src/engine/kubernetes/kubernetesSettings';
import { namespaceCapacity, quantity } from '../../../../src/engine/kubernetes/namespaceCapacity';
import { mirrored, podSpec } from '../../../../src/engine/kubernetes/podSpec';
import { podState, waitingWords } from '../../../../src/engine/kubernetes/podState';
import type { Cluster } from '../../../../src/engine/kubernetes/cluster';

const answer = (code: number, message: string): unknown =>
  Object.assign(new Error('HTTP-Code'), { code, body: JSON.stringify({ message }) });

const problem = (error: unknown): Error => clusterProblem(error, 'https://c, namespace n', 'doing');

/** A pod on node a whose container is in some state. */
const onNode = (state: object, more: object = {}): V1Pod =>
  ({
    spec: { nodeName: 'a', containers: [] },
    status: { containerStatuses: [{ state, imageID: 'sha256:1' }], hostIP: '10.0.0.1', ...more },
  }) as unknown as V1Pod;

/** The container that takes a program is in some state. */
const first = (state: object): object => ({ initContainerStatuses: [{ state }] });

const pending = (message: string): V1Pod => ({
  status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] },
});

describe('an unhappy answer of the Kubernetes API', () => {
  for (const [what, error, kind, said] of [
    ['none', new Error('ECONNREFUSED'), EngineGone, /did not respond.*ECONNREFUSED/],
    ['401', answer(401, 'Unauthorized'), Error, /rejected your credentials/],
    ['403', answer(403, 'pods is forbidden'), Error, /You have no permission/],
    ['403 for the quota', answer(403, 'exceeded quota: q'), EngineTrouble, /quota is exhausted/],
    [
      '404',
      answer(404, 'namespaces "n" not found'),
      Error,
      /Not found in the cluster.*"n" not found/,
    ],
    ['422', answer(422, 'Pod "x" is invalid'), Error, /refused doing \(status 422\)/],
    ['429', answer(429, 'too many requests'), EngineTrouble, /failed \(status 429\)/],
    ['503', answer(503, 'etcd leader changed'), EngineTrouble, /etcd leader changed/],
  ] as const) {
    it(`is told as what it is: ${what}`, () => {
      const told = problem(error);
      assert.ok(told instanceof kind);
      assert.match(told.message, said);
      const isRetried = told instanceof EngineGone || told instanceof EngineTrouble;
      assert.equal(isRetried, kind !== Error);
    });
  }
});

describe('the state of a pod', () => {
  for (const [what, pod, is, said] of [
    ['removed', undefined, 'gone', /was removed/],
    [
      'evicted',
      onNode({}, { reason: 'Evicted', message: 'low disk' }),
      'gone',
      /evicted.*low disk/,
    ],
    [
      'preempted',
      onNode(
        { running: {} },
        { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'Preempted' }] },
      ),
      'gone',
      /node a was evicted \(Preempted/,
    ],
    [
      'being removed',
      { ...onNode({ running: {} }), metadata: { deletionTimestamp: new Date() } },
      'gone',
      /being removed/,
    ],
    ['on a lost node', onNode({ running: {} }, { phase: 'Unknown' }), 'gone', /node a.* lost/],
    ['ended', onNode({ terminated: { exitCode: 137 } }), 'gone', /status 137/],
    ['failed', onNode({}, { phase: 'Failed', reason: 'OutOfcpu' }), 'gone', /OutOfcpu/],
    ['killed for memory', onNode({ terminated: { reason: 'OOMKilled' } }), 'gone', /out of memory/],
    ['unschedulable', pending('0/2 nodes are available: taint.'), 'waiting', /taint/],
    ['pulling', onNode({ waiting: { reason: 'ContainerCreating' } }), 'waiting', /image/],
    [
      'in trouble with the registry',
      onNode({ waiting: { reason: 'ImagePullBackOff', message: 'i/o timeout' } }),
      'waiting',
      /timeout/,
    ],
    [
      'without its image',
      onNode({ waiting: { reason: 'ErrImagePull', message: 'x: not found' } }),
      'refused',
      /not found/,
    ],
    [
      'without a valid name of an image',
      onNode({ waiting: { reason: 'InvalidImageName', message: 'no' } }),
      'refused',
      /InvalidImageName/,
    ],
    ['running', onNode({ running: {} }), 'running', /"node":"a"/],
    [
      'taking a program',
      onNode({ waiting: { reason: 'PodInitializing' } }, first({ running: {} })),
      'waiting',
      /"for":"program"/,
    ],
    [
      'without the image of its first container',
      onNode(
        { waiting: { reason: 'PodInitializing' } },
        first({ waiting: { reason: 'ErrImagePull', message: 'x: not found' } }),
      ),
      'refused',
      /not found/,
    ],
    [
      'with a program',
      onNode({ running: {} }, first({ terminated: { exitCode: 0 } })),
      'running',
      /"node":"a"/,
    ],
  ] as const) {
    it(`is read: ${what}`, () => {
      const state = podState(pod);
      assert.equal(state.is, is);
      assert.match(JSON.stringify(state), said);
    });
  }

  it('is told in one line for many', () => {
    const few = '0/2 nodes are available: 2 Insufficient memory. preemption: none.';
    const states = [
      podState(onNode({ waiting: { reason: 'ContainerCreating' } })),
      podState(onNode({ waiting: { reason: 'ContainerCreating' } })),
      podState(pending(few)),
    ];
    assert.equal(waitingWords(states, 4096), '2 pulling, 1 pending: no node has 4 GiB');
  });
});

describe('the pod of a sandbox', () => {
  const spec = (
    more: Readonly<Record<string, unknown>> = {},
    avoid: readonly string[] = [],
    programBytes?: number,
  ) =>
    podSpec({
      settings: {
        kubernetes: kubernetesSettings.read(more),
        limits: dockerSettings.read(),
      },
      ...{ image: 'i', pythons: ['python3'], side: 'base', instance: 'Octo__Cat-1', avoid },
      programBytes,
      ...{ hasNetwork: false, about: { 'swt-bench.made': '1', 'swt-bench.kind': 'pair' } },
    }).spec;

  it('has no token, no rights beyond those of a container, and requests that equal limits', () => {
    const made = spec();
    assert.equal(made?.automountServiceAccountToken, false);
    assert.equal(made?.securityContext?.seccompProfile?.type, 'RuntimeDefault');
    assert.ok((made?.activeDeadlineSeconds ?? 0) > 0);
    const [container] = made?.containers ?? [];
    assert.deepEqual(container?.resources?.requests, container?.resources?.limits);
    assert.deepEqual(container?.securityContext?.capabilities?.drop, ['ALL']);
    assert.equal(container?.securityContext?.allowPrivilegeEscalation, false);
  });

  it('goes where the settings say, and not where a sandbox was lost', () => {
    const made = spec(
      {
        nodeSelector: ['pool=tests'],
        tolerations: ['only=tests:NoSchedule', 'spot'],
        priorityClass: 'low',
        pullSecrets: ['s'],
      },
      ['node-b'],
    );
    assert.deepEqual(made?.nodeSelector, { pool: 'tests' });
    assert.deepEqual(made?.tolerations?.slice(0, 2), [
      { key: 'only', operator: 'Equal', value: 'tests', effect: 'NoSchedule' },
      { key: 'spot', operator: 'Exists' },
    ]);
    assert.equal(made?.priorityClassName, 'low');
    assert.deepEqual(made?.imagePullSecrets, [{ name: 's' }]);
    assert.match(JSON.stringify(made?.affinity), /"NotIn","values":\["node-b"\]/);
  });

  it('has a program that only another container can write', () => {
    const made = spec({}, [], 5 * 2 ** 20);
    const [sandbox] = made?.containers ?? [];
    const [writer] = made?.initContainers ?? [];
    const of = (container: typeof sandbox) =>
      container?.volumeMounts?.find(({ mountPath }) => mountPath === '/agent');
    assert.equal(of(sandbox)?.readOnly, true);
    assert.equal(of(writer)?.readOnly, undefined);
    assert.equal(of(sandbox)?.name, of(writer)?.name);
    assert.deepEqual(writer?.securityContext, sandbox?.securityContext);
    const disk = (each = spec()?.containers[0]): string | undefined =>
      each?.resources?.limits?.['ephemeral-storage'];
    assert.equal(parseInt(disk(sandbox) ?? '') - parseInt(disk() ?? ''), 5);
    assert.equal(spec()?.initContainers, undefined);
  });

  it('takes images from a mirror', () => {
    const rules = ['docker.io/=mirror.example.org/hub/', 'ghcr.io/=other.example.org/'];
    assert.equal(mirrored('python:3', rules), 'mirror.example.org/hub/library/python:3');
    assert.equal(mirrored('swebench/a:1', rules), 'mirror.example.org/hub/swebench/a:1');
    assert.equal(mirrored('ghcr.io/o/c:1', rules), 'other.example.org/o/c:1');
    assert.equal(mirrored('quay.io/o/c:1', rules), 'quay.io/o/c:1');
  });
});

describe('the room of a namespace', () => {
  it('is what its quotas leave', async () => {
    const hard = { 'requests.cpu': '10', 'limits.memory': '20Gi', pods: '6' };
    const used = { 'requests.cpu': '500m', 'limits.memory': '4Gi', pods: '2' };
    assert.equal(await sandboxes({ hard, used }), 4);
    assert.equal(await sandboxes({ hard: { ...hard, pods: '100' }, used }), 9);
    assert.equal(await sandboxes({ hard: { ...hard, pods: '100' }, used }, { cpus: 4 }), 2);
    assert.equal(await sandboxes({ hard: { ...hard, pods: '100' }, used }, { cpus: 0.25 }), 16);
    const disk = { 'requests.ephemeral-storage': '10Gi' };
    assert.equal(await sandboxes({ hard: disk, used: {} }, { diskMb: 1024 }), 3);
  });

  it('makes as many workers as pairs fit', async () => {
    const hard = { 'limits.cpu': '64', 'limits.memory': '100Gi' };
    const machine = await namespaceCapacity(clusterWith([{ status: { hard } }]), {
      ...limits,
      ...{ memoryMb: 4096, cpus: 4 },
    });
    assert.equal(workersFor({ machine, sandboxBytes: 4 * 2 ** 30 }), 8);
  });

  it('is a few pairs where there is no quota', async () => {
    const room = await namespaceCapacity(clusterWith([]), limits);
    assert.deepEqual(room, { cores: 8, memoryBytes: 8 * 2 ** 30 });
  });

  it('is the same where the quotas may not be read, and no cluster without an answer', async () => {
    assert.equal((await namespaceCapacity(refusing(403), limits)).cores, 8);
    await assert.rejects(namespaceCapacity(refusing(500), limits), EngineTrouble);
  });

  it('reads quantities', () => {
    assert.deepEqual(['500m', '4Gi', '1e3', 'none'].map(quantity), [0.5, 4 * 2 ** 30, 1000, 0]);
  });
});

const limits = { memoryMb: 1024, cpus: 0, diskMb: 1024 };

async function sandboxes(status: object, more: Partial<typeof limits> = {}): Promise<number> {
  const { cores } = await namespaceCapacity(clusterWith([{ status }]), { ...limits, ...more });
  return cores;
}

function refusing(code: number): Cluster {
  const core = {
    listNamespacedResourceQuota: () =>
      Promise.reject(Object.assign(new Error('HTTP-Code'), { code, body: '{}' })),
  };
  return { ...clusterWith([]), core } as unknown as Cluster;
}

function clusterWith(items: readonly object[]): Cluster {
  const core = { listNamespacedResourceQuota: () => Promise.resolve({ items }) };
  const ask = (doing: string, call: () => Promise<unknown>): Promise<unknown> =>
    call().catch((error: unknown) => {
      throw clusterProblem(error, 'https://c, namespace n', doing);
    });
  return { core, ask, namespace: 'n' } as unknown as Cluster;
}
