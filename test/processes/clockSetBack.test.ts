import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { watchEnvironment } from '../../src/engine/local/environmentWatch';
import { bareEnvironment, sitePackagesOf } from '../environments';

describe('the environment of the local engine', () => {
  it('is not changed unseen by tests during which the clock is set back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'clock-test-'));
    const { now } = Date;
    // The clock was an hour fast when the watch began.
    Date.now = () => now() + 3_600_000;
    try {
      const python = join(bareEnvironment(folder), 'bin', 'python');
      const watch = await watchEnvironment(python, resolve('src/engine/tracer'), folder);
      const run = async (): Promise<void> => {
        Date.now = now;
        await writeFile(join(sitePackagesOf(python), 'poison.py'), 'x = 1\n');
      };
      await assert.rejects(watch.during(folder, run), /poison\.py/);
      watch.dispose();
    } finally {
      Date.now = now;
      await rm(folder, { recursive: true });
    }
  });
});
