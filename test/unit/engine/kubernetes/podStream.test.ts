import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { asciiJson, openAgentProtocol } from '../../../../src/engine/sandbox/agentProtocol';
import { attachInPod } from '../../../../src/engine/kubernetes/podStream';
import {
  channelMessage,
  clusterAt,
  listening,
  servePodStreams,
  type Peer,
  type PodStreamServer,
} from './podStreamServer';

const frame = (header: object): string => `${asciiJson({ ...header, bytes: 0 })}\n`;

describe('the stream to a pod', () => {
  let server: PodStreamServer;
  let paths: string[];
  let onPeer: (peer: Peer) => void;

  before(async () => {
    server = await servePodStreams((peer, url) => {
      paths.push(url);
      onPeer(peer);
    });
  });
  beforeEach(() => {
    paths = [];
    onPeer = () => undefined;
  });
  after(() => server.close());

  it('carries frames both ways, and names pod and command', async () => {
    const sent: Buffer[] = [];
    onPeer = (peer) => {
      peer.on('message', (data) => {
        sent.push(data);
        if (Buffer.concat(sent).includes('ask')) {
          peer.send(channelMessage(1, frame({ kind: 'beat' }).slice(0, 5)));
          peer.send(channelMessage(1, frame({ kind: 'beat' }).slice(5) + frame({ kind: 'done' })));
        }
      });
    };
    const program = await attachInPod(server.cluster, 'pod-1', ['agent', 'a b']);
    const wire = openAgentProtocol(program);
    wire.send({ kind: 'ask' }, Buffer.alloc(200_000, 7));
    assert.equal((await wire.receive())?.header.kind, 'done');
    assert.ok(sent.every((each) => each[0] === 0));
    assert.match(paths[0] ?? '', /^\/api\/v1\/namespaces\/n\/pods\/pod-1\/exec\?/);
    assert.match(paths[0] ?? '', /command=agent&command=a\+b/);
    wire.close();
  });

  it('does not believe a status of success: the stream has ended', async () => {
    onPeer = (peer) => {
      peer.send(channelMessage(3, JSON.stringify({ status: 'Success' })));
      peer.close();
    };
    const wire = openAgentProtocol(await attachInPod(server.cluster, 'pod-1', ['agent']));
    assert.equal(await wire.receive(), undefined);
    assert.equal(wire.complaint(), '');
  });

  it('tells what the program and the API complained of', async () => {
    onPeer = (peer) => {
      peer.send(channelMessage(2, 'no Python'));
      peer.send(channelMessage(3, JSON.stringify({ status: 'Failure', message: 'exit code 127' })));
      peer.close();
    };
    const wire = openAgentProtocol(await attachInPod(server.cluster, 'pod-1', ['agent']));
    assert.equal(await wire.receive(), undefined);
    assert.match(wire.complaint(), /no Python\nexit code 127/);
  });

  it('ends when nothing is heard, although the connection stands', async () => {
    const program = await attachInPod(server.cluster, 'pod-1', ['agent'], { silence: 50 });
    const wire = openAgentProtocol(program);
    assert.equal(await wire.receive(), undefined);
    assert.match(wire.complaint(), /no response for/);
  });

  it('says which pod refuses, and why', async () => {
    const refusing = createServer();
    refusing.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    const cluster = clusterAt(await listening(refusing));
    try {
      await assert.rejects(
        attachInPod(cluster, 'pod-2', ['agent']),
        /You have no permission in the cluster .*pod-2.*403/,
      );
    } finally {
      refusing.close();
    }
  });
});
