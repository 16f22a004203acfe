import assert from 'node:assert/strict';
import fc from 'fast-check';
import { list } from 'tar';
import { contentTime, filesInTar, tarOf } from '../../../../src/engine/sandbox/archive';

/** Zip files hold no time before this one, in seconds since 1970. */
const firstOfZip = Date.UTC(1980, 0, 2) / 1000;
const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));

describe('times of files in a container', () => {
  it('are such that a zip file, and so a wheel, can hold them, and in the past', () => {
    fc.assert(
      fc.property(bytes, (content) => {
        assert.ok(contentTime(content) >= firstOfZip);
        assert.ok(contentTime(content) < Date.UTC(2020, 0, 1) / 1000);
      }),
    );
  });

  it('are those of the content', async () => {
    const contents = ['a = 1\n', 'a = 2\n', 'a = 1\n'].map((text) => Buffer.from(text));
    const tar = await tarOf(contents.map((content, at) => ({ path: `${at}.py`, content })));
    const times: number[] = [];
    const archive = list({
      onReadEntry: (entry) => times.push((entry.mtime?.getTime() ?? 0) / 1000),
    });
    const done = new Promise((resolve, reject) =>
      archive.once('end', () => resolve(undefined)).once('error', reject),
    );
    archive.end(tar);
    await done;
    assert.deepEqual(times, contents.map(contentTime));
    assert.notEqual(times[0], times[1]);
  });
});

describe('a tar of files', () => {
  const names = fc.uniqueArray(
    fc
      .stringMatching(/^[\wäß€😀 -]{1,90}(\/[\wäß€😀 -]{1,90}){0,3}$/u)
      .filter((name) => !/(^|\/) | (\/|$)/.test(name)),
    { maxLength: 4 },
  );

  it('gives back every name and content, however long the name', async () => {
    await fc.assert(
      fc.asyncProperty(
        names,
        fc.array(fc.uint8Array({ maxLength: 1200 }), { minLength: 4, maxLength: 4 }),
        async (paths, contents) => {
          const files = paths.map((path, at) => ({
            path,
            content: Buffer.from(contents[at] ?? []),
          }));
          assert.deepEqual(await filesInTar(await tarOf(files)), files);
        },
      ),
    );
  });

  it('may hold nothing, however it is padded', async () => {
    assert.deepEqual(await filesInTar(await tarOf([])), []);
    assert.deepEqual(await filesInTar(Buffer.alloc(10_240)), []);
  });

  it('is refused when it is cut off', async () => {
    const tar = await tarOf([{ path: 'a.py', content: Buffer.alloc(2000, 'a') }]);
    await assert.rejects(filesInTar(tar.subarray(0, 1200)), /TAR_BAD_ARCHIVE|Truncated/);
  });
});
