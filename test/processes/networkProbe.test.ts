import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** Connects first, and says what was reached once a line comes. */
const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
from swt_network import Reach
reach = Reach([tuple(each) for each in json.loads(sys.argv[2])])
print("begun", flush=True)
sys.stdin.readline()
print(json.dumps(reach.reached()))
`;

describe('what a sandbox reaches', function () {
  if (process.platform === 'win32') return;
  const servers: Server[] = [];
  const listening = async (onConnection: (socket: Socket) => void): Promise<number> => {
    const server = createServer(onConnection).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  after(() => servers.forEach((each) => each.close()));

  /** @param ready what must have happened before the program looks */
  const reached = async (ports: readonly number[], ready: Promise<unknown>): Promise<unknown> => {
    const targets = JSON.stringify(ports.map((port) => ['127.0.0.1', port]));
    const args = ['-I', '-S', '-c', program, resolve('src/engine/agent'), targets];
    const child = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    await once(child.stdout, 'data');
    await ready;
    child.stdin.end('\n');
    await once(child, 'close');
    return JSON.parse(output.split('\n')[1] ?? '');
  };

  it('is each address that answered, also one that has ended the connection since', async () => {
    let ended: (value: unknown) => void = () => undefined;
    const hasEnded = new Promise((resolved) => (ended = resolved));
    const open = await listening(() => undefined);
    const ending = await listening((socket) => {
      socket.resetAndDestroy();
      ended(undefined);
    });
    const found = await reached([open, ending], hasEnded);
    assert.deepEqual(found, [`127.0.0.1:${open}`, `127.0.0.1:${ending}`].sort());
  });

  it('is no address that refuses', async () => {
    const port = await listening(() => undefined);
    const [server] = servers.splice(-1);
    server?.close();
    assert.deepEqual(await reached([port], Promise.resolve()), []);
  });
});
