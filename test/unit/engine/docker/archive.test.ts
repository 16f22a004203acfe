import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { extract } from 'tar-stream';
import { contentTime, tarOf } from '../../../../src/engine/docker/archive';

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
    const archive = extract();
    archive.on('entry', (header, stream, next) => {
      times.push((header.mtime?.getTime() ?? 0) / 1000);
      stream.on('end', next).resume();
    });
    const done = new Promise((resolve, reject) =>
      archive.once('finish', () => resolve(undefined)).once('error', reject),
    );
    Readable.from([tar]).pipe(archive);
    await done;
    assert.deepEqual(times, contents.map(contentTime));
    assert.notEqual(times[0], times[1]);
  });
});
