import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { sides, type Side } from '../../src/domain/outcome';
import { Cancelled, silent } from '../../src/domain/work';
import type { Engine } from '../../src/engine/engine';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { loadParser } from '../unit/python/loadParser';
import { ask, processesWith, runCode } from './run';
import { candidate, onEachEngine, secret } from './subjects';

const options = { timeoutSeconds: 60, reporter: silent, reuse: false };

onEachEngine('a session', (subject) => {
  const open = async (
    engine: Engine = subject().engine,
    opened: readonly Side[] = sides,
  ): Promise<InstanceSession> =>
    openSession({
      instance: subject().instance,
      trees: subject().trees,
      engine,
      python: await loadParser(),
      store: runStore(await mkdtemp(join(subject().storage, 'runs-'))),
      sides: opened,
    });
  const during = async <T>(work: (session: InstanceSession) => Promise<T>): Promise<T> => {
    const session = await open();
    try {
      return await work(session);
    } finally {
      await session.dispose();
    }
  };
  const outcomes = async (
    session: InstanceSession,
    body: string,
    signal?: AbortSignal,
  ): Promise<string> => {
    const set = { patch: candidate(body), files: ['tests/test_new.py'] };
    const { records } = await session.run(set, { ...options, signal });
    return sides
      .map((side) => records[side]?.trace.outcomes.map(({ outcome }) => outcome).join('+'))
      .join(' ');
  };
  afterEach(async () => {
    assert.deepEqual(await subject().sandboxes(), []);
  });

  it('grades candidates', async () => {
    const graded: string[] = [];
    await during(async (session) => {
      for (const body of [
        'self.assertEqual(purr(), 2)',
        'self.assertEqual(purr(), 1)',
        'self.assertIn(purr(), (1, 2))',
        'self.assertEqual(purr(), 3)',
      ]) {
        const result = await evaluateCandidate(
          session,
          { model: 'contract', text: candidate(body), format: 'unified', mode: 'unit-test' },
          options,
        );
        assert.deepEqual(result.diagnostics, []);
        const { covered, executable } = result.changeCoverage ?? {};
        graded.push(
          `${result.tests.map(({ transition }) => transition).join()} ${covered}/${executable}`,
        );
      }
    });
    assert.deepEqual(graded, ['F→P 2/2', 'P→F 2/2', 'P→P 2/2', 'F→F 2/2']);
  });

  it('refuses a candidate that does not apply, and grades the next one', async () => {
    await during(async (session) => {
      const patch = candidate('pass').replace(
        'new file mode 100644\n--- /dev/null',
        '--- a/cat.py',
      );
      await assert.rejects(session.run({ patch, files: ['tests/test_new.py'] }, options));
      assert.equal(await outcomes(session, 'self.assertEqual(purr(), 2)'), 'failed passed');
    });
  });

  it('runs again after it was cancelled at any moment', async () => {
    await during(async (session) => {
      await outcomes(session, 'pass');
      for (let delay = 0; delay < 400; delay += 40) {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), delay);
        await outcomes(session, 'pass', controller.signal).catch((error: unknown) =>
          assert.ok(error instanceof Cancelled, String(error)),
        );
        if (delay % 120 === 0) assert.equal(await outcomes(session, 'pass'), 'passed passed');
      }
      assert.equal(await outcomes(session, 'pass'), 'passed passed');
    });
  });

  it('does not see the other one of the same instance', async () => {
    const bodies = ['self.assertEqual(purr(), 2)', 'open("left", "w").write("x")'];
    await during((one) =>
      during(async (other) => {
        for (const again of [1, 2]) {
          const found = await Promise.all([
            outcomes(one, bodies[0] ?? ''),
            outcomes(other, bodies[1] ?? ''),
          ]);
          assert.deepEqual(found, ['failed passed', 'passed passed'], `time ${again}`);
        }
      }),
    );
  });

  it('lets R know nothing of the fix, in files, names or the repository', async () => {
    const place = subject().place;
    const pair = await place.openPair({ reporter: silent });
    try {
      // With the local engine, other files belong to the user, and tests may read them.
      const top = subject().name === 'local' ? '.' : '/';
      const look = `
import json, os, subprocess
word = ${JSON.stringify([...secret].reverse().join(''))}[::-1].encode()
own = ("/proc", "/sys", "/dev", "/usr/lib", "/usr/share", "/usr/bin")
found, read = [], 0
for folder, folders, names in os.walk(${JSON.stringify(top)}):
    if folder in own:
        del folders[:]
        continue
    for name in names + folders:
        path = os.path.join(folder, name)
        if word in os.fsencode(name): found.append(path)
        try:
            if os.path.isfile(path) and os.path.getsize(path) < 1 << 22:
                read += 1
                with open(path, "rb") as file:
                    if word in file.read(): found.append(path)
        except OSError: pass
objects = subprocess.run(["git", "cat-file", "--batch-all-objects", "--batch"], stdout=-1, check=True).stdout
if word in objects: found.append("an object of the repository")
if any(word in key.encode() + os.fsencode(value) for key, value in os.environ.items()): found.append("a variable")
print(json.dumps([found, read > 5]))`;
      await Promise.all(sides.map((side) => pair[side].load(candidate('pass'))));
      const [[found, hasRead], [inFixed]] = await Promise.all([
        ask<[string[], boolean]>(pair.base, look),
        ask<[string[], boolean]>(pair.fixed, look),
      ]);
      assert.deepEqual(found, []);
      assert.ok(hasRead);
      assert.ok(
        inFixed.some((path) => path.endsWith('cat.py')),
        'the search finds what is there',
      );
    } finally {
      await pair.dispose();
    }
  });

  it('opens a sandbox of R alone where nothing else is run', async () => {
    const { place } = subject();
    const one = await place.openPair({ reporter: silent }, ['base']);
    const [few, many] = subject().name === 'local' ? [1, 1] : [1, 2];
    assert.equal((await subject().sandboxes()).length, few);
    assert.deepEqual(Object.keys(one).sort(), ['base', 'dispose']);
    assert.equal((await runCode(one.base, 'print(1)')).log, '1\n');
    await one.dispose();
    const both = await place.openPair({ reporter: silent });
    assert.equal((await subject().sandboxes()).length, many);
    await both.dispose();

    const session = await open(subject().engine, ['base']);
    try {
      const set = { patch: candidate('pass'), files: ['tests/test_new.py'] };
      const { records } = await session.run(set, options);
      assert.deepEqual(Object.keys(records), ['base']);
      assert.equal(records.base?.trace.outcomes[0]?.outcome, 'passed');
      await assert.rejects(session.run(set, { ...options, sides }), /no sandbox for fixed/);
    } finally {
      await session.dispose();
    }
  });

  it('leaves nothing when pairs are opened and closed, or their opening is cancelled', async () => {
    const { place } = subject();
    const pair = await place.openPair({ reporter: silent });
    assert.equal((await subject().sandboxes()).length > 0, true);
    await pair.dispose();
    await pair.dispose();
    for (const delay of [0, 20, 100, 300]) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), delay);
      await place.openPair({ reporter: silent, signal: controller.signal }).then(
        (opened) => opened.dispose(),
        (error: unknown) => assert.ok(error instanceof Cancelled, String(error)),
      );
      assert.deepEqual(await subject().sandboxes(), [], `after ${delay} ms`);
    }
  });

  it('leaves nothing when it ends while tests run', async () => {
    const mark = 'disposed_in_the_contract';
    const script = `import subprocess, sys; print("started", flush=True); subprocess.call([sys.executable, "-c", "import time; time.sleep(600) # ${mark}"])`;
    const session = await open();
    const started = new Promise<void>((resolve) => {
      const text = candidate('pass').replace(/^\+import unittest$/m, `+${script}`);
      const set = { patch: text, files: ['tests/test_new.py'], script: true };
      const controller = new AbortController();
      session
        .run(set, {
          ...options,
          signal: controller.signal,
          onOutput: (_side, text) => {
            if (!text.includes('started')) return;
            controller.abort();
            resolve();
          },
        })
        .catch((error: unknown) => assert.ok(error instanceof Cancelled, String(error)))
        .finally(resolve);
    });
    await started;
    await session.dispose();
    assert.deepEqual(await subject().sandboxes(), []);
    const pair = await subject().place.openPair({ reporter: silent });
    try {
      assert.deepEqual(await processesWith(pair.base, mark), []);
    } finally {
      await pair.dispose();
    }
  });

  it('is over when its engine is', async () => {
    const engine = await subject().open();
    const place = await engine.prepare(subject().instance, subject().trees, { reporter: silent });
    const pair = await place.openPair({ reporter: silent });
    assert.equal((await runCode(pair.base, 'print(1)')).log, '1\n');
    await engine.dispose();
    assert.deepEqual(await subject().sandboxes(), []);
    await assert.rejects(place.openPair({ reporter: silent }), Cancelled);
    await pair.dispose();
  });
});
