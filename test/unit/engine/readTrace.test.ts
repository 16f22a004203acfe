import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { readTrace, type Trace } from '../../../src/engine/trace/readTrace';

type Json = Record<string, unknown>;

const slots = [
  ['pkg/mod.py', 12],
  ['pkg/mod.py', 13],
];

function processRecord(more: Json = {}): Json {
  return {
    kind: 'process',
    format: 1,
    pid: 10,
    ppid: 1,
    argv: ['python', '-m', 'pytest'],
    python: '3.11.7',
    implementation: 'cpython',
    technique: 'bytecode',
    slots,
    ...more,
  };
}

function outcome(test: string, result: string, more: Json = {}): Json {
  return { kind: 'outcome', test, outcome: result, seconds: 0.5, phase: 'call', ...more };
}

const begin = (test: string | null): Json => ({ kind: 'begin', test });
const exit: Json = { kind: 'exit' };

function lines(...records: Json[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function totals(...counts: (number | bigint)[]): Buffer {
  const buffer = Buffer.alloc(8 * counts.length);
  counts.forEach((count, index) => buffer.writeBigUInt64LE(BigInt(count), 8 * index));
  return buffer;
}

describe('readTrace', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trace-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function read(files: Record<string, string | Buffer>): Promise<Trace> {
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(folder, name), content);
    }
    return readTrace(folder);
  }

  it('gives an empty trace for a folder that is empty or not there', async () => {
    const empty = await readTrace(folder);
    assert.deepEqual(empty.outcomes, []);
    assert.deepEqual(await readTrace(join(folder, 'absent')), empty);
  });

  it('reads a whole run', async () => {
    const trace = await read({
      '10-aa.jsonl': lines(
        processRecord(),
        { kind: 'session', runner: 'pytest', version: '8.3.1' },
        { kind: 'collected', tests: ['t.py::a', 't.py::b'] },
        { kind: 'counts', test: null, counts: { 0: 1 } },
        begin('t.py::a'),
        { kind: 'file', path: 'pkg/mod.py', how: 'bytecode' },
        { kind: 'counts', test: 't.py::a', counts: { 0: 2, 1: 5 } },
        outcome('t.py::a', 'failed', {
          exception: 'AssertionError',
          message: 'no',
          details: 'Traceback',
          frames: [['pkg/mod.py', 12, 'f']],
          comparison: ['1', '2'],
        }),
        begin(null),
        { kind: 'elsewhere', path: 'pkg/x.py', loaded: '/lib/pkg/x.py' },
        { kind: 'problem', text: 'sys.settrace was replaced' },
        exit,
      ),
      '10-aa.counts': totals(3, 5),
    });
    assert.deepEqual(trace, {
      processes: [
        {
          pid: 10,
          ppid: 1,
          argv: ['python', '-m', 'pytest'],
          python: '3.11.7',
          implementation: 'cpython',
          technique: 'bytecode',
          ended: true,
        },
      ],
      techniques: ['bytecode'],
      counts: [
        { path: 'pkg/mod.py', line: 12, byTest: new Map([['t.py::a', 2]]), shared: 1 },
        { path: 'pkg/mod.py', line: 13, byTest: new Map([['t.py::a', 5]]), shared: 0 },
      ],
      outcomes: [
        {
          test: 't.py::a',
          outcome: 'failed',
          seconds: 0.5,
          phase: 'call',
          exception: 'AssertionError',
          message: 'no',
          details: 'Traceback',
          frames: [{ path: 'pkg/mod.py', line: 12, function: 'f' }],
          comparison: { expected: '1', actual: '2' },
        },
      ],
      collected: ['t.py::a', 't.py::b'],
      sessions: [{ runner: 'pytest', version: '8.3.1' }],
      files: [{ path: 'pkg/mod.py', how: 'bytecode' }],
      elsewhere: [{ path: 'pkg/x.py', loaded: '/lib/pkg/x.py' }],
      problems: ['sys.settrace was replaced'],
      unfinished: [],
    });
  });

  it('sums counts over processes', async () => {
    const journal = (pid: number) =>
      lines(processRecord({ pid }), { kind: 'counts', test: 't.py::a', counts: { 1: 4 } }, exit);
    const trace = await read({ '10-aa.jsonl': journal(10), '11-bb.jsonl': journal(11) });
    assert.deepEqual(trace.counts, [
      { path: 'pkg/mod.py', line: 13, byTest: new Map([['t.py::a', 8]]), shared: 0 },
    ]);
  });

  it('gives what a dead process counted and did not write to the test it was in', async () => {
    const trace = await read({
      '10-aa.jsonl': lines(
        processRecord(),
        { kind: 'counts', test: null, counts: { 0: 1 } },
        begin('t.py::a'),
        outcome('t.py::b', 'passed'),
      ),
      '10-aa.counts': totals(8, 2),
    });
    assert.deepEqual(trace.counts, [
      { path: 'pkg/mod.py', line: 12, byTest: new Map([['t.py::a', 7]]), shared: 1 },
      { path: 'pkg/mod.py', line: 13, byTest: new Map([['t.py::a', 2]]), shared: 0 },
    ]);
    assert.deepEqual(trace.unfinished, [
      { pid: 10, argv: ['python', '-m', 'pytest'], lastTest: 't.py::a' },
    ]);
  });

  it('does without a torn last line, and without totals', async () => {
    const whole = lines(processRecord(), begin('t.py::a'), outcome('t.py::a', 'passed'));
    const trace = await read({ '10-aa.jsonl': `${whole}{"kind":"outcome","test":"t.py::b","outc` });
    assert.deepEqual(
      trace.outcomes.map(({ test }) => test),
      ['t.py::a'],
    );
    assert.deepEqual(trace.problems, []);
  });

  it('lets a later outcome of a process replace an earlier one, and the worse of two processes', async () => {
    const trace = await read({
      '10-aa.jsonl': lines(
        processRecord(),
        outcome('t.py::a', 'failed'),
        outcome('t.py::a', 'error', { phase: 'teardown' }),
        outcome('t.py::b', 'failed'),
        exit,
      ),
      '11-aa.jsonl': lines(processRecord({ pid: 11 }), outcome('t.py::b', 'passed'), exit),
    });
    assert.deepEqual(
      trace.outcomes.map((each) => [each.test, each.outcome, each.phase]),
      [
        ['t.py::a', 'error', 'teardown'],
        ['t.py::b', 'failed', 'call'],
      ],
    );
  });

  it('names a test that ended its process, also by a clean exit', async () => {
    const trace = await read({
      '10-aa.jsonl': lines(processRecord(), begin('t.py::a'), exit),
    });
    assert.equal(trace.unfinished[0]?.lastTest, 't.py::a');
  });

  it('names a runner that was killed outside any test, but no helper process', async () => {
    const session = { kind: 'session', runner: 'pytest', version: '8' };
    const trace = await read({
      '10-aa.jsonl': lines(processRecord(), begin(null), session),
      '11-aa.jsonl': lines(processRecord({ pid: 11, ppid: 10 }), begin(null)),
    });
    assert.deepEqual(
      trace.unfinished.map(({ pid, lastTest }) => [pid, lastTest]),
      [[10, null]],
    );
  });

  it('names a program that was killed before there was a session', async () => {
    const trace = await read({
      '10-aa.jsonl': lines(processRecord(), begin(null)),
      '11-aa.jsonl': lines(processRecord({ pid: 11, ppid: 10 }), begin(null)),
    });
    assert.deepEqual(
      trace.unfinished.map(({ pid }) => pid),
      [10],
    );
  });

  it('counts the set-up of a class by itself, and takes it for no test', async () => {
    const trace = await read({
      '10-aa.jsonl': lines(
        processRecord(),
        begin('t.py::K::'),
        { kind: 'counts', test: 't.py::K::', counts: { 0: 2 } },
        begin(null),
        { kind: 'session', runner: 'unittest', version: '3' },
        exit,
      ),
      // A server that the set-up of the class started.
      '11-aa.jsonl': lines(processRecord({ pid: 11, ppid: 10 }), begin('t.py::K::')),
    });
    assert.deepEqual(trace.counts[0]?.byTest, new Map([['t.py::K::', 2]]));
    assert.deepEqual(trace.unfinished, []);
  });

  it('does not name a child that was killed in a test which has an outcome', async () => {
    const trace = await read({
      '10-aa.jsonl': lines(
        processRecord(),
        begin('t.py::a'),
        outcome('t.py::a', 'passed'),
        begin(null),
        exit,
      ),
      '11-aa.jsonl': lines(processRecord({ pid: 11, ppid: 10 }), begin('t.py::a')),
    });
    assert.deepEqual(trace.unfinished, []);
  });

  it('passes over what it does not know, and says what it could not read', async () => {
    const trace = await read({
      '10-aa.jsonl': lines(
        processRecord(),
        { kind: 'something of a later version' },
        outcome('t.py::a', 'splendid'),
        { kind: 'counts', test: null, counts: { 7: 1 } },
        { kind: 'counts', test: null, counts: { 0: -1 } },
        outcome('t.py::b', 'passed', {
          phase: 'later',
          seconds: 'long',
          frames: 'none',
          comparison: ['1'],
        }),
        exit,
      ),
      'notes.txt': 'not ours',
      '12-aa.jsonl': 'no JSON\n[]\n3\n',
    });
    assert.deepEqual(trace.outcomes, [
      { test: 't.py::b', outcome: 'passed', seconds: 0, frames: [] },
    ]);
    assert.deepEqual(trace.counts, []);
    assert.deepEqual(trace.problems, [
      'a record of the trace could not be read',
      'the trace counts a line that it does not name',
    ]);
  });

  it('reads no links and nothing but files', async () => {
    const secret = join(folder, 'secret');
    await writeFile(secret, lines(processRecord()));
    await symlink(secret, join(folder, '10-aa.jsonl'));
    await mkdir(join(folder, '11-aa.jsonl'));
    const trace = await readTrace(folder);
    assert.deepEqual(trace.processes, []);
    assert.deepEqual(trace.problems, ['a journal could not be read']);
  });

  it('bounds texts, and takes ids as they are', async () => {
    const test = '__proto__::\u0000<b>';
    const trace = await read({
      '10-aa.jsonl': lines(
        processRecord(),
        outcome(test, 'failed', {
          message: 'x'.repeat(1e6),
          details: 'y'.repeat(1e6),
          comparison: ['a'.repeat(1e6), 'b'.repeat(1e6)],
        }),
        { kind: 'problem', text: 'z'.repeat(1e6) },
        exit,
      ),
    });
    const [result] = trace.outcomes;
    assert.equal(result?.test, test);
    assert.ok((result?.message?.length ?? 0) <= 4_000 && (result?.details?.length ?? 0) <= 40_000);
    const { expected, actual } = result?.comparison ?? {};
    assert.deepEqual([expected?.length, actual?.length], [4_000, 4_000]);
    assert.ok((trace.problems[0]?.length ?? 0) <= 4_000);
  });

  it('never throws, whatever a journal holds', async () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(null, -1, 1e300, 'pkg/mod.py'));
    const record = fc.record(
      {
        kind: fc.constantFrom('process', 'begin', 'counts', 'file', 'outcome', 'session'),
        pid: value,
        slots: value,
        test: value,
        counts: value,
        path: value,
        outcome: fc.oneof(value, fc.constant('passed')),
        runner: value,
        frames: value,
        comparison: value,
      },
      { requiredKeys: ['kind'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(record), fc.uint8Array({ maxLength: 40 }), async (all, bytes) => {
        const trace = await read({
          '10-aa.jsonl': lines(processRecord(), ...(all as Json[])),
          '10-aa.counts': Buffer.from(bytes),
        });
        assert.equal(trace.processes.length, 1);
      }),
    );
  });
});
