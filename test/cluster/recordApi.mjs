// `node recordApi.mjs IMAGE FILE`: records what a real Kubernetes API says of pods in trouble, of
// requests that it refuses, and on streams to programs. Unit tests replay the file. Needs the cluster
// of cluster.sh, at KUBECONFIG, with IMAGE on its nodes; evaluate.sh records with its step `record`.
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { URLSearchParams } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';

const { WebSocket } = createRequire(import.meta.url)('ws');
const [image, file] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromDefault();
const { server } = config.getCurrentCluster();
const { token } = config.getCurrentUser();
const pods = '/api/v1/namespaces/default/pods';

/** One answer of the API. */
const ask = (method, path, body, as = token) =>
  new Promise((resolve, reject) => {
    const sent = request(
      server + path,
      {
        ...{ method, rejectUnauthorized: false },
        headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
      },
      async (response) => {
        const pieces = [];
        for await (const piece of response) pieces.push(piece);
        resolve({ status: response.statusCode, body: JSON.parse(Buffer.concat(pieces)) });
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });

const pod = (name, container, more = {}) => ({
  metadata: { name, labels: { 'swt-bench.made': '1' } },
  spec: {
    ...{ restartPolicy: 'Never', terminationGracePeriodSeconds: 60 },
    containers: [{ name: 'sandbox', image, command: ['sh', '-c', 'sleep 600'], ...container }],
    ...more,
  },
});
const memory = (limit) => ({
  resources: { requests: { memory: limit }, limits: { memory: limit } },
});
const status = (each) => each.status.containerStatuses?.[0]?.state ?? {};

/** Pods, with the state in which each is recorded. */
const wanted = [
  [pod('running', {}), (each) => status(each).running],
  [pod('unschedulable', memory('1000Gi')), (each) => each.status.conditions?.[0]?.message],
  [pod('no-image', { image: '127.0.0.1:1/none:1' }), (each) => status(each).waiting?.message],
  [
    pod('bad-name', { image: 'UPPER:x' }),
    (each) => status(each).waiting?.reason === 'InvalidImageName',
  ],
  [
    pod('never-pulled', { image: 'none:1', imagePullPolicy: 'Never' }),
    (each) => status(each).waiting?.reason === 'ErrImageNeverPull',
  ],
  [
    pod('out-of-memory', {
      ...memory('64Mi'),
      command: ['python3', '-c', 'held = [bytearray(1 << 20) for each in range(4096)]'],
    }),
    (each) => status(each).terminated?.reason === 'OOMKilled',
  ],
  [pod('failed', { command: ['sh', '-c', 'exit 3'] }), (each) => each.status.phase === 'Failed'],
  [
    pod('program', {}, { initContainers: [{ name: 'program', image, command: ['sleep', '600'] }] }),
    (each) => each.status.initContainerStatuses?.[0]?.state?.running,
  ],
  [
    pod('evicted', { command: ['sh', '-c', 'trap "" TERM; sleep 600 & wait; wait'] }),
    (each) => each.metadata.deletionTimestamp !== undefined,
  ],
];

/** What the API says on a stream: messages as `[number, text]`, and how it ends. */
const stream = (name, command, onText = () => undefined) =>
  new Promise((resolve) => {
    const query = new URLSearchParams({ container: 'sandbox', stdin: 'true', stdout: 'true' });
    query.set('stderr', 'true');
    for (const word of command) query.append('command', word);
    const messages = [];
    const socket = new WebSocket(
      `${server.replace('https', 'wss')}${pods}/${name}/exec?${query}`,
      ['v5.channel.k8s.io'],
      { rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` } },
    );
    socket.on('unexpected-response', async (_, response) => {
      const pieces = [];
      for await (const piece of response) pieces.push(piece);
      resolve({ refused: response.statusCode, body: String(Buffer.concat(pieces)) });
    });
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const text = data.subarray(1).toString('utf8');
      messages.push([data[0], text]);
      onText(text);
    });
    socket.on('close', (code) => resolve({ messages, closed: code }));
  });

const list = async () => (await ask('GET', `${pods}?labelSelector=swt-bench.made%3D1`)).body;

for (const [each] of wanted) await ask('POST', pods, each);
const evict = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } };
let listed;
for (let isEvicted = false; ; await sleep(500)) {
  listed = await list();
  const of = (name) => listed.items.find(({ metadata }) => metadata.name === name);
  if (!isEvicted && status(of('evicted')).running) {
    await ask('POST', `${pods}/evicted/eviction`, evict);
    isEvicted = true;
  }
  const missing = wanted.filter(([{ metadata }, isSo]) => !isSo(of(metadata.name)));
  console.log(`waiting for ${missing.map(([{ metadata }]) => metadata.name)}`);
  if (missing.length === 0) break;
}
for (const each of listed.items) delete each.metadata.managedFields;

const quota = { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } };
const another = pod('another', {});
const streams = {
  'ends well': await stream('running', ['sh', '-c', 'echo out; echo trouble >&2']),
  'ends badly': await stream('running', ['sh', '-c', 'echo out; exit 3']),
  'no such program': await stream('running', ['no-such-program']),
  'no such pod': await stream('missing', ['true']),
  'no container yet': await stream('unschedulable', ['true']),
};
const refusals = {
  'a wrong token': await ask('GET', pods, undefined, 'wrong'),
  'no such namespace': await ask('POST', pods.replace('default', 'missing'), another),
  'no such pod': await ask('GET', `${pods}/missing`),
  'an invalid pod': await ask('POST', pods, pod('another', { image: '' })),
  'a name that is taken': await ask('POST', pods, pod('running', {})),
};
await ask('POST', '/api/v1/namespaces/default/resourcequotas', quota);
do {
  await sleep(500);
  refusals['a quota'] = await ask('POST', pods, another);
  if (refusals['a quota'].status === 201)
    await ask('DELETE', `${pods}/another?gracePeriodSeconds=0`);
} while (refusals['a quota'].status === 201);
await ask('DELETE', '/api/v1/namespaces/default/resourcequotas/none');
let remove;
streams['the pod is removed'] = await stream(
  'running',
  ['sh', '-c', 'echo begun; sleep 600'],
  () => {
    remove ??= ask('DELETE', `${pods}/running?gracePeriodSeconds=0`);
  },
);
for (const [{ metadata }] of wanted)
  await ask('DELETE', `${pods}/${metadata.name}?gracePeriodSeconds=0`);
const { gitVersion: version } = (await ask('GET', '/version')).body;
writeFileSync(file, `${JSON.stringify({ version, pods: listed, refusals, streams }, null, 1)}\n`);
