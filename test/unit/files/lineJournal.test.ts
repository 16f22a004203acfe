import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLineJournal, wholeLines } from '../../../src/files/lineJournal';

describe('a journal of lines', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'line-journal-'));
    path = join(folder, 'journal.jsonl');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** The journal after one more line. */
  const after = async (line: string): Promise<string> => {
    const journal = await openLineJournal(path);
    await journal.append(line);
    await journal.close();
    return readFile(path, 'utf8');
  };

  it('is made where it is missing, and goes on where it is there', async () => {
    assert.equal(await after('a'), 'a\n');
    assert.equal(await after('b'), 'a\nb\n');
  });

  it('keeps the order of lines that are added at once, each of them whole', async () => {
    const journal = await openLineJournal(path);
    const lines = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(index * 100)}`);
    void Promise.all(lines.map((line) => journal.append(line)));
    await journal.close();
    assert.equal(await readFile(path, 'utf8'), lines.map((line) => `${line}\n`).join(''));
  });

  it('loses a torn last line, however long, and no more', async () => {
    for (const torn of ['torn', 'é'.repeat(40_000), 'x'.repeat(64 * 1024), 'y'.repeat(200_000)]) {
      await writeFile(path, `whole\n${torn}`);
      assert.equal(await after('next'), 'whole\nnext\n');
      await writeFile(path, torn);
      assert.equal(await after('next'), 'next\n');
    }
  });

  it('says what the system says when it cannot be opened', async () => {
    await assert.rejects(openLineJournal(join(folder, 'missing', 'journal')), { code: 'ENOENT' });
    await assert.rejects(openLineJournal(folder), { code: 'EISDIR' });
  });

  it('is read by whole lines with their numbers', () => {
    assert.deepEqual(wholeLines(''), []);
    assert.deepEqual(wholeLines('torn'), []);
    assert.deepEqual(wholeLines('a\n\n \nb\ntorn'), [
      { number: 1, line: 'a' },
      { number: 4, line: 'b' },
    ]);
  });
});
