import assert from 'node:assert/strict';
import type { V1NetworkPolicy, V1Pod } from '@kubernetes/client-node';
import { EngineTrouble } from '../../../../src/engine/docker/connection/engineProblem';
import { removeAbandonedPods } from '../../../../src/engine/kubernetes/abandonedPods';
import type { Cluster } from '../../../../src/engine/kubernetes/cluster';
import { clusterProblem } from '../../../../src/engine/kubernetes/clusterProblem';
import { makeNetworkPolicy, notEnforced } from '../../../../src/engine/kubernetes/networkProbe';

const answer = (code: number): Error =>
  Object.assign(new Error('HTTP-Code'), { code, body: JSON.stringify({ message: 'no' }) });

const ask = (doing: string, call: () => Promise<unknown>): Promise<unknown> =>
  call().catch((error: unknown) => {
    throw clusterProblem(error, 'https://c, namespace n', doing);
  });

describe('the network policy of a namespace', () => {
  const make = async (error?: Error): Promise<V1NetworkPolicy | undefined> => {
    let made: V1NetworkPolicy | undefined;
    const networking = {
      createNamespacedNetworkPolicy: ({ body }: { readonly body: V1NetworkPolicy }) => {
        made = body;
        return error === undefined ? Promise.resolve() : Promise.reject(error);
      },
    };
    await makeNetworkPolicy({ networking, ask, namespace: 'n' } as unknown as Cluster);
    return made;
  };

  it('denies closed pods everything, in both directions', async () => {
    const spec = (await make())?.spec;
    assert.deepEqual(spec?.policyTypes, ['Ingress', 'Egress']);
    assert.equal(spec?.ingress, undefined);
    assert.equal(spec?.egress, undefined);
    assert.deepEqual(spec?.podSelector?.matchLabels, {
      ...{ 'swt-bench.made': '1', 'swt-bench.network': 'closed' },
    });
  });

  it('may be there already, or be made by somebody else', async () => {
    await make(answer(409));
    await make(answer(403));
    await assert.rejects(make(answer(500)), EngineTrouble);
  });

  it('that is not enforced is a refusal with node, address and what to do', () => {
    const refusal = notEnforced('node-a', ['10.0.0.1:10250']);
    assert.match(refusal.message, /Node node-a does not enforce.*reached 10\.0\.0\.1:10250/);
    assert.match(refusal.next ?? '', /--accept-network/);
  });
});

describe('pods that are left over', () => {
  const removed = async (pods: readonly V1Pod[], refusal?: Error): Promise<string[]> => {
    const names: string[] = [];
    const core = {
      listNamespacedPod: () => Promise.resolve({ items: pods }),
      deleteNamespacedPod: ({ name }: { readonly name: string }) => {
        names.push(name);
        return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
      },
    };
    await removeAbandonedPods({ core, ask, namespace: 'n' } as unknown as Cluster);
    return names;
  };
  const pod = (name: string, minutes: number, phase: string): V1Pod => ({
    metadata: {
      ...{ name, labels: { 'swt-bench.made': '1' } },
      creationTimestamp: new Date(Date.now() - minutes * 60_000),
    },
    status: { phase },
  });

  it('are removed once they have ended long ago', async () => {
    const pods = [
      pod('old', 20, 'Succeeded'),
      pod('failed', 20, 'Failed'),
      pod('new', 1, 'Failed'),
    ];
    assert.deepEqual(await removed(pods), ['old', 'failed']);
  });

  it('that somebody else removes meanwhile hinder nothing', async () => {
    assert.deepEqual(await removed([pod('old', 20, 'Failed')], answer(404)), ['old']);
  });

  it('of a namespace that does not answer are a fault', async () => {
    const core = { listNamespacedPod: () => Promise.reject(answer(503)) };
    const cluster = { core, ask, namespace: 'n' } as unknown as Cluster;
    await assert.rejects(removeAbandonedPods(cluster), EngineTrouble);
  });
});
