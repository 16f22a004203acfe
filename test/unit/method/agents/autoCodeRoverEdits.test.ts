import assert from 'node:assert/strict';
import { before } from 'mocha';
import fc from 'fast-check';
import { snippetEditsOf, makeSnippetEdits } from '../../../../src/method/agents/autoCodeRoverEdits';
import type { FilesOnR } from '../../../../src/method/agents/filesOnR';
import type { PythonParser } from '../../../../src/python/parser';
import { assertLinear } from '../../../scannedCharacters';
import { loadParser } from '../../python/loadParser';
import { filesInMemory } from './filesInMemory';

const answer = (path: string, original: string, patched: string): string =>
  `<file>${path}</file>\n<original>\n${original}\n</original>\n\n<patched>\n${patched}\n</patched>\n`;

const cat = `class Cat:
    def purr(self):
        return 1

    def meow(self):
        return 2
`;

describe('the edits of AutoCodeRover', () => {
  let python: PythonParser;
  before(async () => (python = await loadParser()));

  const filesOf = (texts: Readonly<Record<string, string>>): FilesOnR =>
    filesInMemory(texts, python);
  const edit = async (
    text: string,
    files = filesOf({ 'cat.py': cat }),
  ): Promise<string | undefined> => {
    const problem = await makeSnippetEdits(snippetEditsOf(text), files);
    return problem ?? (await files.read('cat.py'));
  };

  it('are read from prose and fences, as far as they are whole', () => {
    const text = `# edit 1\n\`\`\`\n${answer('./a.py', 'x', 'y')}\`\`\`\nand <file>b.py</file> later:\n${answer('c.py', '', 'new')}<file>d.py</file><original>`;
    assert.deepEqual(snippetEditsOf(text), [
      { path: 'a.py', original: ['x'], patched: ['y'] },
      { path: 'c.py', original: [], patched: ['new'] },
    ]);
  });

  it('are at most as many as there are ends, and read without looking back, from any text', () => {
    const pieces = ['<file>', '</file>', '<original>', '</original>', '<patched>', '</patched>'];
    const part = fc.constantFrom(...pieces, ' ', '\n', 'a', '<');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const edits = snippetEditsOf(parts.join(''));
        assert.ok(edits.length <= parts.filter((each) => each === '</patched>').length);
        assertLinear(parts.join(''), snippetEditsOf, 20);
      }),
    );
  });

  it('replace any lines of a file by themselves with one more, at their first place', async () => {
    const line = fc.constantFrom('x = 1', '  y = 2', '', 'z', '\tw');
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.nat(11),
        fc.nat(4),
        async (lines, from, more) => {
          const start = from % lines.length;
          const part = lines.slice(start, start + 1 + more);
          fc.pre(part[0]?.trim() !== '' && part.at(-1)?.trim() !== '');
          const files = filesOf({ 'a.txt': lines.join('\n') });
          const text = answer('a.txt', part.join('\n'), [...part, 'added'].join('\n'));
          assert.equal(await makeSnippetEdits(snippetEditsOf(text), files), undefined);
          const bare = (each: readonly string[]): string =>
            JSON.stringify(each.map((l) => l.trim()));
          const first = lines.findIndex(
            (_, at) => bare(lines.slice(at, at + part.length)) === bare(part),
          );
          const after = (await files.read('a.txt'))?.split('\n').map((each) => each.trim());
          const expected = lines.map((each) => each.trim());
          expected.splice(first + part.length, 0, 'added');
          assert.deepEqual(after, expected);
        },
      ),
    );
  });

  it('take over the indentation of the file, by the original part or by the patched one', async () => {
    const flat = 'def purr(self):\n    return 1';
    const expected = cat.replace('return 1', 'return 3');
    assert.equal(await edit(answer('cat.py', flat, flat.replace('1', '3'))), expected);
    const indented = '    def purr(self):\n        return 3';
    assert.equal(await edit(answer('cat.py', flat, indented)), expected);
    assert.equal(
      await edit(answer('cat.py', indented.replace('3', '1'), flat.replace('1', '3'))),
      expected,
    );
  });

  it('are refused if what they leave is no Python, unless the file was none before', async () => {
    const broken = answer('cat.py', 'return 2', 'return (');
    assert.match(
      (await edit(broken)) ?? '',
      /cat\.py: the edited file has a syntax error in line \d/,
    );
    const old = filesOf({ 'cat.py': `${cat}print "old"\n` });
    assert.match(
      (await edit(answer('cat.py', 'return 2', 'return 3'), old)) ?? '',
      /return 3\nprint/,
    );
    assert.match((await edit(answer('new.py', '', 'def (:'))) ?? '', /new\.py: .* syntax error/);
  });

  it('keep line ends and bytes, and compose in one file', async () => {
    const files = filesOf({ 'cat.py': 'a = 1\r\nb = "\udce9"\r\n' });
    const both = answer('cat.py', 'a = 1', 'a = 2\nc = 3') + answer('cat.py', 'c = 3', 'c = 4');
    assert.equal(await edit(both, files), 'a = 2\r\nc = 4\r\nb = "\udce9"\r\n');
  });

  it('are made all or none, with a reason for each', async () => {
    const files = filesOf({ 'cat.py': cat, 'dog/bark.py': '' });
    const text = [
      answer('cat.py', 'return 1', 'return 5'),
      answer('gone.py', 'x', 'y'),
      answer('cat.py', '', 'x = 1'),
      answer('cat.py', 'return 7', 'return 8'),
      answer('../out.py', '', 'x = 1'),
      answer('cat.py/x.py', '', 'x = 1'),
      answer('dog', '', 'x = 1'),
      answer('.git/hooks/x', '', 'x = 1'),
      answer('new', '', 'x = 1') + answer('new/x.py', '', 'x = 1'),
    ].join('');
    const problem = (await makeSnippetEdits(snippetEditsOf(text), files)) ?? '';
    const lines = problem.split('\n');
    assert.equal(lines.length, 8, problem);
    assert.match(
      problem,
      /gone\.py: there is no such file[^]*already exists[^]*not consecutive lines/,
    );
    assert.match(problem, /\.\.\/out\.py: [^]*cat\.py is a file[^]*dog: it is a folder/);
    assert.equal((await files.done()).patch, '');
    assert.match((await edit(answer('cat.py', 'return 1', 'return 1'))) ?? '', /change nothing/);
  });
});
