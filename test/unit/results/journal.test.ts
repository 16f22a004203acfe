import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { entryReasons } from '../../../src/domain/verdict';
import {
  journalPath,
  openJournal,
  parseJournal,
  readJournal,
  type JournalLine,
} from '../../../src/results/journal';

const line = (instance: string, more: Partial<JournalLine> = {}): JournalLine => ({
  instance,
  model: 'm',
  sample: 1,
  reason: 'success',
  explanation: 'one test F→P',
  evaluated: true,
  wellFormed: true,
  success: true,
  failToPass: 1,
  failToFail: 0,
  passToPass: 0,
  passToFail: 0,
  failToAny: 1,
  anyToFail: 0,
  seconds: 1.5,
  key: 'k',
  finished: '2026-01-01T00:00:00.000Z',
  report: 'report.json',
  ...more,
});

describe('the journal of a run', () => {
  let folder = '';
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'journal-test-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const write = async (...lines: JournalLine[]): Promise<void> => {
    const journal = await openJournal(folder);
    for (const each of lines) await journal.append(each);
    await journal.close();
  };

  it('gives back what was written, whatever the entry', async () => {
    const count = fc.nat(1000);
    const fraction = fc.record({ covered: count, executable: count });
    const any = fc.record(
      {
        instance: fc.string({ unit: 'grapheme', minLength: 1 }),
        model: fc.string({ unit: 'grapheme' }),
        sample: fc.integer({ min: 1, max: 9 }),
        reason: fc.constantFrom(...entryReasons),
        explanation: fc.string({ unit: 'grapheme' }),
        delta: fraction,
        goldenDelta: fraction,
        harness: fc.record({
          resolved: fc.boolean(),
          addedFailToPass: count,
          coverageDelta: fc.constantFrom(null, 0.5),
        }),
        difference: fc.string(),
        cost: fc.record({ dollars: fc.nat(), seconds: fc.nat() }, { requiredKeys: [] }),
      },
      { requiredKeys: ['instance'] },
    );
    await fc.assert(
      fc.asyncProperty(any, async (more) => {
        await rm(journalPath(folder), { force: true });
        const written = line('i', more);
        await write(written);
        const { lines, problems } = await readJournal(folder);
        assert.deepEqual(problems, []);
        assert.deepEqual(lines, [JSON.parse(JSON.stringify(written))]);
      }),
      { numRuns: 40 },
    );
  });

  it('is empty where there is none', async () => {
    assert.deepEqual(await readJournal(join(folder, 'nothing')), { lines: [], problems: [] });
  });

  it('has the last line of a candidate, and tells samples and models apart', async () => {
    await write(
      line('a', { reason: 'passes on R', success: false }),
      line('b'),
      line('a', { sample: 2 }),
      line('a', { model: 'n' }),
      line('a', { seconds: 7 }),
    );
    const { lines } = await readJournal(folder);
    assert.deepEqual(
      lines.map((each) => [each.instance, each.model, each.sample, each.seconds]),
      [
        ['a', 'm', 1, 7],
        ['b', 'm', 1, 1.5],
        ['a', 'm', 2, 1.5],
        ['a', 'n', 1, 1.5],
      ],
    );
  });

  it('cut off at any byte has every line that was whole, and is gone on with', async () => {
    await write(line('a'), line('b'), line('ü'));
    const whole = await readFile(journalPath(folder));
    const ends = [...whole.keys()].filter((at) => whole[at] === 0x0a);
    for (let cut = 0; cut <= whole.length; cut += 7) {
      await writeFile(journalPath(folder), whole.subarray(0, cut));
      const before = ends.filter((end) => end < cut).length;
      const read = await readJournal(folder);
      assert.deepEqual([read.lines.length, read.problems], [before, []], `cut at ${cut}`);
      await write(line('next'));
      const after = await readJournal(folder);
      assert.deepEqual([after.lines.length, after.problems], [before + 1, []], `cut at ${cut}`);
    }
  });

  it('names a broken line in the middle, and reads the rest', async () => {
    await write(line('a'));
    await appendFile(journalPath(folder), '{"instance": "b"}\nno json\n');
    await write(line('c'));
    const { lines, problems } = await readJournal(folder);
    assert.deepEqual(
      lines.map((each) => each.instance),
      ['a', 'c'],
    );
    assert.equal(problems.length, 2);
    assert.match(problems[0] ?? '', /entries\.jsonl: line 2 is not an entry of a run \(model: /);
    assert.match(problems[1] ?? '', /: line 3 is not JSON$/);
  });

  it('has lines that are whole when several are written at once', async () => {
    const journal = await openJournal(folder);
    const names = Array.from({ length: 50 }, (_, index) => `i${index}`);
    await Promise.all(names.map((name) => journal.append(line(name))));
    await journal.close();
    const { lines, problems } = await readJournal(folder);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      lines.map((each) => each.instance),
      names,
    );
  });

  it('of unknown reasons and negative counts is not believed', () => {
    const broken = [{ reason: 'bad luck' }, { failToPass: -1 }, { sample: 0 }, { evaluated: 1 }];
    for (const more of broken) {
      const { lines, problems } = parseJournal(
        `${JSON.stringify({ ...line('a'), ...more })}\n`,
        'j',
      );
      assert.deepEqual([lines.length, problems.length], [0, 1]);
    }
  });
});
