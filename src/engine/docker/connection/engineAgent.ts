import { Agent } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Duplex } from 'node:stream';
import type { EngineAddress } from './engineAddress';
import { dialThroughSsh } from './ssh';

/** What a call that does not get through is broken off after, in milliseconds. */
export const patienceOf = (address: EngineAddress): number =>
  address.kind === 'ssh' ? 20_000 : 5_000;

/**
 * Connections to one engine, however it is reached: the calls above are plain HTTP. They are made here
 * and not by options of the request, since VS Code sends requests that name a host through its proxy.
 */
export class EngineAgent extends Agent {
  /**
   * @param env with the PATH that `ssh` is on
   * @param program what connects on the other machine, through ssh
   */
  constructor(
    private readonly address: EngineAddress,
    private readonly env: NodeJS.ProcessEnv,
    private readonly program: 'docker' | 'podman' = 'docker',
  ) {
    // The engine is never asked to close: it then closes as soon as it has answered, and an upload of
    // which the last bytes are still on their way fails with EPIPE (seen with Docker 20.10 under load).
    super({ keepAlive: true, maxFreeSockets: 4 });
  }

  /** Called by Node when a request is done. Another ssh costs a login; all others are never found stale. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.address.kind !== 'ssh') return false;
    super.keepSocketAlive(socket);
    return true;
  }

  /** Called by Node for each connection that a request needs. */
  override createConnection(): Duplex {
    const { address } = this;
    switch (address.kind) {
      case 'socket':
      case 'pipe':
        return connectSocket({ path: address.path });
      case 'tcp': {
        const place = {
          host: address.host,
          port: address.port,
          noDelay: true,
          // A machine that is switched off says nothing: the system finds out by asking.
          keepAlive: true,
          keepAliveInitialDelay: 30_000,
        };
        if (address.tls === undefined) return connectSocket(place);
        const { ca, cert, key, verify } = address.tls;
        return connectTls({ ...place, ca, cert, key, rejectUnauthorized: verify });
      }
      case 'ssh':
        return dialThroughSsh(address, this.env, this.program);
    }
  }
}
