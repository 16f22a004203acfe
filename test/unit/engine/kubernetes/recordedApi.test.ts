import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, STATUS_CODES, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HumanError } from '../../../../src/domain/work';
import { openCluster, type Cluster } from '../../../../src/engine/kubernetes/cluster';
import { QuotaUsed } from '../../../../src/engine/kubernetes/clusterProblem';
import { kubernetesSettings } from '../../../../src/engine/kubernetes/kubernetesSettings';
import { podState, type PodState } from '../../../../src/engine/kubernetes/podState';
import { attachInPod } from '../../../../src/engine/kubernetes/podStream';
import { channelMessage, listening, podStreams } from './podStreamServer';

/** An answer to a request for a stream: refused, or messages and the status of the end. */
interface RecordedStream {
  readonly refused?: number;
  readonly messages?: readonly (readonly [number, string])[];
  readonly closed?: number;
}

/** What test/cluster/recordApi.mjs wrote of a real cluster. */
const recorded = JSON.parse(readFileSync(join(__dirname, 'recordedApi.json'), 'utf8')) as {
  readonly version: string;
  readonly pods: object;
  readonly refusals: Readonly<Record<string, { readonly status: number; readonly body: object }>>;
  readonly streams: Readonly<Record<string, RecordedStream>>;
};

describe(`the recorded API of Kubernetes ${recorded.version}`, () => {
  let folder = '';
  let server: Server;
  let cluster: Cluster;
  /** The answers to what is asked next. */
  let answer: { readonly status: number; readonly body: object };
  let stream: RecordedStream;
  const { KUBECONFIG: own } = process.env;

  before(async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer.body));
      });
    });
    const sockets = podStreams({ noServer: true });
    server.on('upgrade', (request, socket, head) => {
      const { refused, messages = [], closed = 1000 } = stream;
      if (refused !== undefined) {
        socket.end(`HTTP/1.1 ${refused} ${STATUS_CODES[refused]}\r\n\r\n`);
        return;
      }
      sockets.handleUpgrade(request, socket, head, (peer) => {
        for (const [number, text] of messages) {
          peer.send(channelMessage(number, text));
        }
        // 1006 says that the connection ended without a word.
        peer.close(closed === 1006 ? 1000 : closed);
      });
    });
    const address = await listening(server);
    folder = await mkdtemp(join(tmpdir(), 'swt-recorded-'));
    const configuration = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [{ name: 'c', cluster: { server: address, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'tests' } }],
    };
    process.env['KUBECONFIG'] = join(folder, 'config');
    await writeFile(process.env['KUBECONFIG'], JSON.stringify(configuration));
    cluster = await openCluster(kubernetesSettings.read());
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    if (own === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = own;
    await rm(folder, { recursive: true });
  });

  it('shows pods in every state', async () => {
    answer = { status: 200, body: recorded.pods };
    const { core, namespace, ask } = cluster;
    assert.equal(namespace, 'tests');
    const { items } = await ask('reading pods', () => core.listNamespacedPod({ namespace }));
    const states = new Map(items.map((pod) => [pod.metadata?.name, podState(pod)]));
    for (const [name, is, said] of expectedStates) {
      const state = states.get(name);
      assert.equal(state?.is, is, name);
      assert.match(JSON.stringify(state), said, name);
    }
    assert.equal(states.size, expectedStates.length);
  });

  for (const [what, { status, body }] of Object.entries(recorded.refusals)) {
    it(`refuses ${what} (${status}), which is told`, async () => {
      answer = { status, body };
      const { core, namespace, ask } = cluster;
      const asking = ask('asking', () => core.readNamespacedPod({ name: 'p', namespace }));
      await assert.rejects(asking, (error: unknown) => {
        assert.ok(error instanceof HumanError, String(error));
        assert.match(error.message, expectedRefusals[what] ?? /^$/);
        assert.equal(error instanceof QuotaUsed, what === 'a quota');
        return true;
      });
    });
  }

  /** Everything that a program prints, and what it complained of. */
  const heard = async (name: string): Promise<{ text: string; complaint: string }> => {
    stream = recorded.streams[name] ?? assert.fail(`${name} is not recorded`);
    const program = await attachInPod(cluster, 'p', ['program']);
    const pieces: Buffer[] = [];
    for await (const piece of program.output) pieces.push(piece);
    return { text: Buffer.concat(pieces).toString(), complaint: program.complaint() };
  };

  it('ends the stream of a program, whatever its status', async () => {
    assert.deepEqual(await heard('ends well'), { text: 'out\n', complaint: 'trouble' });
    const badly = await heard('ends badly');
    assert.equal(badly.text, 'out\n');
    assert.match(badly.complaint, /command terminated with non-zero exit code.*3/);
    assert.match((await heard('no such program')).complaint, /no-such-program.*not found/s);
    assert.equal((await heard('the pod is removed')).text, 'begun\n');
  });

  it('refuses a stream to what does not run', async () => {
    await assert.rejects(heard('no such pod'), /Not found in.*starting a program/);
    await assert.rejects(heard('no container yet'), HumanError);
  });
});

const expectedStates: readonly (readonly [string, PodState['is'], RegExp])[] = [
  ['running', 'running', /"node":"node-[ab]","imageId":"sha256:[0-9a-f]+"/],
  ['unschedulable', 'waiting', /"for":"room","why":"2 Insufficient memory/],
  ['no-image', 'waiting', /"for":"image","why":"\w+: .*connection refused/],
  ['bad-name', 'refused', /InvalidImageName/],
  ['never-pulled', 'refused', /ErrImageNeverPull/],
  ['out-of-memory', 'gone', /out of memory/],
  ['failed', 'gone', /its pod of node node-[ab] ended \(Error\)/],
  ['program', 'waiting', /"for":"program"/],
  ['evicted', 'gone', /was evicted \(EvictionByEvictionAPI/],
];

const expectedRefusals: Readonly<Record<string, RegExp>> = {
  'a wrong token': /rejected your credentials/,
  'no such namespace': /namespace tests, while asking: namespaces "missing" not found/,
  'no such pod': /namespace tests, while asking: pods "missing" not found/,
  'an invalid pod': /refused asking \(status 422\): Pod "another" is invalid/,
  'a name that is taken': /refused asking \(status 409\): .*"running" already exists/,
  'a quota': /The namespace's quota is exhausted.*exceeded quota: none/,
};
