import { Agent } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Duplex } from 'node:stream';
import type { EngineAddress } from './engineAddress';
import { dialThroughSsh } from './ssh';

/** Milliseconds after which a call without an answer is aborted. */
export const timeoutOf = (address: EngineAddress): number =>
  address.kind === 'ssh' ? 20_000 : 5_000;

/**
 * Makes the connections to one engine, whatever its kind of address; the calls over them are plain
 * HTTP. Request options cannot replace this, because VS Code sends requests that name a host
 * through its proxy.
 */
export class EngineAgent extends Agent {
  /**
   * @param env with the PATH that `ssh` is on
   * @param program the program that connects to the engine on the other machine, through ssh
   */
  constructor(
    private readonly address: EngineAddress,
    private readonly env: NodeJS.ProcessEnv,
    private readonly program: 'docker' | 'podman' = 'docker',
  ) {
    // With `keepAlive`, requests do not ask the engine to close the connection. An engine that is
    // asked closes it as soon as it has answered. An upload whose last bytes are still under way
    // then fails with EPIPE (seen with Docker 20.10 under load).
    super({ keepAlive: true, maxFreeSockets: 4 });
  }

  /**
   * Called by Node when a request is done. Only ssh connections are kept, since a new one costs a
   * login. All others are closed, so that none is ever stale.
   */
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
          // A machine that is switched off sends nothing. The probes let the system notice that.
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
