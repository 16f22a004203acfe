import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CompiledFiles,
  type CompiledFile,
} from '../../../../src/engine/docker/images/build/compiledFiles';
import { digestOfTelling } from '../../../../src/engine/docker/images/resolvedRequirements';

describe('a further instance of a known version', () => {
  let storage: string;
  let said: string[];
  beforeEach(async () => {
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-further-'));
    said = [];
  });
  afterEach(() => rm(storage, { recursive: true, force: true }));

  const filesOf = (...identity: string[]): CompiledFiles =>
    new CompiledFiles(storage, identity, (line) => said.push(line));
  const compiled = (source: string, id: string, text: string): CompiledFile => ({
    ...{ source, id, path: source.replace(/\.py$/, '.cpython-39.pyc') },
    content: Buffer.from(text),
  });
  const packs = async (): Promise<string[]> =>
    (await readdir(join(storage, 'images', 'compiled'))).map((name) =>
      join(storage, 'images', 'compiled', name),
    );

  it('takes the compiled files of sources with the same content, out of all packs', async () => {
    const [one, two] = [compiled('a.py', 'aa', 'A\n'), compiled('b/é.py', 'bb', '{}\nB')];
    await filesOf('x').keep([one, compiled('c.py', 'cc', '')]);
    await filesOf('x').keep([two]);
    const asked = new Map([
      ['a.py', 'aa'],
      ['b/é.py', 'bb'],
      ['c.py', 'other'],
      ['__proto__', 'aa'],
    ]);
    const found = await filesOf('x').find(asked);
    assert.deepEqual([found.get('a.py'), found.get('b/é.py'), found.size], [one, two, 2]);
    assert.equal((await filesOf('y').find(asked)).size, 0, 'of another version');
    assert.deepEqual(said, []);
  });

  it('throws away a pack with other bytes than were kept, and no other', async () => {
    const [one, two] = [compiled('a.py', 'aa', 'first'), compiled('b.py', 'bb', 'second')];
    await filesOf('x').keep([one]);
    const [first = ''] = await packs();
    await filesOf('x').keep([two]);
    const bytes = await readFile(first);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    await writeFile(first, bytes);
    const asked = new Map([
      ['a.py', 'aa'],
      ['b.py', 'bb'],
    ]);
    assert.deepEqual([...(await filesOf('x').find(asked)).values()], [two]);
    assert.equal(said.length, 1);
    assert.equal((await packs()).length, 1);
    for (const damage of ['', 'x'.repeat(2000), '{"a":1}\n']) {
      const [left = ''] = await packs();
      await writeFile(left, damage);
      assert.equal((await filesOf('x').find(asked)).size, 0);
      assert.deepEqual(await packs(), []);
      await filesOf('x').keep([two]);
    }
  });

  it('is resolved again only for a file that may state requirements', () => {
    const digest = (files: Readonly<Record<string, string>>): string =>
      digestOfTelling(
        new Map(Object.entries(files).map(([path, id]) => [path, { mode: '100644', id }])),
      );
    const tree = {
      ...{ 'setup.py': '1', 'README.md': '1', '.mailmap': '1', 'requirements/tests.txt': '1' },
      ...{ 'src/pkg/__init__.py': '1', 'pkg/deep/__init__.py': '1', 'pkg/a.py': '1' },
      ...{ VERSION: '1', 'tests/test_a.py': '1' },
    };
    const before = digest(tree);
    const changed = Object.keys(tree).filter((path) => digest({ ...tree, [path]: '2' }) !== before);
    assert.deepEqual(changed, [
      'setup.py',
      'requirements/tests.txt',
      'src/pkg/__init__.py',
      'VERSION',
    ]);
    const { 'README.md': readme, ...without } = tree;
    assert.ok(readme);
    assert.notEqual(digest(without), before, 'set-up programs read it');
  });
});
