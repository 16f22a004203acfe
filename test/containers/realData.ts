import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { root } from '../commandLine/cli';
import { baseImage, needDocker, removeImagesOf } from './dockerForTests';
import { skipSuite } from './skipping';

/** The real instances; the variable SWT_BENCH_DATA names another file. */
export const data =
  process.env['SWT_BENCH_DATA'] ??
  resolve(root, '..', 'shared', 'data', 'swe-bench-lite.dev.jsonl');

/**
 * A storage folder for the tests of a suite on real instances. Skips the suite, with the cause,
 * where there are no engine, base images or dataset. Removes folder and images after it.
 */
export function storageOfSuite(ids: readonly string[]): { readonly path: string } {
  const storage = { path: '' };
  before(async function () {
    await needDocker(this, ['3.9', '3.11']);
    if (!existsSync(data)) skipSuite(this, `no dataset at ${data} (set SWT_BENCH_DATA)`);
    storage.path = await mkdtemp(join(tmpdir(), 'swt-bench-real-'));
  });
  after(async () => {
    if (storage.path === '') return;
    for (const id of ids) await removeImagesOf(id);
    await rm(storage.path, { recursive: true, force: true });
  });
  return storage;
}

/** Options that take an instance from its source release and run its tests in containers. */
export const onRelease = (
  id: string,
  archive: string,
  storage: string,
  dataset = data,
): string[] => [
  ...['--dataset', dataset, '--ids', id, '--source', archive, '--storage', storage],
  ...['--engine', 'docker', '--base-image', baseImage, '--prebuilt', ''],
];
