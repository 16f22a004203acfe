import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import type { Cluster } from '../../../../src/engine/kubernetes/cluster';

/** The API server's end of a stream to a pod. */
export interface Peer {
  send(data: Buffer): void;
  close(code?: number): void;
  on(event: 'message', listener: (data: Buffer) => void): void;
  on(event: 'close', listener: () => void): void;
}

interface WebSockets {
  on(event: 'connection', listener: (peer: Peer, request: { readonly url: string }) => void): void;
  handleUpgrade(request: unknown, socket: unknown, head: unknown, done: (peer: Peer) => void): void;
}

/** The package has no types of its own. */
const { WebSocketServer } = createRequire(__filename)('ws') as {
  WebSocketServer: new (options: object) => WebSockets;
};

/** @param options where the streams come from: `{ server }`, or `{ noServer: true }` */
export const podStreams = (options: object): WebSockets =>
  new WebSocketServer({ ...options, handleProtocols: () => 'v5.channel.k8s.io' });

/** What an API server sends of one channel of a stream: 1 is output, 2 complaints, 3 the status. */
export const channelMessage = (channel: number, content: Buffer | string): Buffer =>
  Buffer.concat([Buffer.of(channel), Buffer.from(content)]);

/** Begins to listen on a free port. @returns the server's address */
export async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A cluster whose API server is at an address, for streams only. */
export function clusterAt(address: string): Cluster {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server: address, skipTLSVerify: true }, { name: 'u' });
  return { config, namespace: 'n', where: address } as unknown as Cluster;
}

export interface PodStreamServer {
  readonly address: string;
  readonly cluster: Cluster;
  close(): void;
}

/**
 * An API server that has nothing but streams to pods.
 *
 * @param onPeer gets each stream with the path and query of its request
 */
export async function servePodStreams(
  onPeer: (peer: Peer, url: string) => void,
): Promise<PodStreamServer> {
  const server = createServer((_, response) => response.writeHead(404).end());
  podStreams({ server }).on('connection', (peer, { url }) => onPeer(peer, url));
  const address = await listening(server);
  return {
    address,
    cluster: clusterAt(address),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
