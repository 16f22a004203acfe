import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { readTrace, type ExecutionTrace } from '../../../src/engine/tracer/readTrace';
import { newRecordKey } from '../../../src/engine/tracer/recordKey';

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

  async function read(files: Record<string, string | Buffer>): Promise<ExecutionTrace> {
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
        { kind: 'act', what: 'open', path: 'pkg/x.py', at: [['t.py', 7]], test: 't.py::a' },
        { kind: 'act', what: 'open', path: 'pkg/x.py', at: [['t.py', 7]], test: 't.py::b' },
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
      collecting: [],
      mostPrinted: undefined,
      sessions: [{ runner: 'pytest', version: '8.3.1' }],
      files: [{ path: 'pkg/mod.py', how: 'bytecode' }],
      elsewhere: [{ path: 'pkg/x.py', loaded: '/lib/pkg/x.py' }],
      acts: [{ what: 'open', path: 'pkg/x.py', at: [['t.py', 7]], test: 't.py::a' }],
      problems: ['sys.settrace was replaced'],
      contradictions: [],
      unfinished: [],
    });
  });

  it('sums counts over processes', async () => {
    const journal = (pid: number) =>
      lines(
        processRecord({ pid }),
        { kind: 'counts', test: null, counts: { 1: 3 } },
        { kind: 'counts', test: 't.py::a', counts: { 1: 4 } },
        exit,
      );
    const trace = await read({ '10-aa.jsonl': journal(10), '11-bb.jsonl': journal(11) });
    assert.deepEqual(trace.counts, [
      { path: 'pkg/mod.py', line: 13, byTest: new Map([['t.py::a', 8]]), shared: 6 },
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
      'a trace record could not be read',
      'the trace counts an unknown line',
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

describe('readTrace, with the key of the run', () => {
  const content: Buffer = Buffer.alloc(32, 7);
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'trace-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** The lines of a journal with seals, as the tracer writes them. */
  const sealed = (name: string, records: readonly Json[], key = content): string[] =>
    records.map((record, number) => {
      const text = JSON.stringify(record);
      const seal = createHash('sha256')
        .update(key)
        .update(Buffer.alloc(96))
        .update(`${name} ${number} ${text}`)
        .digest('hex')
        .slice(0, 32);
      return `${text}\t${number} ${seal}\n`;
    });
  const read = async (files: Readonly<Record<string, readonly string[] | Buffer>>) => {
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), Buffer.isBuffer(text) ? text : text.join(''));
    }
    return readTrace(folder, newRecordKey(content));
  };
  const first = processRecord({ above: [1] });
  const session: Json = { kind: 'session', runner: 'unittest' };
  const whole = [first, session, begin('a'), outcome('a', 'passed'), begin(null), exit];
  const other = (more: Json = {}): Json =>
    processRecord({ pid: 20, ppid: 10, above: [10, 1], ...more });
  const counts: Json = { kind: 'counts', test: 'a', counts: { 0: 3 } };

  it('believes a journal whose seals are right, in any order, with a record twice', async () => {
    const [one = '', two = '', ...rest] = sealed('10-aa', whole);
    const trace = await read({ '10-aa.jsonl': [one, ...rest, two, two] });
    assert.deepEqual(trace.contradictions, []);
    assert.deepEqual(
      trace.outcomes.map(({ test }) => test),
      ['a'],
    );
  });

  it('misses a record that is not there, and knows one that the process did not write', async () => {
    const journal = sealed('10-aa', whole);
    const name = 'process 10 (python -m pytest)';
    const without = await read({ '10-aa.jsonl': journal.filter((_, index) => index !== 3) });
    assert.deepEqual(without.contradictions, [`records of ${name} are missing (1)`]);
    const moved = await read({
      '10-aa.jsonl': [...journal, ...sealed('10-bb', [outcome('b', 'passed')])],
    });
    assert.deepEqual(moved.contradictions, [`records of ${name} were not written by it (1)`]);
    assert.equal(moved.outcomes.length, 1);
  });

  it('remarks on a test without an outcome where the run went on, whoever recorded it', async () => {
    const lost = [begin('b'), begin(null), begin('c'), outcome('c', 'passed'), begin('C::')];
    const more = sealed('10-aa', [...whole.slice(0, -1), ...lost, begin(null), exit]);
    const trace = await read({ '10-aa.jsonl': more });
    assert.deepEqual(trace.problems, ['b has no outcome, although the run continued after it']);
    assert.deepEqual(trace.contradictions, []);
    // A test that ended its process is unfinished; a fork has the outcomes of its parent.
    const died = sealed('10-aa', [...whole.slice(0, -1), begin('b')]);
    const fork = processRecord({ pid: 11, ppid: 10, forked: '10-aa' });
    const child = sealed('11-bb', [fork, begin('b'), begin('d'), begin(null), exit]);
    const other = await read({ '10-aa.jsonl': died, '11-bb.jsonl': child });
    assert.deepEqual(other.problems, []);
    const after = sealed('10-aa', [...whole.slice(0, -1), begin('b'), begin(null)]);
    assert.deepEqual((await read({ '10-aa.jsonl': after, '11-bb.jsonl': [] })).problems, []);
  });

  it('wants the records of the first process', async () => {
    const nothing = await read({});
    assert.deepEqual(nothing.contradictions, ['the first process of the run wrote no records']);
    const relayed = sealed(
      '11-bb',
      [processRecord({ pid: 11, relay: 1 }), ...whole.slice(1)],
      relay(1),
    );
    const alone = await read({ '11-bb.jsonl': relayed });
    assert.deepEqual(alone.contradictions, ['the first process of the run wrote no records']);
  });

  const relay = (number: number): Buffer =>
    createHash('sha256')
      .update(content)
      .update(Buffer.alloc(96))
      .update(`relay ${number}`)
      .digest();

  it('knows derived keys, each by its number', async () => {
    const files = {
      '10-aa.jsonl': sealed('10-aa', [first, { kind: 'started', pid: 11 }, exit]),
      '11-bb.jsonl': sealed(
        '11-bb',
        [processRecord({ pid: 11, relay: 2 }), ...whole.slice(1)],
        relay(2),
      ),
    };
    const trace = await read(files);
    assert.deepEqual(trace.contradictions, []);
    assert.deepEqual(trace.sessions, [{ runner: 'unittest' }]);
    const wrong = sealed('12-cc', [processRecord({ pid: 12, relay: 3 }), exit], relay(2));
    const strange = await read({ ...files, '12-cc.jsonl': wrong });
    assert.deepEqual(strange.contradictions, [
      'process 12 (python -m pytest) has records with an invalid key',
    ]);
  });

  it('counts what has no key only below what the run has started', async () => {
    const started = (pid: number | null): Json => ({ kind: 'started', pid });
    const child = lines(other(), counts, exit);
    const times = async (records: readonly Json[], text = child): Promise<unknown> => {
      const trace = await read({ '10-aa.jsonl': sealed('10-aa', records), '20-bb.jsonl': [text] });
      assert.deepEqual(trace.contradictions, []);
      assert.equal(trace.problems.length, 1, trace.problems.join());
      return trace.counts[0]?.byTest.get('a');
    };
    assert.equal(await times([...whole, started(20)]), 3);
    assert.equal(await times([...whole, started(30)]), undefined);
    const below = lines(other({ above: [30, 10, 1] }), counts, exit);
    assert.equal(await times([...whole, started(30)], below), 3);
    assert.equal(await times([...whole, started(null)]), 3, 'os.system');
    assert.equal(await times([...whole]), undefined);
    // Where the system does not show parents, this is unknown.
    assert.equal(await times([processRecord({ above: [] }), ...whole.slice(1)]), 3);
    assert.equal(await times([...whole], lines(other({ forked: '10-aa', above: [] }), counts)), 3);
  });

  it('takes no outcome, and no session, from what has no key', async () => {
    const trace = await read({
      '10-aa.jsonl': sealed('10-aa', [...whole, { kind: 'started', pid: 20 }]),
      '20-bb.jsonl': [lines(other(), session, outcome('b', 'passed'), exit)],
    });
    assert.deepEqual(trace.contradictions, [
      'process 20 (python -m pytest) has a record "session" without the run\'s key',
      "process 20 (python -m pytest) reports b as passed without the run's key",
    ]);
    assert.deepEqual(
      trace.outcomes.map(({ test }) => test),
      ['a'],
    );
    assert.equal(trace.sessions.length, 1);
  });

  it('does not count what the totals have beyond the records of a process that ended', async () => {
    const records = [first, session, begin('a'), counts, outcome('a', 'passed'), begin(null)];
    const of = async (more: readonly Json[], ...numbers: number[]) => {
      const files = { '10-aa.jsonl': sealed('10-aa', [...records, ...more]) };
      return read({ ...files, '10-aa.counts': totals(...numbers) });
    };
    assert.deepEqual(
      (await of([exit], 1000, 1000)).counts.map(({ shared }) => shared),
      [0],
    );
    // A killed process could not write them.
    assert.deepEqual(
      (await of([], 5, 0)).counts.map(({ shared }) => shared),
      [2],
    );
    const { contradictions } = await of([exit], 2, 0);
    assert.deepEqual(contradictions, [
      'process 10 (python -m pytest) wrote more executions of pkg/mod.py:12 than it counted',
    ]);
  });

  it('knows outcomes that no run of a test can have', async () => {
    const of = async (...records: Json[]) =>
      (await read({ '10-aa.jsonl': sealed('10-aa', [first, ...records, exit]) })).contradictions;
    const pytest: Json = { kind: 'session', runner: 'pytest' };
    const found: Json = { kind: 'collected', tests: ['a', 'b'] };
    const never = ['a has the outcome passed but never started'];
    assert.deepEqual(await of(session, outcome('a', 'passed')), never);
    assert.deepEqual(await of(pytest, found, outcome('a', 'passed', { attempt: 0 })), never);
    const two = ['a has two outcomes: failed, then passed'];
    assert.deepEqual(
      await of(session, begin('a'), outcome('a', 'failed'), outcome('a', 'passed')),
      two,
    );
    for (const honest of [
      // A skip by a decorator, a class or a file; a test that a plug-in renames or restarts.
      [session, outcome('a', 'skipped')],
      [
        session,
        outcome('A', 'error', { phase: 'setup' }),
        outcome('A', 'error', { phase: 'teardown' }),
      ],
      [pytest, found, outcome('t.py', 'error', { phase: 'collect', attempt: 0 })],
      [pytest, found, outcome('renamed', 'passed', { attempt: 0 })],
      [
        ...[pytest, found, begin('a'), outcome('a', 'failed', { attempt: 1 })],
        outcome('a', 'passed', { attempt: 2 }),
      ],
      [session, begin('a'), outcome('a', 'passed'), outcome('a', 'error', { phase: 'teardown' })],
      [
        session,
        begin('a'),
        outcome('a', 'failed'),
        begin(null),
        begin('a'),
        outcome('a', 'passed'),
      ],
    ]) {
      assert.deepEqual(await of(...honest), [], JSON.stringify(honest));
    }
  });

  it('never fails, whatever is in the folder', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string()), fc.uint8Array(), async (texts, bytes) => {
        const trace = await read({
          '10-aa.jsonl': [...sealed('10-aa', whole), ...texts.map((text) => `${text}\n`)],
          '20-bb.jsonl': texts,
          '20-bb.counts': Buffer.from(bytes),
        });
        assert.equal(trace.outcomes[0]?.outcome, 'passed');
      }),
      { numRuns: 50 },
    );
  });
});
