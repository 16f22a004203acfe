import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Evaluated } from '../../../src/editor/evaluated';
import { KeptEvaluation, parseEvaluated, printEvaluated } from '../../../src/editor/keptEvaluation';
import { candidateResult } from '../evaluation/examples';

const instance = candidateResult().instance;

function evaluated(more: Partial<Evaluated> = {}): Evaluated {
  return {
    result: candidateResult(),
    digest: 'd1',
    texts: new Map([['tests/test_cat.py::test_purr', 'def test_purr():\n    pass']]),
    evaluatedAt: new Date('2026-03-04T05:06:07.008Z'),
    milliseconds: 812.5,
    keptFrom: undefined,
    ...more,
  };
}

describe('keptEvaluation', () => {
  it('gives back what was kept, and says that it was', () => {
    for (const each of [
      evaluated(),
      evaluated({
        keptFrom: new Date('2026-03-04T05:00:00.000Z'),
        result: candidateResult({ affected: { ran: 1, kept: 3 }, difference: 'they differ' }),
      }),
      evaluated({ result: candidateResult({ changeCoverage: undefined, runs: {}, tests: [] }) }),
    ]) {
      assert.deepEqual(parseEvaluated(printEvaluated(each), instance), { ...each, restored: true });
    }
  });

  it('gives back ΔC of which nothing is executable as undefined', () => {
    const nothing = { lines: [], covered: 0, executable: 0, delta: undefined };
    const kept = printEvaluated(
      evaluated({ result: candidateResult({ changeCoverage: nothing }) }),
    );
    assert.deepEqual(parseEvaluated(kept, instance)?.result.changeCoverage, nothing);
  });

  it('takes nothing that is cut off, changed in kind, older, or of another instance', () => {
    const whole = printEvaluated(evaluated());
    assert.equal(parseEvaluated(whole, 'other__other-1'), undefined);
    for (let end = 0; end < whole.length; end += 97) {
      assert.equal(parseEvaluated(whole.slice(0, end), instance), undefined);
    }
    for (const [from, to] of [
      ['"format":1', '"format":0'],
      ['"F→P"', '"F→Q"'],
      ['"success":true', '"success":"yes"'],
      ['"2026-03-04T05:06:07.008Z"', '"soon"'],
      ['"newly covered"', '"covered"'],
    ] as const) {
      assert.ok(whole.includes(from), from);
      assert.equal(parseEvaluated(whole.replace(from, to), instance), undefined, to);
    }
    assert.equal(parseEvaluated('null', instance), undefined);
  });

  describe('on disk', () => {
    let folder: string;
    beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'swt-kept-'))));
    afterEach(() => rm(folder, { recursive: true, force: true }));

    it('keeps the last of several asked for at once, and leaves nothing beside it', async () => {
      const path = join(folder, 'inner', 'evaluation.json');
      const kept = new KeptEvaluation(path, instance);
      assert.equal(await kept.read(), undefined);
      void kept.write(evaluated({ digest: 'first' }));
      void kept.write(evaluated({ digest: 'second' }));
      void kept.write(evaluated({ digest: 'third' }));
      await kept.settled();
      assert.equal((await kept.read())?.digest, 'third');
      assert.deepEqual(await readdir(join(folder, 'inner')), ['evaluation.json']);
    });

    it('says that it could not be kept, leaves what was there, and goes on', async () => {
      const path = join(folder, 'evaluation.json');
      const kept = new KeptEvaluation(path, instance);
      await kept.write(evaluated({ digest: 'before' }));
      const text = await readFile(path, 'utf8');
      const broken = new KeptEvaluation(join(path, 'below a file'), instance);
      await assert.rejects(broken.write(evaluated()));
      await broken.settled();
      assert.equal(await readFile(path, 'utf8'), text);
      await writeFile(path, text.slice(0, 200));
      assert.equal(await kept.read(), undefined);
      await kept.write(evaluated({ digest: 'after' }));
      assert.equal((await kept.read())?.digest, 'after');
    });
  });
});
