import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  getDefaultEnvironment,
  StdioClientTransport,
} from '@modelcontextprotocol/sdk/client/stdio.js';
import { cli, root, sample } from '../commandLine/cli';
import { withOtherAnswer } from '../commandLine/otherAnswer';
import { bundledRow, prying, recordMcp, recordMethod } from '../commandLine/recordedSession';
import { platformsHere, type Platform } from './platforms';

/**
 * A test that searches every readable file for words of X* and T*. The words are reversed in it, so
 * that the candidate itself does not contain them.
 */
const looking = `diff --git a/tests/test_look.py b/tests/test_look.py
new file mode 100644
--- /dev/null
+++ b/tests/test_look.py
@@ -0,0 +1,22 @@
+import os
+import stat
+import unittest
+
+words = ["ssol_yb", "secnalab_tnuoma_yna_tset", "tsrif nwod gnidnuoR"]
+words = ["".join(reversed(word)).encode() for word in words]
+
+
+class LookTest(unittest.TestCase):
+    def test_look(self):
+        found, seen = [], 0
+        for folder, folders, names in os.walk("/"):
+            folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/dev")]
+            for name in names:
+                try:
+                    path = os.path.join(folder, name)
+                    content = open(path, "rb").read() if stat.S_ISREG(os.stat(path).st_mode) else b""
+                except OSError:
+                    continue
+                seen += b"def allocate" in content
+                found += [path for word in words if word in content]
+        self.fail("found %d, R %s: %s" % (len(found), seen > 0, " ".join(found)))
`;

/**
 * The body of a test that shows where it runs: names of images and environments are in what is mounted,
 * who made the files, and when. What is random in every run is left out.
 */
const surroundings = [
  'import hashlib, os, re, sys',
  "random = r'(?m)(?:upper|work)dir=[^, ]*|lowerdir=[^:]*|[0-9a-f-]{12,}|^\\d+ \\d+ \\S+'",
  "mounts = re.sub(random, '', open('/proc/self/mountinfo').read()).splitlines()",
  "print('mounted: %d' % len(mounts))",
  'for mount in mounts: print(mount[:60], hashlib.sha256(mount.encode()).hexdigest()[:8])',
  "print(open('/proc/1/cmdline').read()[:200], os.getuid(), sorted(os.listdir('/')))",
  "files = [os.stat(os.path.join(top, name)) for top, _, names in os.walk('tallybook') for name in names if name.endswith('.py')]",
  'print([(each.st_size, each.st_mode, each.st_uid, each.st_mtime) for each in files])',
  "self.fail('%r %r' % (sys.version, sys.path))",
];

for (const platform of platformsHere) declareOn(platform);

/** Declares the tests for one platform. */
function declareOn(platform: Platform): void {
  describe(`tests of a model in containers, ${platform.name} engine @full`, function () {
    const id = `tallybook__tallybook-${randomBytes(3).readUIntBE(0, 3)}`;
    let folder: string;
    let args: string[];
    before(async function () {
      await platform.need(this);
      folder = await mkdtemp(join(tmpdir(), 'swt-docker-answer-'));
      const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as object;
      const dataset = join(folder, 'instance.jsonl');
      await writeFile(dataset, JSON.stringify({ ...row, ...platform.row, instance_id: id }));
      args = [
        ...['--dataset', dataset, '--source', join(sample, 'repository')],
        ...['--storage', join(folder, 'storage'), '--engine', platform.name, '--prebuilt', 'none'],
        ...['--memory', '512m', ...platform.options],
      ];
    });
    after(async () => {
      if (folder === undefined) return;
      await platform.clean(id);
      await rm(folder, { recursive: true, force: true });
    });

    it('find nothing of the answer in any file', async () => {
      // R∘X*, T* and their runs exist: in the storage folder, and in the image's history.
      const gold = await cli(['evaluate', '--predictions', 'gold', '--json', ...args]);
      assert.equal(gold.status, 0, gold.stderr);
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [join(root, 'dist', 'cli.js'), 'mcp', '--id', id, ...args],
        cwd: root,
        // The client passes few variables on, and without this one there is no cluster.
        env: { ...getDefaultEnvironment(), ...platform.environment },
        stderr: 'pipe',
      });
      let log = '';
      transport.stderr?.on('data', (said: Buffer) => (log += said.toString()));
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport);
      const call = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
        const { content } = await client.callTool({ name, arguments: input }, undefined, {
          timeout: 240_000,
        });
        return (content as { text: string }[])[0]?.text ?? '';
      };
      try {
        assert.match(await call('apply_candidate', { patch: looking }), /LookTest::test_look/);
        const ran = await call('run_tests');
        // The answer to a model never says why tests cannot be run; the log does.
        assert.match(ran, /AssertionError: found 0, R True:\s*$/m, `${ran}\n${log}`);
      } finally {
        await client.close();
      }
    });

    it('receive the same of two instances that differ in their answers alone, to the byte', async () => {
      const bundled = { ...(await bundledRow()), ...platform.row, instance_id: id };
      const rows = [bundled, withOtherAnswer(bundled)];
      const datasets = rows.map((_, at) => join(folder, `answer ${at}.jsonl`));
      // The tests search for the datasets too; with this engine they must not find any.
      const bodies = [...prying(rows, datasets), surroundings];
      const received: string[][] = [];
      const asked: string[][] = [];
      for (const [at, row] of rows.entries()) {
        await writeFile(datasets[at] ?? '', JSON.stringify(row));
        const own = ['--dataset', datasets[at] ?? '', '--storage', join(folder, `storage ${at}`)];
        const session = [...args.slice(2), ...own];
        if (at === 0) {
          // What is stored of one answer, and not of the other, makes no difference either.
          const gold = await cli(['evaluate', '--predictions', 'gold', '--json', ...session]);
          assert.equal(gold.status, 0, gold.stderr);
        }
        received.push(await recordMcp(['--id', id, ...session], bodies));
        asked.push(
          await recordMethod('libro', session, bodies.slice(0, 5), join(folder, `${at}.out`)),
        );
      }
      assert.deepEqual(received[0], received[1]);
      assert.deepEqual(asked[0], asked[1]);
      const all = (received[0] ?? []).join('\n');
      assert.match(all, /by_loss = sorted/, 'a guess comes through whole');
      assert.match(all, /it is not there/, 'the dataset');
      assert.match(all, /mounted: \d+/, 'the surroundings');
      assert.ok(!all.includes(id), 'the id with the number of the pull request');
    });
  });
}
