import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environments } from '../../src/environments/environments';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import { prepareTrees } from '../../src/repository/trees';
import { runCode } from '../contract/run';
import { baseImage, needDocker, removeImagesOf, testSettings } from './dockerForTests';

const work = { reporter: silent };

describe('a sandbox with Python 3.6, whose image sets no locale @full', () => {
  let folder: string;
  const id = `tiny${randomBytes(4).toString('hex')}__project-1`;

  before(async function () {
    await needDocker(this, ['3.6']);
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-names-'));
  });
  after(async () => {
    await removeImagesOf(id);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('has files with any names, and tests get the locale of the image', async () => {
    const source = join(folder, 'source');
    await mkdir(source);
    for (const name of ['⊗.txt', 'a.py']) await writeFile(join(source, name), 'x = 1\n');
    const instance: Instance = {
      ...{ id, repo: 'tiny/project', baseCommit: 'a'.repeat(40), version: '1.0', createdAt: '' },
      ...{ issue: 'x is 1', hints: '', goldenTests: '', failToPass: undefined },
      passToPass: undefined,
      goldenPatch:
        'diff --git a/⊗.txt b/⊗.txt\n--- a/⊗.txt\n+++ b/⊗.txt\n@@ -1 +1 @@\n-x = 1\n+x = 2\n',
      environment: { image: baseImage.replace('{python}', '3.6') },
    };
    const storage = join(folder, 'storage');
    const from = { kind: 'snapshot', from: source } as const;
    const trees = await prepareTrees(instance, from, storage, work);
    const engine = await openEngine({
      engines,
      environments,
      ...{ name: 'docker', storage, values: { docker: testSettings() } },
      assets: join(__dirname, '..', '..', 'dist'),
    });
    try {
      const place = await engine.prepare(instance, trees, work);
      const pair = await place.openPair(work);
      try {
        const code =
          'import os; print(sorted(os.listdir(b".")), os.environ.get("LC_ALL"), os.environ.get("SWT_AGENT_LOCALE"))';
        const { log } = await runCode(pair.base, code);
        assert.match(log, /b'\\xe2\\x8a\\x97\.txt'.* None None/);
      } finally {
        await pair.dispose();
      }
    } finally {
      await engine.dispose();
    }
  });
});
