import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { attachProcess } from '../../src/engine/local/attachedProcess';
import { openAgentProtocol, type FrameHeader } from '../../src/engine/sandbox/agentProtocol';

/** Serves one request as the agent does on Windows, but on this system. */
const driver = `
import os, sys
sys.path.insert(0, ${JSON.stringify(resolve('src/engine/agent'))})
from swt_windows import run_program
from swt_wire import Wire
wire = Wire(0, 1)
run_program(wire, wire.receive()[0])
`;

type Done = Extract<FrameHeader, { kind: 'done' }>;

/** Runs a program, and stops it at its first output if there is a reason to. */
async function run(argv: readonly string[], why?: string) {
  const wire = openAgentProtocol(attachProcess('python3', ['-I', '-c', driver]));
  const request = { kind: 'run', cwd: '/', env: process.env, services: [], serviceEnv: {} };
  wire.send({ ...request, argv, seconds: 200, mark: 'none' });
  let output = '';
  let done: Done | undefined;
  for (let frame = await wire.receive(); frame !== undefined; frame = await wire.receive()) {
    if (frame.header.kind === 'output') {
      output += frame.payload.toString();
      if (why !== undefined) wire.send({ kind: 'stop', why });
    }
    if (frame.header.kind === 'done') done = frame.header;
  }
  wire.close();
  return { output, ending: done?.ending, exit: done?.exit, why: done?.why };
}

describe('the agent where there is no fork', function () {
  if (process.platform === 'win32') return;
  it('runs a program to its end, with all of its output', async () => {
    const program =
      'import sys; print("out"); sys.stdout.flush(); sys.stderr.write("err"); sys.exit(3)';
    assert.deepEqual(await run(['python3', '-c', program]), {
      ...{ output: 'out\nerr', ending: 'exited', exit: 3, why: undefined },
    });
  });

  it('stops one that the engine wants to end', async () => {
    // One write: an unbuffered Python writes the end of a line on its own, after the stop.
    const program = 'import os, time; os.write(1, b"here\\n"); time.sleep(1000)';
    const { output, ending, exit } = await run(['python3', '-c', program], 'cancelled');
    assert.deepEqual([output, ending, exit ?? undefined], ['here\n', 'cancelled', undefined]);
  });

  it('says why one cannot start', async () => {
    const { ending, why } = await run(['/no/such/program']);
    assert.equal(ending, 'not started');
    assert.match(why ?? '', /No such file/);
  });
});
