import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { givenContext, type GivenContext } from '../../../../src/method/given/givenContext';
import { givenPrompt } from '../../../../src/method/given/givenPrompt';
import { goldenAnswerOf } from '../../../../src/method/given/goldenAnswer';
import { givenSetting, settingName, type GivenSource } from '../../../../src/method/given/setting';
import { inputTokensOf } from '../../../../src/method/models/answering';
import type { Prompt } from '../../../../src/method/prompt/prompts';
import { tokenCounter } from '../../../../src/method/prompt/tokens';
import type { PythonParser } from '../../../../src/python/parser';
import { loadParser } from '../../python/loadParser';
import { madeUpTree } from './madeUpTree';

const golden = resolve('test/unit/method/given/golden');

const files = new Map([
  ['cat/purr.py', 'def purr(times):\n    return "purr" * (times - 1)\n'],
  ['cat/sleep.py', 'def sleep(hours):\n    return "z" * hours\n'],
  ['README.md', 'Cats purr.\n'],
  [
    'tests/test_purr.py',
    'from cat.purr import purr\n\n\ndef test_nothing():\n    assert purr(1) == ""\n',
  ],
  ['tests/test_sleep.py', 'def test_sleep():\n    assert True\n'],
  ['tests/conftest.py', 'purr = sleep = 1\n'],
]);

const patchOf = (path: string, removed: string, added: string): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -2 +2 @@\n-${removed}\n+${added}\n`;

const answer = goldenAnswerOf({
  goldenPatch:
    `diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n Cats purr.\n+Always.\n` +
    patchOf('cat/purr.py', '    return "purr" * (times - 1)', '    return "purr" * times') +
    'diff --git a/cat/new.py b/cat/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/cat/new.py\n@@ -0,0 +1 @@\n+x = 1\n',
  goldenTests: patchOf('tests/test_purr.py', '', 'import pytest'),
});
const wrong = patchOf('cat/sleep.py', '    return "z" * hours', '    return "zz" * hours');

describe('the prompt of a setting', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });

  const contextOf = (given: string, from: GivenSource): Promise<GivenContext> => {
    const setting = givenSetting({ given: given.split(','), from });
    assert.ok(setting);
    const wrongPatch = (): Promise<string> => Promise.resolve(wrong);
    return givenContext(setting, { golden: () => answer, wrongPatch });
  };

  const promptOf = async (
    given: GivenContext,
    more: { files?: ReadonlyMap<string, string>; contextTokens?: number } = {},
  ) => {
    const tree = madeUpTree(more.files ?? files);
    const contextTokens = more.contextTokens ?? 2000;
    const tokensOf = (prompt: Prompt): Promise<number> =>
      inputTokensOf({ ...prompt, temperature: undefined, maxOutputTokens: 0 });
    const made = await givenPrompt({
      instance: { repo: 'octo/cat', issue: 'The cat purrs once too little.' },
      view: { tree, python },
      ranked: ['tests/conftest.py', 'cat/purr.py', 'tests/test_purr.py', 'cat/sleep.py'],
      ...{ given, format: 'custom', contextTokens, tokensOf },
      count: await tokenCounter(),
    });
    return {
      files: made.files,
      tokens: await tokensOf(made.prompt),
      text: `${made.prompt.system}\n\n${made.prompt.messages[0]?.content ?? ''}\n`,
    };
  };

  const settings: [given: string, from: GivenSource, files: string[]][] = [
    [
      'files',
      'retrieved',
      ['tests/conftest.py', 'cat/purr.py', 'tests/test_purr.py', 'cat/sleep.py'],
    ],
    ['patch,files', 'golden', ['cat/purr.py', 'README.md']],
    ['patch,files', 'wrong', ['cat/sleep.py']],
    [
      'test-file',
      'golden',
      ['tests/test_purr.py', 'tests/conftest.py', 'cat/purr.py', 'cat/sleep.py'],
    ],
    ['test-file,patch,files', 'golden', ['tests/test_purr.py', 'cat/purr.py', 'README.md']],
    ['test-file,patch,files', 'wrong', ['tests/test_purr.py', 'cat/sleep.py']],
    // Outside of the table: the best ranked file with tests, which conftest.py is not.
    [
      'test-file',
      'retrieved',
      ['tests/test_purr.py', 'tests/conftest.py', 'cat/purr.py', 'cat/sleep.py'],
    ],
  ];
  for (const [given, from, shown] of settings) {
    it(`${given} from ${from} is the golden file, with these files`, async () => {
      const context = await contextOf(given, from);
      const made = await promptOf(context);
      assert.deepEqual(made.files, shown);
      const path = join(golden, `${context.setting}.txt`);
      if (process.env['UPDATE_GOLDEN'] === '1' || !existsSync(path)) writeFileSync(path, made.text);
      assert.equal(made.text, readFileSync(path, 'utf8'));
    });

    it(`${given} from ${from} holds X* only where that is given`, async () => {
      const { text } = await promptOf(await contextOf(given, from));
      const isGolden = from === 'golden' && given.includes('patch');
      assert.equal(text.includes('+    return "purr" * times'), isGolden);
      assert.equal(text.includes('+    return "zz" * hours'), from === 'wrong');
      assert.doesNotMatch(text, /golden|wrong patch|\+import pytest/);
    });
  }

  it('says the same words around a golden and a wrong patch', async () => {
    const [right, other] = await Promise.all(
      (['golden', 'wrong'] as const).map(async (from) =>
        (await promptOf(await contextOf('patch', from))).text.replace(/<patch>.*<\/patch>/s, ''),
      ),
    );
    assert.equal(right, other);
  });

  it('keeps the answer out of a setting that is retrieved', async () => {
    const refuse = (): never => assert.fail('it was asked for');
    for (const given of ['files', 'test-file', 'test-file,files']) {
      const setting = givenSetting({ given: given.split(','), from: 'retrieved' });
      assert.ok(setting);
      const context = await givenContext(setting, { golden: refuse, wrongPatch: refuse });
      assert.equal(context.oracle, undefined);
      assert.equal(context.setting, settingName(setting));
    }
  });

  it('names a test file that R does not have, and one that has no room', async () => {
    const context = await contextOf('test-file', 'golden');
    const without = new Map([...files].filter(([path]) => path !== 'tests/test_purr.py'));
    assert.match(
      (await promptOf(context, { files: without })).text,
      /- Put them in the new file tests\/test_purr\.py\. /,
    );
    const long = new Map([...files, ['tests/test_purr.py', 'x = 1\n'.repeat(2000)]]);
    const made = await promptOf(context, { files: long });
    assert.match(
      made.text,
      /test file tests\/test_purr\.py is too long to show here\.[^]*- Put them in tests\/test_purr\.py\. /,
    );
    assert.deepEqual(made.files, ['tests/conftest.py', 'cat/purr.py', 'cat/sleep.py']);
  });

  it('shows a given file that takes most of the prompt, and keeps to its tokens', async () => {
    const context = await contextOf('files', 'golden');
    const long = new Map([...files, ['cat/purr.py', 'x = 1\n'.repeat(250)]]);
    const { files: shown, tokens } = await promptOf(context, { files: long, contextTokens: 2500 });
    assert.ok(shown.includes('cat/purr.py'));
    assert.ok(tokens > 1250 && tokens <= 2500, String(tokens));
  });

  it('is refused when the patch has no room, and when R has no test file to retrieve', async () => {
    const context = await contextOf('patch', 'golden');
    await assert.rejects(promptOf(context, { contextTokens: 300 }), /Raise --context-tokens/);
    const without = new Map([...files].filter(([path]) => !path.startsWith('tests/test_')));
    const retrieved = await contextOf('test-file', 'retrieved');
    await assert.rejects(promptOf(retrieved, { files: without }), /none can be retrieved/);
  });
});
