import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(__dirname, '..', '..', '..', 'src');
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(ts|py)$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
const holding = (pattern: RegExp): string[] =>
  files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8'))).sort();

describe('durations and limits of time', () => {
  // A machine's clock is set back and forth: by a person, by a time server, after a sleep.
  it('in Python, are measured by a clock that is never set', () => {
    assert.deepEqual(holding(/\btime\.time\(\)/), []);
  });

  it('are measured by `performance.now()`, where nothing outside has a time of its own', () => {
    assert.deepEqual(holding(/\bDate\.now\b/), [
      // Times of files.
      'editor/shell/readOnlyFiles.ts',
      // Times of containers and volumes, which engines keep.
      'engine/docker/sandbox/abandonedContainers.ts',
      'engine/docker/sandbox/programVolume.ts',
      'engine/kubernetes/abandonedPods.ts',
      // Times of files.
      'engine/local/environmentWatch.ts',
      'engine/local/localEngine.ts',
      // Times of images and cache entries, which engines and disks keep.
      'environments/image/further/compilerCache.ts',
      'environments/image/imageRecords.ts',
      // Times in the headers of an answer.
      'method/modelProxy/modelProxy.ts',
      'method/models/answering.ts',
      'method/models/embeddingModel.ts',
      'method/models/retrying.ts',
      'method/models/serverError.ts',
      // Times of files.
      'repository/lock.ts',
    ]);
  });
});
