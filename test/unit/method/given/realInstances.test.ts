import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { HumanError } from '../../../../src/domain/work';
import { givenContext } from '../../../../src/method/given/givenContext';
import { givenPrompt } from '../../../../src/method/given/givenPrompt';
import { goldenAnswerOf } from '../../../../src/method/given/goldenAnswer';
import { givenSetting, settingName, type GivenSource } from '../../../../src/method/given/setting';
import { inputTokensOf } from '../../../../src/method/models/answering';
import type { Prompt } from '../../../../src/method/prompt/prompts';
import { tokenCounter } from '../../../../src/method/prompt/tokens';
import { parseUnified } from '../../../../src/patch/parseUnified';
import type { PythonParser } from '../../../../src/python/parser';
import { everydayCases } from '../../../everyday';
import { dataset } from '../../patch/goldenRows';
import { rebuildFiles } from '../../patch/rebuiltTree';
import { loadParser } from '../../python/loadParser';
import { madeUpTree } from './madeUpTree';

interface Row {
  readonly instance_id: string;
  readonly repo: string;
  readonly problem_statement: string;
  readonly patch: string;
  readonly test_patch: string;
}

const settings: [given: string, from: GivenSource][] = [
  ['files', 'retrieved'],
  ['patch,files', 'golden'],
  ['patch,files', 'wrong'],
  ['test-file', 'golden'],
  ['test-file,patch,files', 'golden'],
  ['test-file,patch,files', 'wrong'],
];

const contextTokens = 27_000;
const tokensOf = (prompt: Prompt): Promise<number> =>
  inputTokensOf({ ...prompt, temperature: undefined, maxOutputTokens: 0 });

describe('the settings of Table 5, for real instances', function () {
  let python: PythonParser;
  let rows: readonly (Row & { readonly files: ReadonlyMap<string, string> })[] = [];
  before(async function () {
    if (!existsSync(dataset)) {
      console.log(`      skipped: no dataset at ${dataset} (set SWT_BENCH_DATA)`);
      this.skip();
    }
    python = await loadParser();
    const lines = everydayCases(readFileSync(dataset, 'utf8').trim().split('\n'));
    rows = lines.map((line) => {
      const row = JSON.parse(line) as Row;
      const rebuilt = [row.patch, row.test_patch].flatMap((each) => [
        ...rebuildFiles(parseUnified(each), python),
      ]);
      return { ...row, files: new Map(rebuilt) };
    });
  });

  for (const [given, from] of settings) {
    it(`${given} from ${from}: each has a prompt with its parts, or says why not`, async () => {
      const setting = givenSetting({ given: given.split(','), from });
      assert.ok(setting);
      const count = await tokenCounter();
      let made = 0;
      for (const row of rows) {
        const { instance_id: id, repo, problem_statement: issue, files } = row;
        const answer = goldenAnswerOf({ goldenPatch: row.patch, goldenTests: row.test_patch });
        assert.ok(answer.testFiles.length > 0, id);
        // A patch that changes the same places in another way.
        const wrong = row.patch.replace(/^\+(?!\+\+ )(.*)$/gm, '+$1  # wrong');
        const context = await givenContext(setting, {
          golden: () => answer,
          wrongPatch: () => Promise.resolve(wrong),
        });
        assert.equal(context.setting, settingName(setting));
        let text: string;
        try {
          const { prompt } = await givenPrompt({
            instance: { repo, issue },
            view: { tree: madeUpTree(files), python },
            ranked: [...files.keys()],
            ...{ given: context, format: 'custom', contextTokens, count, tokensOf },
          });
          assert.ok((await tokensOf(prompt)) <= contextTokens, id);
          text = prompt.messages[0]?.content ?? '';
          made += 1;
        } catch (error) {
          assert.ok(error instanceof HumanError && /--context-tokens/.test(error.message), id);
          continue;
        }
        assert.equal(
          text.includes(row.patch.trimEnd()),
          from === 'golden' && given !== 'test-file',
          id,
        );
        assert.equal(text.includes(wrong.trimEnd()), from === 'wrong', id);
        assert.equal(text.includes(row.test_patch.trimEnd()), false, id);
        for (const path of given.includes('test-file') ? answer.testFiles : []) {
          assert.ok(text.includes(`The test file ${path} is `) || !files.has(path), id);
          assert.ok(text.includes(path), id);
        }
      }
      assert.ok(made > 0.95 * rows.length, `${made} of ${rows.length}`);
    });
  }
});
