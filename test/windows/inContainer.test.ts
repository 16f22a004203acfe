import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as vscode from 'vscode';
import { openDataset } from '../../src/dataset/dataset';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import { InstanceOrigin, storeInstance } from '../../src/editor/instance/instanceOrigin';
import { WorkspaceRepository } from '../../src/repository/workspaceRepository';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';

/** Storage that a window in a container shares with the one outside, unlike files. */
function secretStorage(): vscode.SecretStorage {
  const kept = new Map<string, string>();
  return {
    get: (key: string) => Promise.resolve(kept.get(key)),
    store: (key: string, value: string) => {
      kept.set(key, value);
      return Promise.resolve();
    },
  } as unknown as vscode.SecretStorage;
}

describe('a workspace whose dataset and sources are elsewhere, as in a container', () => {
  let folder: string;
  let instance: Instance;
  const marker = {
    format: 1,
    id: 'tallybook__tallybook-217',
    dataset: '/elsewhere/dataset.jsonl',
    sources: ['/elsewhere/repository'],
  } as const;
  const origin = (secrets: vscode.SecretStorage): InstanceOrigin =>
    new InstanceOrigin(
      { secrets, extensionPath: '/elsewhere' } as unknown as vscode.ExtensionContext,
      marker,
      new WorkspaceRepository(folder, `${folder}-repository`),
      silent,
    );

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-inside-'));
    // Like a workspace: R in one commit, the marker, and the author's changes.
    execFileSync('cp', ['-r', `${join(sample, 'repository')}/.`, folder]);
    const git = (...args: string[]): void => {
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
        cwd: folder,
      });
    };
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '-m', 'R');
    git('update-ref', 'refs/swt-bench/R', 'HEAD');
    await mkdir(join(folder, 'tests'), { recursive: true });
    await writeFile(join(folder, 'tallybook', 'money.py'), '# edited\n');
    const path = join(sample, 'instance.jsonl');
    const dataset = await openDataset(path, { storage: folder, reporter: silent });
    instance = (await dataset.read([marker.id]))[0] as Instance;
  });
  after(async () => {
    for (const each of [folder, `${folder}-repository`]) await rm(each, { recursive: true });
  });

  it('has its row from where it was kept, and both trees from its own R', async () => {
    const secrets = secretStorage();
    const source = { kind: 'snapshot', from: '/elsewhere/repository' } as const;
    await storeInstance(secrets, instance, source);
    const inside = origin(secrets);
    assert.deepEqual(await inside.instance(), instance);
    const trees = await inside.trees();
    assert.deepEqual(trees.source, source, 'R is what it was made of');
    const money = (side: 'base' | 'fixed'): Promise<string> =>
      readFile(join(trees[side], 'tallybook', 'money.py'), 'utf8');
    assert.equal(
      await money('base'),
      await readFile(join(sample, 'repository', 'tallybook', 'money.py'), 'utf8'),
    );
    assert.notEqual(await money('fixed'), await money('base'));
    assert.ok(!trees.fixed.startsWith(folder), 'R∘X* is not in the workspace');
  });

  it('says that the row is not there when nobody kept it', async () => {
    await assert.rejects(origin(secretStorage()).instance(), /\/elsewhere\/dataset\.jsonl/);
  });
});
