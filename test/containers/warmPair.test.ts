import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { silent } from '../../src/domain/work';
import { SandboxUnusable, type Pair } from '../../src/engine/engine';
import { runStore } from '../../src/evaluation/testRun';
import { openSession } from '../../src/evaluation/session';
import { runCode } from '../contract/run';
import { candidate, onEachInContainers, onEngine } from '../contract/subjects';
import { loadParser } from '../unit/python/loadParser';

const work = { reporter: silent };

onEachInContainers(
  'a pair that nobody uses',
  (subject) => {
    it('is stopped, says why, and the next run opens another', async function () {
      const pair = await subject().place.openPair(work);
      while ((await subject().sandboxes()).length > 0) await sleep(100);
      for (const sandbox of [pair.base, pair.fixed]) {
        await assert.rejects(
          sandbox.load(''),
          (error: unknown) =>
            error instanceof SandboxUnusable &&
            /stopped after 0\.03 idle minutes/.test(error.message),
        );
      }
      await pair.dispose();

      const session = await openSession({
        instance: subject().instance,
        trees: subject().trees,
        engine: subject().engine,
        python: await loadParser(),
        store: runStore(await mkdtemp(join(subject().storage, 'runs-'))),
      });
      try {
        await session.warmUp(work);
        while ((await subject().sandboxes()).length > 0) await sleep(100);
        const set = { patch: candidate('pass'), files: ['tests/test_new.py'] };
        const { records } = await session.run(set, { ...work, timeoutSeconds: 60, reuse: false });
        assert.equal(records.base?.ending, 'exited');
        assert.equal(records.fixed?.trace.outcomes[0]?.outcome, 'passed');
      } finally {
        await session.dispose();
      }
    });
  },
  { idleMinutes: 0.03 },
);

onEngine('docker', 'a warm pair', (subject) => {
  let pair: Pair;
  before(async () => {
    pair = await subject().place.openPair(work);
  });
  after(() => pair.dispose());

  const version = async (): Promise<string> => {
    const { log } = await runCode(
      pair.base,
      'from importlib.metadata import version; print(version("cat"))',
    );
    return log.trim().split('\n').at(-1) ?? '';
  };

  it('installs the repository again when a patch touches what is built, and is given up afterwards', async () => {
    await pair.base.load('');
    const before = await version();
    await pair.base.load(`diff --git a/setup.py b/setup.py
--- a/setup.py
+++ b/setup.py
@@ -1,2 +1,2 @@
 from setuptools import setup
-setup(name="cat", version="1", py_modules=["cat"])
+setup(name="cat", version="77.1", py_modules=["cat"])
`);
    assert.equal(await version(), '77.1');
    // Its set-up program ran as root, so anything may have changed.
    await assert.rejects(pair.base.load(candidate('pass')), SandboxUnusable);
    await pair.dispose();
    pair = await subject().place.openPair(work);
    await pair.base.load(candidate('pass'));
    assert.equal(await version(), before);
  });

  it('does not install it for a change of Python files', async () => {
    await pair.base.load('');
    const { log } = await runCode(
      pair.base,
      'import os, glob; print(os.stat(glob.glob("*.egg-info")[0]).st_ctime_ns)',
    );
    await pair.base.load(candidate('pass'));
    const again = await runCode(
      pair.base,
      'import os, glob; print(os.stat(glob.glob("*.egg-info")[0]).st_ctime_ns)',
    );
    assert.equal(again.log, log);
  });
});

onEngine(
  'docker',
  'a pair that wants more memory than there is for two',
  (subject) => {
    it('runs one side after the other', async () => {
      const pair = await subject().place.openPair(work);
      try {
        const code = 'import time; a = time.time(); time.sleep(1); print(a, time.time())';
        const both = await Promise.all([runCode(pair.base, code), runCode(pair.fixed, code)]);
        const [one, other] = both
          .map(({ log }) => log.trim().split(' ').map(Number))
          .sort(([a = 0], [b = 0]) => a - b);
        assert.ok((one?.[1] ?? 0) <= (other?.[0] ?? 0), JSON.stringify([one, other]));
      } finally {
        await pair.dispose();
      }
    });
  },
  { memoryMb: 20_000 },
);
