import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedTokens } from '../../../src/editor/generate/estimatedCost';

describe('the estimate of what becomes vectors', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    await mkdir(join(folder, 'tests'));
    await writeFile(join(folder, 'a.py'), 'x'.repeat(4000));
    await writeFile(join(folder, 'README.md'), 'x'.repeat(4000));
    await writeFile(join(folder, 'tests', 'test_a.py'), 'x'.repeat(4000));
  });
  after(() => rm(folder, { recursive: true }));

  it('is that of the code without tests, also of what chunks share', async () => {
    const paths = ['README.md', 'a.py', 'gone.py', 'tests/test_a.py'];
    const of = (chunkTokens: number, chunkOverlap: number) =>
      embeddedTokens(folder, paths, { chunkTokens, chunkOverlap });
    assert.equal(await of(512, 0), 1000);
    assert.equal(await of(500, 250), 2000);
    assert.equal(await of(10, 90), 10_000, 'chunks move on by a token at least');
  });
});
