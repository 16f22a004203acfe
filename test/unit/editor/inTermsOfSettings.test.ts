import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTermsOfSettings } from '../../../src/editor/shell/inTermsOfSettings';
import { optionsAndSettings, settingOfOption } from '../../../src/editor/shell/inTermsOfSettings';
import { settingObjects } from '../../../src/editor/shell/names';
import { GitError, fetchFailure } from '../../../src/repository/git';
import { parseSources } from '../../../src/repository/source';
import { optionsOfCommandLine, textsOfEditor } from './textsOfEditor';

/**
 * Texts that a person never sees as an error of the editor, by the file that has them and why.
 */
const elsewhere: Readonly<Record<string, string>> = {
  'configuration/keys.ts': 'has the options themselves',
  'method/given/setting.ts': 'reads --given and --from, which the editor does not have',
  'method/given/wrongPatch.ts': 'is for --oracle, which the editor does not have',
  'method/given/givenPrompt.ts': 'is for --given, which the editor does not have',
  'method/agents/sweAgentCommands.ts': 'runs grep',
  'method/agents/newErrorsOf.ts': 'runs flake8',
  'engine/docker/images/pushImage.ts': 'pushes images, which the editor does not do',
  'method/steps/steps.ts': 'answers --replay, which the editor does not have',
  'results/reproduction/reproductionNote.ts': 'writes a note for users of the command line',
  'results/reportSchema.ts': 'describes the files of the command line',
  'results/mergeShards.ts': 'merges shards, on a command line',
};

describe('an error in the editor', () => {
  it('names the setting, never an option of the command line', () => {
    const error = new GitError('fetch', 'fatal: Could not resolve host: example.org', 128);
    const asked = { repo: 'a/b', commit: '0123abc', from: 'https://example.org/a/b' };
    const text = inTermsOfSettings(fetchFailure(error, asked).message);
    assert.match(text, /Give a\/b in the setting swt-bench\.repositorySources the path or address/);
    assert.doesNotMatch(text, /--/);
    assert.throws(
      () => parseSources(['']),
      (thrown: Error) => !inTermsOfSettings(thrown.message).includes('--'),
    );
    const python = 'name an interpreter with --python or the setting swt-bench.python';
    assert.doesNotMatch(inTermsOfSettings(python), /--/);
  });

  it('does so in every text that code of the editor can reach', () => {
    const options = optionsOfCommandLine();
    const texts = textsOfEditor().filter(({ text }) => namesOption(text, options));
    assert.ok(texts.length > 30, `only ${texts.length} texts name an option`);
    const left = texts
      .filter(({ file }) => !Object.hasOwn(elsewhere, file))
      .filter(({ text }) => namesOption(inTermsOfSettings(text), options))
      .map(({ file, text }) => `${file}: ${text}`);
    assert.deepEqual(left, [], 'say in inTermsOfSettings what to do in the editor instead');
  });

  it('leaves the options of other programs', () => {
    const text = 'Install its package again (pip install --force-reinstall); git fsck --full';
    assert.equal(inTermsOfSettings(text), text);
  });

  it('knows the options of the engines by their settings', () => {
    assert.equal(settingOfOption('--python'), 'swt-bench.python');
    assert.equal(settingOfOption('--memory'), 'swt-bench.docker.limits.memory');
    assert.equal(settingOfOption('--kube-context'), 'swt-bench.kubernetes.context');
    const { contributes } = JSON.parse(
      readFileSync(join(__dirname, '..', '..', '..', 'package.json'), 'utf8'),
    ) as { contributes: { configuration: { properties: object }[] } };
    const settings = contributes.configuration.flatMap(({ properties }) => Object.keys(properties));
    for (const [, setting] of optionsAndSettings()) {
      const object = settingObjects.find((each) => setting.startsWith(`${each}.`));
      assert.ok(settings.includes(object ?? setting), setting);
    }
  });

  it('reads as a sentence', () => {
    const said = (text: string): string => inTermsOfSettings(text);
    assert.equal(
      said('Log in again as for kubectl, or choose another context with --kube-context'),
      'Log in again as for kubectl, or choose another context with the setting swt-bench.kubernetes.context',
    );
    assert.equal(
      said('If it needs more, raise swt-bench.docker.limits.memory (--memory)'),
      'If it needs more, raise swt-bench.docker.limits.memory',
    );
    assert.equal(
      said('--timeout was 300 and is 20'),
      'the setting swt-bench.timeout was 300 and is 20',
    );
    assert.equal(said('--tests-only was false and is true'), 'tests only was false and is true');
  });
});

const namesOption = (text: string, options: ReadonlySet<string>): boolean =>
  [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].some(([option]) => options.has(option));
