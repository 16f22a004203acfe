import assert from 'node:assert/strict';
import fc from 'fast-check';
import { zipEntries } from '../../../src/files/zip';
import { zipOf } from './madeUpZip';

describe('the files of a zip', () => {
  it('are those that were packed, whether stored or deflated', async () => {
    const file = fc.record({
      path: fc.stringMatching(/^[a-z/.é]{1,20}$/),
      content: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      isStored: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 5 }), async (files) => {
        const zip = zipOf(
          files.map(({ path, content, isStored }) => ({
            ...{ path, content },
            ...(isStored && { packed: { method: 0, bytes: content } }),
          })),
        );
        const read = zipEntries(zip);
        assert.deepEqual(
          read.map(({ path }) => path),
          files.map(({ path }) => path),
        );
        for (const [index, { content }] of read.entries()) {
          assert.deepEqual(await content(), files[index]?.content);
        }
      }),
    );
  });

  it('may be packed with Zstandard', async () => {
    const content = Buffer.from('{"id": "a"}'.repeat(20));
    const bytes = Buffer.from('KLUv/SDclQAAWHsiaWQiOiAiYSJ9AQBOU8UL', 'base64');
    const zip = zipOf([{ path: 'a.json', content, packed: { method: 93, bytes } }]);
    assert.deepEqual(await zipEntries(zip)[0]?.content(), content);
  });

  it('are damaged where they do not have the size that the table says', async () => {
    const content = Buffer.from('abcdef');
    const short = { method: 0, bytes: Buffer.from('abc') };
    const [entry] = zipEntries(zipOf([{ path: 'a', content, packed: short }]));
    await assert.rejects(entry?.content() ?? Promise.resolve(), /a is damaged/);
  });

  it('are none of a file that is cut off or no zip', () => {
    const zip = zipOf([{ path: 'a', content: Buffer.from('abcdef') }]);
    for (const bytes of [zip.subarray(0, zip.length - 30), Buffer.from('PK'), Buffer.alloc(0)]) {
      assert.throws(() => zipEntries(bytes), /not a zip file, or it is truncated/);
    }
  });
});
