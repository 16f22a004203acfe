import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { resolve } from 'node:path';

/** Connects, connects once more when a line comes, and says what was reached. */
const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
from swt_network import Reach
targets = [tuple(each) for each in json.loads(sys.argv[2])]
reach = Reach()
reach.begin(targets, 0)
print("begun", flush=True)
sys.stdin.readline()
reach.begin(targets, 1.5)
print(json.dumps(reach.reached()))
`;

describe('what a sandbox reaches', function () {
  if (process.platform === 'win32') return;
  const servers: Server[] = [];
  const listening = async (
    onConnection: (socket: Socket) => void = () => undefined,
    at = 0,
  ): Promise<number> => {
    const server = createServer(onConnection).listen(at, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  after(() => servers.forEach((each) => each.close()));

  /** A port at which nobody listens. */
  const refusing = async (): Promise<number> => {
    const port = await listening();
    const server = servers.pop();
    server?.close();
    return port;
  };

  /** @param between what happens between the two attempts */
  const reached = async (
    ports: readonly number[],
    between: () => Promise<unknown>,
  ): Promise<unknown> => {
    const targets = JSON.stringify(ports.map((port) => ['127.0.0.1', port]));
    const args = ['-I', '-S', '-c', program, resolve('src/engine/agent'), targets];
    const child = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    await once(child.stdout, 'data');
    await between();
    child.stdin.end('\n');
    await once(child, 'close');
    return JSON.parse(output.split('\n')[1] ?? '');
  };
  const nothing = (): Promise<void> => Promise.resolve();

  it('is each address that answered, also one that has ended the connection since', async () => {
    let ended: (value: unknown) => void = () => undefined;
    const hasEnded = new Promise((resolved) => (ended = resolved));
    const open = await listening();
    const ending = await listening((socket) => {
      socket.resetAndDestroy();
      ended(undefined);
    });
    const found = await reached([open, ending], () => hasEnded);
    assert.deepEqual(found, [`127.0.0.1:${open}`, `127.0.0.1:${ending}`].sort());
  });

  it('is an address that answers only the second time', async () => {
    const port = await refusing();
    const found = await reached([port], () => listening(undefined, port));
    assert.deepEqual(found, [`127.0.0.1:${port}`]);
  });

  it('is no address that refuses', async () => {
    assert.deepEqual(await reached([await refusing()], nothing), []);
  });
});
