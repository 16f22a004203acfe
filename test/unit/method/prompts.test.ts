import assert from 'node:assert/strict';
import { candidatePrompt, judgePrompt, readJudgement } from '../../../src/method/prompt/prompts';
import { toUnified } from '../patch/formats';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';

describe('the prompt for a candidate', () => {
  const parts = { repo: 'octo/cat', issue: 'The cat purrs once.', files: '[start of cat.py]\n1 x' };
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });

  const original = [
    ...['import pytest', 'from shapes import area, sides', '', '', 'def test_area():'],
    ...['    assert area(2, 3) == 6', '    assert area(0, 3) == 0', '', ''],
    ...['@pytest.mark.parametrize("name, count", [("square", 4), ("hexagon", 6)])'],
    ...['def test_sides(name, count):', '    assert sides(name) == count', ''],
  ].join('\n');

  for (const format of ['unified', 'custom'] as const) {
    it(`${format}: its example is what it says`, async () => {
      const { messages } = candidatePrompt({ ...parts, format });
      const text = messages[0]?.content ?? '';
      for (const [index, line] of original.trimEnd().split('\n').entries()) {
        assert.ok(text.includes(`\n${index + 1} ${line}\n`), line);
      }
      const example = text.slice(text.indexOf('The answer is:'));
      const read = async (path: string) => (path === 'tests/test_shapes.py' ? original : undefined);
      const converted = await toUnified(example, { format, tree: { read }, python });
      assert.deepEqual(converted.diagnostics, []);
      const after = converted.files.get('tests/test_shapes.py') ?? '';
      const changed = original.replace('== 0\n', '== 0\n    assert area(-2, 3) == 6\n');
      const added = '\n\ndef test_sides_of_a_circle():\n    assert sides("circle") == 0\n';
      assert.equal(after, changed + added);
    });

    it(`${format}: holds the issue and the files, and says nothing of files where there are none`, () => {
      const shown = candidatePrompt({ ...parts, format }).messages[0]?.content ?? '';
      assert.match(shown, /<issue>\nThe cat purrs once\.\n<\/issue>/);
      assert.match(shown, /<code>\n\[start of cat\.py\]\n1 x\n<\/code>/);
      const bare = candidatePrompt({ ...parts, files: '', format }).messages[0]?.content ?? '';
      assert.doesNotMatch(bare, /<code>/);
    });
  }
});

describe('the prompt for the judge', () => {
  it('holds the issue, the candidate, its failures, and what failed before', () => {
    const parts = {
      ...{ repo: 'octo/cat', issue: 'ISSUE', patch: 'PATCH\n' },
      failures: [{ test: 't.py::test_a', text: 'AssertionError: 1 != 2' }],
    };
    const text = (failingBefore: string[]): string =>
      judgePrompt({ ...parts, failingBefore }).messages[0]?.content ?? '';
    for (const part of ['ISSUE', 'PATCH', 't.py::test_a', 'AssertionError: 1 != 2', 'YES or NO']) {
      assert.ok(text([]).includes(part), part);
    }
    assert.match(text([]), /None of them failed before/);
    assert.match(text(['t.py::test_b']), /already failed before they were changed: t\.py::test_b/);
  });
});

describe('what a judge says', () => {
  const said: [string, boolean | undefined][] = [
    ['It shows the problem.\n\nYES', true],
    ['It does not.\nNO', false],
    ['Reasons.\n\n**Yes**\n', true],
    ['Reasons.\nAnswer: no.', false],
    ['Final answer: **YES**', true],
    ['Yes, it fails as the report says.', true],
    ['No. The import is broken.', false],
    ['Yes at first sight, but the import is broken.\n\nNO', false],
    ['NO\n\n(The last line says it.)', false],
    ['', undefined],
    ['I cannot tell.', undefined],
    ['Nobody knows yesterday.', undefined],
  ];
  for (const [text, judgement] of said) {
    it(JSON.stringify(text), () => assert.equal(readJudgement(text), judgement));
  }
});
