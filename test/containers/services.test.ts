import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { environments } from '../../src/environments/environments';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import type { Engine, Pair, RunRecord, Sandbox } from '../../src/engine/engine';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import { prepareTrees } from '../../src/repository/trees';
import { planOf } from '../contract/run';
import { needDocker, removeImagesOf, testSettings } from './dockerForTests';

const id = `psf__requests-9${randomBytes(4).readUInt32LE(0)}`;

const goldenPatch = `diff --git a/cat.py b/cat.py
--- a/cat.py
+++ b/cat.py
@@ -1 +1 @@
-number = 1
+number = 2
`;

/** Asks httpbin, also in the way that only gunicorn and no TLS answers. */
const asking = `
import json, os, ssl, urllib.request
url = os.environ["HTTPBIN_URL"]
said = json.load(urllib.request.urlopen(url + "get?a=b", timeout=60))["args"]["a"]
plain = {"Content-Type": "text/plain"}
sent = urllib.request.Request(url + "post", (each for each in [b"x", b"y"]), plain, method="POST")
said += json.load(urllib.request.urlopen(sent, timeout=60))["data"]
try:
    urllib.request.urlopen(url.replace("http:", "https:"), timeout=60)
except OSError as error:
    said += " refused" if "timed out" not in str(error) else " hung"
print(said)
`;

const listening = `
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
    print("listening")
except OSError:
    print("silent")
`;

for (const name of ['docker', 'local'] as const) {
  describe(`services of tests on the ${name} engine`, () => {
    let folder: string;
    let engine: Engine | undefined;
    let pair: Pair | undefined;

    before(async function () {
      if (name === 'docker') await needDocker(this, ['3.9']);
      folder = await mkdtemp(join(tmpdir(), 'swt-bench-services-'));
    });

    after(async () => {
      await pair?.dispose();
      await engine?.dispose();
      if (name === 'docker') await removeImagesOf(id);
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    });

    const run = (sandbox: Sandbox, services: readonly 'httpbin'[], ...args: string[]) =>
      sandbox.run({
        plan: { ...planOf(...args), services },
        ...{ countLines: new Map(), timeoutSeconds: 300 },
      });

    it('answer on both sides, and end with the run @full', async () => {
      const storage = join(folder, 'storage');
      const source = join(folder, 'source');
      await mkdir(source);
      const setup = 'from setuptools import setup\nsetup(name="cat", py_modules=["cat"])\n';
      await writeFile(join(source, 'setup.py'), setup);
      await writeFile(join(source, 'cat.py'), 'number = 1\n');
      const instance: Instance = {
        ...{ id, repo: 'psf/requests', baseCommit: 'a'.repeat(40), version: '9.9' },
        ...{ issue: 'It is 1', hints: '', createdAt: '2023-06-01T00:00:00Z' },
        ...{ goldenPatch, goldenTests: '', failToPass: undefined, passToPass: undefined },
      };
      const from = { kind: 'snapshot', from: source } as const;
      const trees = await prepareTrees(instance, from, storage, { reporter: silent });
      const assets = resolve('src/engine');
      engine = await openEngine({
        engines,
        environments,
        name,
        storage,
        assets,
        values: { docker: testSettings() },
      });
      const place = await engine.prepare(instance, trees, { reporter: silent });
      pair = await place.openPair({ reporter: silent });
      const records: RunRecord[] = await Promise.all(
        [pair.base, pair.fixed].map(async (sandbox) => {
          await sandbox.load('');
          return run(sandbox, ['httpbin'], '-c', `${asking}\nprint(url)`);
        }),
      );
      for (const { log, remarks } of records) {
        assert.deepEqual(remarks ?? [], [], log);
        assert.match(log, /^bxy refused$/m);
        const port = /127\.0\.0\.1:(\d+)/.exec(log)?.[1] ?? '';
        const after = await run(pair.base, [], '-c', listening, port);
        assert.match(after.log, /^silent$/m);
      }
    });
  });
}
