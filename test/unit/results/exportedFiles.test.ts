import assert from 'node:assert/strict';
import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ungraded } from '../../../src/domain/verdict';
import { loadPredictions } from '../../../src/dataset/predictions';
import { HumanError } from '../../../src/domain/work';
import { bytesOf } from '../../../src/patch/bytes';
import {
  exportedFiles,
  whatIsAt,
  writeExport,
  type ExportedFiles,
} from '../../../src/results/reproduction/exportedFiles';
import type { CandidateResult } from '../../../src/evaluation/candidateResult';
import type { Reproduction } from '../../../src/results/reproduction/reproductionNote';
import { candidateResult } from '../evaluation/examples';

const reproduction = (result: CandidateResult): Reproduction => ({
  result,
  repo: 'octo/cat',
  baseCommit: 'a'.repeat(40),
  evaluatedAt: new Date('2026-11-21T16:00:00Z'),
  milliseconds: 1840,
  environment: undefined,
  revealed: false,
  wasRevealed: false,
  folders: [],
});

const noSuccess = (): CandidateResult =>
  candidateResult({ strict: ungraded('passes on R', 'no test of the candidate fails on R', true) });

const contentOf = (exported: ExportedFiles, ending: string): Buffer => {
  const found = exported.files.find(({ name }) => name.endsWith(ending));
  assert.ok(found, ending);
  return found.content;
};

describe('an exported reproduction', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-export-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('holds the patch that was run, and a prediction that is read as the same', async () => {
    // Line ends, quotes, a byte that is not UTF-8, and characters beyond the first plane.
    const patch = 'diff --git a/tests/t.py b/tests/t.py\n+"é\udce9😀\\n"\r\n+last';
    const exported = exportedFiles(reproduction(candidateResult({ patch })));
    assert.equal(exported.folder, 'octo__cat-1-reference-reproduction');
    const written = await writeExport(folder, exported);
    assert.deepEqual(await readFile(join(written, 'reference-reproduction.patch')), bytesOf(patch));
    const row = await readFile(join(written, 'reference-reproduction.jsonl'), 'utf8');
    assert.equal(row.indexOf('\n'), row.length - 1, 'one line');
    assert.deepEqual(Object.keys(JSON.parse(row) as object), [
      'instance_id',
      'model_name_or_path',
      'model_patch',
    ]);
    const { predictions, problems } = await loadPredictions(
      join(written, 'reference-reproduction.jsonl'),
      [{ id: 'octo__cat-1' } as never],
      { problems: [], entries: [{ id: 'octo__cat-1' }] },
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(predictions, [
      { instanceId: 'octo__cat-1', model: 'reference-reproduction', patch },
    ]);
    assert.deepEqual((await readdir(folder)).length, 1, 'nothing half-written is left beside');
  });

  it('has no name of a success where there is none: folder, files, prediction and note', () => {
    const partly = candidateResult({ affected: { ran: 1, kept: 1 } });
    for (const result of [noSuccess(), partly]) {
      const exported = exportedFiles(reproduction(result));
      const all = [exported.folder, ...exported.files.map(({ name }) => name)];
      assert.ok(
        all.every((name) => name.includes('not-a-reproduction')),
        all.join(),
      );
      const text = exported.files.map(({ content }) => content.toString()).join('\n');
      assert.doesNotMatch(text, /reference-reproduction|Reference reproduction/);
      const row = JSON.parse(contentOf(exported, '.jsonl').toString()) as Record<string, string>;
      assert.equal(row['model_name_or_path'], 'not-a-reproduction');
      assert.match(contentOf(exported, '.md').toString(), /^# Not a reproduction of/);
    }
  });

  it('names the digest of the patch in the note', () => {
    const exported = exportedFiles(reproduction(candidateResult({ patch: 'abc' })));
    assert.match(
      contentOf(exported, '.md').toString(),
      /ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/,
    );
  });

  it('refuses what is no patch', () => {
    const result = candidateResult({
      patch: '',
      strict: ungraded('does not apply', 'a.py: no such file', false),
    });
    assert.throws(() => exportedFiles(reproduction(result)), HumanError);
  });

  it('replaces an older export, and nothing else', async () => {
    const older = exportedFiles(reproduction(candidateResult({ patch: 'older' })));
    const newer = exportedFiles(reproduction(candidateResult({ patch: 'newer' })));
    const place = join(folder, older.folder);
    assert.equal(await whatIsAt(place), 'nothing');
    await writeExport(folder, older);
    assert.equal(await whatIsAt(place), 'an export');
    await writeExport(folder, newer);
    assert.equal(await readFile(join(place, 'reference-reproduction.patch'), 'utf8'), 'newer');
    await writeFile(join(place, 'thoughts.txt'), 'mine');
    assert.equal(await whatIsAt(place), 'something else');
    await assert.rejects(writeExport(folder, older), HumanError);
    assert.equal(await readFile(join(place, 'reference-reproduction.patch'), 'utf8'), 'newer');
    assert.equal(await readFile(join(place, 'thoughts.txt'), 'utf8'), 'mine');
    assert.deepEqual(await readdir(folder), [older.folder]);
  });

  it('says what to do where it cannot be written', async () => {
    const exported = exportedFiles(reproduction(candidateResult()));
    await writeFile(join(folder, 'file'), '');
    await mkdir(join(folder, 'sub'));
    await assert.rejects(
      writeExport(join(folder, 'file'), exported),
      (error: unknown) =>
        error instanceof HumanError && /Choose another folder/.test(error.message),
    );
  });
});
