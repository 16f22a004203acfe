import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256, sha256OfFile, sha256OfJson } from '../../../src/files/digest';

/** The digest of `abc`, from FIPS 180-4. */
const ofAbc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

describe('SHA-256', () => {
  it('is written in hexadecimal digits', () => {
    assert.equal(sha256('abc'), ofAbc);
    assert.equal(sha256(Buffer.from('abc')), ofAbc);
  });

  it('takes parts as one, and text as UTF-8', () => {
    assert.equal(sha256('a', Buffer.from('b'), 'c'), ofAbc);
    assert.equal(sha256('R∘X*'), sha256(Buffer.from('R∘X*', 'utf8')));
  });

  it('of a value is that of its JSON', () => {
    assert.equal(sha256OfJson(['a', 1]), sha256('["a",1]'));
    assert.notEqual(sha256OfJson(['a', 'b']), sha256OfJson(['ab']));
  });

  it('of a file is that of its content', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sha256-'));
    try {
      await writeFile(join(folder, 'abc'), 'abc');
      await writeFile(join(folder, 'large'), 'x'.repeat(3_000_000));
      assert.equal(await sha256OfFile(join(folder, 'abc')), ofAbc);
      assert.equal(await sha256OfFile(join(folder, 'large')), sha256('x'.repeat(3_000_000)));
      await assert.rejects(sha256OfFile(join(folder, 'missing')), { code: 'ENOENT' });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
