import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { mentionedFiles } from '../../../../src/method/agents/mentionedFiles';
import { repoMap } from '../../../../src/method/agents/repoMap';
import { repoTags, type RepoTags } from '../../../../src/method/agents/repoTags';
import { tokenCounter, type CountTokens } from '../../../../src/method/prompt/tokens';
import { viewForTests } from '../sampleView';

describe('the map of a repository', () => {
  const sample = viewForTests();
  let count: CountTokens;
  let tags: RepoTags;
  let paths: readonly string[];
  before(async () => {
    count = await tokenCounter();
    tags = await repoTags(sample.files());
    paths = await sample.files().paths();
  });

  const mapOf = (issue: string, budgetTokens: number, ...inChat: string[]): Promise<string> =>
    repoMap({ tags, paths, issue, inChat: new Set(inChat), budgetTokens, count });

  it('holds all files where there is room, methods below their classes', async () => {
    const map = await mapOf('', 16_000);
    for (const path of paths)
      assert.ok(
        map.split('\n').some((line) => line.startsWith(path)),
        path,
      );
    assert.match(
      map,
      /^tallybook\/money\.py:\n⋮\nclass Money:\n(?:⋮\n| {4}.*\n)* {4}def allocate/m,
    );
  });

  it('never has more tokens than its budget', async () => {
    const whole = count(await mapOf('', 16_000));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole + 50), fc.lorem(), async (budget, issue) => {
        assert.ok(count(await mapOf(issue, budget)) <= budget);
      }),
      { numRuns: 40 },
    );
  });

  it('prefers what the issue mentions, and is the same in each run', async () => {
    const budget = 60;
    assert.match(await mapOf('allocate() loses a cent', budget), /def allocate/);
    assert.doesNotMatch(await mapOf('', budget), /def allocate/);
    assert.equal(await mapOf('allocate', 200), await mapOf('allocate', 200));
  });

  it('leaves out files that the model sees whole', async () => {
    assert.doesNotMatch(await mapOf('', 16_000, 'tallybook/money.py'), /^tallybook\/money\.py/m);
  });

  it('ranks a file that many others call before one that nobody calls', async () => {
    const file = (path: string, name: string, ...called: string[]): RepoTags[number] => ({
      path,
      definitions: [{ name, line: 1, header: `def ${name}():` }],
      calls: called.map((each) => [each, 1]),
    });
    const made = [
      file('a.py', 'lonely', 'loved'),
      file('b.py', 'other', 'loved', 'other'),
      file('c.py', 'loved'),
    ];
    const map = (budgetTokens: number): Promise<string> =>
      repoMap({
        ...{ tags: made, issue: '', inChat: new Set(), budgetTokens, count },
        paths: ['a.py', 'b.py', 'c.py'],
      });
    assert.equal(await map(14), 'c.py:\ndef loved():\n⋮');
    assert.equal(await map(1000), 'a.py\nb.py:\ndef other():\n⋮\nc.py:\ndef loved():\n⋮');
  });

  it('is made of tags that are kept for the tree', async () => {
    const [instance = ''] = await readdir(join(sample.storage, 'instances'));
    const folder = join(sample.storage, 'instances', instance, 'runs', 'retrieval');
    assert.match((await readdir(folder)).join(), /-tags-1\.json\.gz/);
    const files = sample.files();
    const unread = Object.create(files.tree, {
      read: { value: () => Promise.reject(new Error('a kept tree is not read')) },
    }) as typeof files.tree;
    const again = Object.create(files, { tree: { value: unread } }) as typeof files;
    assert.deepEqual(await repoTags(again), tags);
  });
});

describe('files that a text mentions', () => {
  const paths = ['README', 'a/cat.py', 'a/dog.py', 'b/dog.py', 'b/notes'];

  it('are named by their path, or by a name that one file has and that is no plain word', () => {
    const mentioned = (text: string): string => mentionedFiles(text, paths).join(' ');
    assert.equal(mentioned('See `a/dog.py`, and (cat.py).'), 'a/cat.py a/dog.py');
    assert.equal(mentioned('the notes of dog.py say "README".'), 'README');
    assert.equal(mentioned('README:\n**b/dog.py**'), 'README b/dog.py');
    assert.equal(mentioned('/usr/lib/a/cat.py xa/cat.py cat.pyc'), '');
  });

  it('are files of the tree, for any text', () => {
    const word = fc.constantFrom(...paths, '`', '"', ',', ' ', '\n', '../', 'cat.py');
    fc.assert(
      fc.property(fc.array(word), (words) => {
        for (const path of mentionedFiles(words.join(''), paths)) assert.ok(paths.includes(path));
      }),
    );
  });
});
