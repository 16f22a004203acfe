import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { KubeConfig } from '@kubernetes/client-node';
import { asciiJson, openAgentProtocol } from '../../../../src/engine/sandbox/agentProtocol';
import type { Cluster } from '../../../../src/engine/kubernetes/cluster';
import { attachInPod } from '../../../../src/engine/kubernetes/podStream';

interface Peer {
  send(data: Buffer): void;
  close(): void;
  on(event: 'message', listener: (data: Buffer) => void): void;
}
/** The package has no types of its own. */
const { WebSocketServer } = createRequire(__filename)('ws') as {
  WebSocketServer: new (options: object) => {
    on(event: 'connection', listener: (peer: Peer) => void): void;
  };
};

/** Bytes of a stream of a pod, as the API server sends them. */
const message = (stream: number, content: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from([stream]), Buffer.from(content)]);

const frame = (header: object): string => `${asciiJson({ ...header, bytes: 0 })}\n`;

describe('the stream to a pod', () => {
  let server: Server;
  let cluster: Cluster;
  let paths: string[];
  let onPeer: (peer: Peer) => void;

  before(async () => {
    server = createServer((_, response) => response.writeHead(404).end());
    new WebSocketServer({ server, handleProtocols: () => 'v5.channel.k8s.io' }).on(
      'connection',
      (peer) => onPeer(peer),
    );
    server.on('upgrade', ({ url = '' }) => paths.push(url));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const config = new KubeConfig();
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    config.loadFromClusterAndUser(
      { name: 'c', server: address, skipTLSVerify: true },
      { name: 'u' },
    );
    cluster = { config, namespace: 'n', where: address } as unknown as Cluster;
  });
  beforeEach(() => {
    paths = [];
    onPeer = () => undefined;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('carries frames both ways, and names pod and command', async () => {
    const sent: Buffer[] = [];
    onPeer = (peer) => {
      peer.on('message', (data) => {
        sent.push(data);
        if (Buffer.concat(sent).includes('ask')) {
          peer.send(message(1, frame({ kind: 'beat' }).slice(0, 5)));
          peer.send(message(1, frame({ kind: 'beat' }).slice(5) + frame({ kind: 'done' })));
        }
      });
    };
    const program = await attachInPod(cluster, 'pod-1', ['agent', 'a b']);
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
      peer.send(message(3, JSON.stringify({ status: 'Success' })));
      peer.close();
    };
    const wire = openAgentProtocol(await attachInPod(cluster, 'pod-1', ['agent']));
    assert.equal(await wire.receive(), undefined);
    assert.equal(wire.complaint(), '');
  });

  it('tells what the program and the API complained of', async () => {
    onPeer = (peer) => {
      peer.send(message(2, 'no Python'));
      peer.send(message(3, JSON.stringify({ status: 'Failure', message: 'exit code 127' })));
      peer.close();
    };
    const wire = openAgentProtocol(await attachInPod(cluster, 'pod-1', ['agent']));
    assert.equal(await wire.receive(), undefined);
    assert.match(wire.complaint(), /no Python\nexit code 127/);
  });

  it('ends when nothing is heard, although the connection stands', async () => {
    const program = await attachInPod(cluster, 'pod-1', ['agent'], { silence: 50 });
    const wire = openAgentProtocol(program);
    assert.equal(await wire.receive(), undefined);
    assert.match(wire.complaint(), /nothing was heard/);
  });

  it('says which pod refuses, and why', async () => {
    const refusing = createServer();
    refusing.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const config = new KubeConfig();
    const address = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
    config.loadFromClusterAndUser(
      { name: 'c', server: address, skipTLSVerify: true },
      { name: 'u' },
    );
    try {
      await assert.rejects(
        attachInPod({ ...cluster, config, where: address }, 'pod-2', ['agent']),
        /You may not do this in the cluster .*pod-2.*403/,
      );
    } finally {
      refusing.close();
    }
  });
});
