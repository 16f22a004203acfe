import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Evaluated } from '../../../src/editor/verdict/evaluated';
import {
  StoredEvaluation,
  parseEvaluated as parse,
  printEvaluated as print,
  rowDigest,
  type Restored,
} from '../../../src/editor/verdict/storedEvaluation';
import { candidateResult } from '../evaluation/examples';

const { instance } = candidateResult();
const grounds = { version: '1.2.3', row: 'r1' };
const printEvaluated = (evaluated: Evaluated): string => print(evaluated, grounds);
const restored = (
  text: string,
  about: { instance?: string; version?: string } = {},
): Restored | undefined => parse(text, { instance, version: grounds.version, ...about });
const parseEvaluated = (text: string): Evaluated | undefined => restored(text)?.evaluated;

function evaluated(more: Partial<Evaluated> = {}): Evaluated {
  return {
    result: candidateResult(),
    digest: 'd1',
    texts: new Map([
      ['tests/test_cat.py::test_purr', { text: 'def test_purr():\n    pass', basis: 'b1' }],
      ['tests/test_bad.py::test_hiss', { text: 'def test_hiss(): (', basis: undefined }],
    ]),
    evaluatedAt: new Date('2026-03-04T05:06:07.008Z'),
    milliseconds: 812.5,
    reusedFrom: undefined,
    ...more,
  };
}

describe('storedEvaluation', () => {
  it('gives back what was kept, and says that it was', () => {
    for (const each of [
      evaluated(),
      evaluated({
        reusedFrom: new Date('2026-03-04T05:00:00.000Z'),
        result: candidateResult({ affected: { ran: 1, kept: 3 }, difference: 'they differ' }),
      }),
      evaluated({ result: candidateResult({ changeCoverage: undefined, runs: {}, tests: [] }) }),
      evaluated({
        mutants: {
          made: 3,
          tested: [
            {
              ...{ path: 'a.py', line: 2, column: 5, operator: 'number' },
              ...{ before: '1', after: '2', status: 'killed', killedBy: ['t.py::test_a'] },
            },
          ],
        },
      }),
    ]) {
      assert.deepEqual(parseEvaluated(printEvaluated(each)), {
        ...each,
        restored: 'before the reload',
      });
    }
  });

  it('gives back which lines the candidate lost', () => {
    const { changeCoverage } = candidateResult({});
    assert.ok(changeCoverage !== undefined);
    const lost = {
      ...changeCoverage,
      lines: changeCoverage.lines.map((line) => ({ ...line, lost: true as const })),
    };
    const kept = printEvaluated(evaluated({ result: candidateResult({ changeCoverage: lost }) }));
    assert.deepEqual(parseEvaluated(kept)?.result.changeCoverage, lost);
  });

  it('gives back ΔC of which nothing is executable as undefined', () => {
    const nothing = { lines: [], covered: 0, executable: 0, delta: undefined };
    const kept = printEvaluated(
      evaluated({ result: candidateResult({ changeCoverage: nothing }) }),
    );
    assert.deepEqual(parseEvaluated(kept)?.result.changeCoverage, nothing);
  });

  it('takes nothing that is cut off, changed in kind, older, or of another instance', () => {
    const whole = printEvaluated(evaluated());
    assert.equal(restored(whole, { instance: 'other__other-1' }), undefined);
    for (let end = 0; end < whole.length; end += 97) {
      assert.equal(parseEvaluated(whole.slice(0, end)), undefined);
    }
    for (const [from, to] of [
      ['"format":3', '"format":2'],
      ['"F→P"', '"F→Q"'],
      ['"success":true', '"success":"yes"'],
      ['"2026-03-04T05:06:07.008Z"', '"soon"'],
      ['"newly covered"', '"covered"'],
    ] as const) {
      assert.ok(whole.includes(from), from);
      assert.equal(parseEvaluated(whole.replace(from, to)), undefined, to);
    }
    assert.equal(parseEvaluated('null'), undefined);
  });

  it('takes nothing of another version of the extension, and says which row it was graded against', () => {
    const whole = printEvaluated(evaluated());
    assert.equal(restored(whole, { version: '1.2.4' }), undefined);
    assert.equal(restored(whole)?.row, grounds.row);
  });

  it('tells rows apart by R, X* and T*', () => {
    const row = { baseCommit: 'c', goldenPatch: 'x', goldenTests: 't' };
    const others = [
      { ...row, baseCommit: 'd' },
      { ...row, goldenPatch: 'y' },
      { ...row, goldenTests: 'u' },
      { ...row, goldenPatch: 't', goldenTests: 'x' },
    ];
    assert.equal(rowDigest({ ...row }), rowDigest(row));
    assert.equal(new Set([row, ...others].map(rowDigest)).size, 5);
  });

  describe('on disk', () => {
    let folder: string;
    beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'swt-kept-'))));
    afterEach(() => rm(folder, { recursive: true, force: true }));

    it('keeps the last of several asked for at once, and leaves nothing beside it', async () => {
      const path = join(folder, 'inner', 'evaluation.json');
      const kept = new StoredEvaluation(path, instance, grounds.version);
      assert.equal(await kept.read(), undefined);
      void kept.write(evaluated({ digest: 'first' }), 'r1');
      void kept.write(evaluated({ digest: 'second' }), 'r1');
      void kept.write(evaluated({ digest: 'third' }), 'r1');
      await kept.settled();
      assert.equal((await kept.read())?.evaluated.digest, 'third');
      assert.deepEqual(await readdir(join(folder, 'inner')), ['evaluation.json']);
    });

    it('says that it could not be kept, leaves what was there, and goes on', async () => {
      const path = join(folder, 'evaluation.json');
      const kept = new StoredEvaluation(path, instance, grounds.version);
      await kept.write(evaluated({ digest: 'before' }), 'r1');
      const text = await readFile(path, 'utf8');
      const broken = new StoredEvaluation(join(path, 'below a file'), instance, grounds.version);
      await assert.rejects(broken.write(evaluated(), 'r1'));
      await broken.settled();
      assert.equal(await readFile(path, 'utf8'), text);
      await writeFile(path, text.slice(0, 200));
      assert.equal(await kept.read(), undefined);
      await kept.write(evaluated({ digest: 'after' }), 'r1');
      assert.equal((await kept.read())?.evaluated.digest, 'after');
    });
  });
});
