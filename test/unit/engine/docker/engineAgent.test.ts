import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineAgent } from '../../../../src/engine/docker/connection/engineAgent';

describe('connections to an engine', () => {
  const size = 20_000_000;
  let folder: string;
  let server: Server;
  let address: { kind: 'socket'; path: string };
  const sockets = new Set<Socket>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-agent-'));
    address = { kind: 'socket', path: join(folder, 'engine.sock') };
    // Like Docker 20.10: for a client that asks to close, it closes the connection with the answer,
    // even before it has read the whole request.
    server = createServer((asked, answer) => {
      const hasToClose = asked.headers.connection === 'close';
      if (hasToClose) {
        answer.end('taken', () => asked.socket.destroy());
        return;
      }
      let received = 0;
      asked.on('data', (chunk: Buffer) => (received += chunk.length));
      asked.on('end', () => answer.end(String(received)));
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((done) => server.listen(address.path, done));
  });
  after(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await rm(folder, { recursive: true, force: true });
  });

  const upload = (agent: EngineAgent): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request({ agent, method: 'PUT', path: '/archive' }, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => resolve(text));
      });
      sent.on('error', reject);
      sent.end(Buffer.alloc(size));
    });

  it('stay open until an upload has arrived', async () => {
    const agent = new EngineAgent(address, process.env);
    assert.equal(await upload(agent), String(size));
  });

  it('are closed after the answer: one that is kept may be stale', async () => {
    const agent = new EngineAgent(address, process.env);
    await upload(agent);
    await new Promise<void>((done) => {
      const look = (): void => void (sockets.size === 0 ? done() : setImmediate(look));
      look();
    });
    assert.deepEqual(Object.keys(agent.freeSockets), []);
  });
});
