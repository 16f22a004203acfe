import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli, sample, start, type Evaluation } from '../commandLine/cli';
import { baseImage, containersOf, needDocker, removeImagesOf } from './dockerForTests';

interface InContainers extends Evaluation {
  readonly engine: string;
  readonly environment: object | null;
  readonly results: (Evaluation['results'][number] & {
    readonly environment: null | Readonly<Record<string, string>>;
  })[];
}

/** A candidate that adds a test file in which the second test never ends. */
const endless = `diff --git a/tests/test_endless.py b/tests/test_endless.py
new file mode 100644
--- /dev/null
+++ b/tests/test_endless.py
@@ -0,0 +1,5 @@
+import unittest
+
+class EndlessTest(unittest.TestCase):
+    def test_endless(self):
+        while True: pass
`;

describe('the command line with containers', function () {
  const id = `tallybook__tallybook-${randomBytes(3).readUIntBE(0, 3)}`;
  let folder: string;
  let args: string[];

  before(async function () {
    await needDocker(this);
    folder = await mkdtemp(join(tmpdir(), 'swt-docker-cli-'));
    const named = async (name: string): Promise<string> => {
      const lines = (await readFile(join(sample, name), 'utf8')).trim().split('\n');
      const path = join(folder, name);
      const rows = lines.map((line) => ({ ...(JSON.parse(line) as object), instance_id: id }));
      await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      return path;
    };
    await named('predictions.jsonl');
    args = [
      ...['--dataset', await named('instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', join(folder, 'storage'), '--engine', 'docker', '--prebuilt', 'none'],
      ...['--base-image', baseImage, '--memory', '512m'],
    ];
  });
  after(async () => {
    if (folder === undefined) return;
    await removeImagesOf(id);
    await rm(folder, { recursive: true, force: true });
  });

  const predictions = (): string => join(folder, 'predictions.jsonl');

  it('gives every bundled candidate the verdict of the local engine, with its environment', async () => {
    const all = ['evaluate', '--predictions', predictions(), '--json'];
    const inContainers = await cli([...all, ...args]);
    assert.equal(inContainers.status, 0, inContainers.stderr);
    const document = JSON.parse(inContainers.stdout) as InContainers;
    const { results } = document;
    assert.equal(document.engine, 'docker');
    assert.equal(document.environment, null, 'every instance has its own');
    for (const { environment } of results) {
      assert.match(environment?.['python'] ?? '', /^3\.9\./);
      assert.ok(environment?.['image']);
      assert.match(environment?.['digest'] ?? '', /^[0-9a-f]{64}$/);
    }
    const { candidates } = JSON.parse(await readFile(join(sample, 'expected.json'), 'utf8')) as {
      candidates: Record<
        string,
        { change_coverage: { covered: number; executable: number } | null }
      >;
    };
    for (const { model_name_or_path: name, strict } of results) {
      const expected = candidates[name]?.change_coverage;
      if (expected === undefined || expected === null) continue; // it does not apply
      const found = strict?.change_coverage;
      assert.deepEqual(
        [found?.covered, found?.executable],
        [expected.covered, expected.executable],
        name,
      );
    }
    assert.deepEqual(await containersOf(id), [], 'nothing is left');
  });

  it('finds the instance sound', async () => {
    const { status, stdout, stderr } = await cli([
      'validate',
      id,
      '--repeat',
      '2',
      '--json',
      ...args,
    ]);
    assert.equal(status, 0, stderr);
    const document = JSON.parse(stdout) as {
      results: { sound: boolean; environment: Record<string, string> }[];
    };
    assert.equal(document.results[0]?.sound, true);
    assert.match(document.results[0]?.environment['python'] ?? '', /^3\.9\./);
    assert.deepEqual(await containersOf(id), []);
  });

  it('ends with status 130 on Ctrl-C in the middle of a run, and leaves no container', async () => {
    const file = join(folder, 'endless.jsonl');
    const prediction = { instance_id: id, model_name_or_path: 'endless', model_patch: endless };
    await writeFile(file, JSON.stringify(prediction));
    const { child, answer } = start(['evaluate', '--predictions', file, ...args]);
    await until(async () => (await containersOf(id)).length === 2);
    child.kill('SIGINT');
    const { status, stdout } = await answer;
    assert.equal(status, 130);
    assert.equal(stdout, '');
    assert.deepEqual(await containersOf(id), []);
  });

  it('removes at its next start what a killed one has left', async () => {
    const { child, answer } = start(['evaluate', '--predictions', 'gold', '--fresh', ...args]);
    await until(async () => (await containersOf(id)).length === 2);
    child.kill('SIGKILL');
    await answer;
    const again = await cli(['evaluate', '--predictions', 'gold', '--json', ...args]);
    assert.equal(again.status, 0, again.stderr);
    assert.equal((JSON.parse(again.stdout) as Evaluation).results[0]?.resolved, true);
    assert.deepEqual(await containersOf(id), []);
  });

  it('lists the image of the instance with its size, and removes it when asked', async () => {
    const storage = async (...more: string[]) => {
      const answer = await cli([
        'storage',
        '--storage',
        join(folder, 'storage'),
        '--json',
        ...more,
      ]);
      assert.equal(answer.status, 0, answer.stderr);
      const { images } = JSON.parse(answer.stdout) as {
        images: { total: number; images: { instance: string; repo: string; bytes: number }[] };
      };
      return images.images.filter((image) => image.instance === id);
    };
    const [image] = await storage();
    assert.equal(image?.repo, 'tallybook/tallybook');
    // It adds nothing to an image that it is made from where R of that one is the same.
    assert.ok(Number.isInteger(image?.bytes));
    assert.deepEqual(await storage('--free-images', id), []);
    const again = await cli(['storage', '--free-images', id, '--storage', folder]);
    assert.equal(again.status, 2);
    assert.match(again.stderr, new RegExp(`No images were built on this machine for ${id}`));
  });
});

/** Polls until the condition is true; the test's time limit ends a wait in vain. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}
