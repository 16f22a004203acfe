import assert from 'node:assert/strict';
import { HumanError } from '../../../../src/domain/work';
import { givenMethod } from '../../../../src/method/given/givenMethod';
import {
  givenSetting,
  seesAnswer,
  settingName,
  type GivenSource,
} from '../../../../src/method/given/setting';
import { usesAnswer } from '../../../../src/method/method';
import { methods } from '../../../../src/method/methods';

const settingOf = (given: string, from: GivenSource) => {
  const setting = givenSetting({ given: given.split(','), from });
  assert.ok(setting);
  return setting;
};

describe('a setting of Table 5', () => {
  const settings: [given: string, from: GivenSource, name: string, oracle: boolean][] = [
    ['files', 'retrieved', 'retrieved-files', false],
    ['test-file', 'retrieved', 'retrieved-test-file', false],
    ['files,patch', 'golden', 'golden-patch+golden-files', true],
    ['patch,files', 'wrong', 'wrong-patch+wrong-files', true],
    ['test-file', 'golden', 'golden-test-file', true],
    ['files,test-file,patch,files', 'golden', 'golden-test-file+golden-patch+golden-files', true],
    ['test-file,patch,files', 'wrong', 'golden-test-file+wrong-patch+wrong-files', true],
  ];
  for (const [given, from, name, oracle] of settings) {
    it(`${given} from ${from} is called ${name}${oracle ? ', and is oracle' : ''}`, () => {
      const setting = settingOf(given, from);
      assert.equal(settingName(setting), name);
      assert.equal(seesAnswer(setting), oracle);
      const method = givenMethod(setting, { oracle: true });
      assert.equal(method.name, `zero-shot-plus+${name}`);
      assert.equal(usesAnswer(method), oracle);
      // Only the judging of fixes runs anything.
      assert.equal(method.runs, from === 'wrong' ? 'oracle' : 'nothing');
      const withoutLeave = (): unknown => givenMethod(setting, { oracle: false });
      if (oracle) assert.throws(withoutLeave, /Add --oracle/);
      else assert.doesNotThrow(withoutLeave);
    });
  }

  it('is none without options', () => {
    assert.equal(givenSetting({}), undefined);
  });

  const refused: [given: string[] | undefined, from: GivenSource | undefined, message: RegExp][] = [
    [
      undefined,
      'golden',
      /--from golden needs .* Add --given with a list of test-file, patch, files/,
    ],
    [['patch'], undefined, /--given patch needs .* --from retrieved, --from golden, --from wrong/],
    [
      ['tests'],
      'golden',
      /"tests" is not .* Use a comma-separated list of test-file, patch, files/,
    ],
    [[], 'golden', /--given is empty/],
    [['patch'], 'retrieved', /a patch cannot\. Remove patch from/],
    [['files', 'patch'], 'retrieved', /a patch cannot\. Remove patch from/],
    [['test-file'], 'wrong', /not to the test file.*--given test-file --from golden/],
  ];
  for (const [given, from, message] of refused) {
    it(`refuses ${given?.join(',') ?? 'nothing'} from ${from ?? 'nowhere'}`, () => {
      assert.throws(
        () => givenSetting({ given, from }),
        (error) => error instanceof HumanError && message.test(error.message),
      );
    });
  }
});

describe('methods that use the answer', () => {
  it('are, without a setting, Pass@5 alone', () => {
    assert.deepEqual(
      methods.filter(usesAnswer).map(({ name }) => name),
      ['pass-at-5'],
    );
  });
});
