import assert from 'node:assert/strict';
import { Cancelled } from '../../../src/domain/humanError';
import { silent } from '../../../src/domain/reporter';
import { callTool, candidateInMemory, type ToolAnswer } from '../../../src/method/tools/tool';
import { tools } from '../../../src/method/tools/tools';
import { addedFile, viewForTests } from './sampleView';

describe('tools on the bundled instance', function () {
  const sample = viewForTests();
  let candidate = candidateInMemory();
  beforeEach(() => (candidate = candidateInMemory()));

  const call = (name: string, input: unknown = {}, signal?: AbortSignal): Promise<ToolAnswer> => {
    const tool = tools.find((each) => each.name === name);
    assert.ok(tool, name);
    return callTool(tool, sample.view, input, {
      candidate,
      timeoutSeconds: 60,
      reporter: silent,
      signal,
    });
  };
  const textOf = async (name: string, input: unknown = {}): Promise<string> => {
    const { text, isError } = await call(name, input);
    assert.equal(isError, false, text);
    return text;
  };
  const errorOf = async (name: string, input: unknown = {}): Promise<string> => {
    const { text, isError } = await call(name, input);
    assert.equal(isError, true, text);
    return text;
  };

  const reproducing = addedFile(
    'tests/test_parts.py',
    'import unittest',
    '',
    'from tallybook import Money',
    '',
    '',
    'class PartsTest(unittest.TestCase):',
    '    def test_parts_add_up(self):',
    '        parts = Money(2000).allocate([1, 1, 1])',
    '        self.assertEqual(sum(part.cents for part in parts), 2000)',
    '',
    '    def test_ten(self):',
    '        self.assertEqual(len(Money(1000).allocate([1, 1, 1])), 3)',
  );

  it('gives the issue', async () => {
    const text = await textOf('read_issue');
    assert.match(
      text,
      /^Issue of tallybook\/tallybook \(instance tallybook__tallybook-[0-9a-f]{8}\):/,
    );
    assert.match(text, /out of balance by -0\.01/);
  });

  it('lists folders', async () => {
    assert.equal(
      await textOf('list_files'),
      'README.md\npyproject.toml\ntallybook/ (7 files)\ntests/ (5 files)',
    );
    assert.match(await textOf('list_files', { folder: './tests/' }), /^tests\/__init__\.py$/m);
    assert.match(await errorOf('list_files', { folder: 'nowhere' }), /no such file.*List the root/);
    assert.match(await errorOf('list_files', { folder: 'README.md' }), /read_file/);
  });

  it('finds classes, functions, methods, text and regular expressions', async () => {
    const money = await textOf('search_code', { query: 'Money', kind: 'class' });
    assert.match(money, /^1 definition:\ntallybook\/money\.py:\d+-\d+ {2}class Money\b/);
    const allocate = await textOf('search_code', { query: 'Money.allocate', kind: 'function' });
    assert.match(allocate, /def allocate\(self, weights\): {2}\(in Money\)/);
    assert.equal(
      await textOf('search_code', { query: 'def allocate(self, weights):', kind: 'function' }),
      allocate,
    );
    const text = await textOf('search_code', { query: 'round(', kind: 'text' });
    assert.match(text, /tallybook\/money\.py:\d+: shares\.append\(round\(/);
    const regex = await textOf('search_code', {
      query: 'def test_.*cent',
      kind: 'regex',
      within: 'tests',
    });
    assert.match(regex, /tests\/test_money\.py:\d+: def test_missing_cent_goes_to_the_first/);
    assert.match(await textOf('search_code', { query: 'Pound', kind: 'class' }), /No class/);
    assert.match(await textOf('search_code', { query: 'zzz', kind: 'text' }), /No line of the/);
    assert.match(
      await textOf('search_code', { query: 'Money', kind: 'class', within: 'test' }),
      /no file or folder "test"/,
    );
    assert.match(
      await errorOf('search_code', { query: 'a(', kind: 'regex' }),
      /cannot be searched for \(.*Unmatched/,
    );
    assert.match(await errorOf('search_code', { query: 'a b', kind: 'class' }), /bare name/);
    assert.match(await errorOf('search_code', { query: 'a\nb', kind: 'text' }), /several lines/);
  });

  it('outlines and reads files', async () => {
    const outline = await textOf('outline_file', { path: 'tallybook/money.py' });
    assert.match(outline, /^\d+ {2}import re$|^\d+ {2}from /m);
    assert.match(outline, /^\d+-\d+ {2}class Money/m);
    assert.match(outline, /^ {4}\d+-\d+ {2}def allocate\(self, weights\):$/m);
    assert.doesNotMatch(outline, /round\(/);
    const lines = await textOf('read_file', {
      path: 'tallybook/money.py',
      start_line: 3,
      end_line: 4,
    });
    assert.match(lines, /^tallybook\/money\.py, lines 3 to 4 of \d+:\n3 {2}.*\n4 {2}.*$/);
    assert.match(await errorOf('outline_file', { path: 'README.md' }), /no Python file/);
    assert.match(
      await errorOf('read_file', { path: 'money.py' }),
      /no such file.*Files of that name are tallybook\/money\.py/,
    );
    assert.match(await errorOf('read_file', { path: 'tallybook' }), /it is a folder/);
    assert.match(
      await errorOf('read_file', { path: 'README.md', start_line: 10_000 }),
      /README\.md has \d+ lines/,
    );
  });

  it('applies a candidate, lists its tests and runs them on R', async () => {
    assert.match(await errorOf('run_tests'), /no candidate yet.*apply_candidate/);
    assert.match(await textOf('list_candidate_tests'), /no candidate yet/);
    const applied = await textOf('apply_candidate', { patch: reproducing });
    assert.match(applied, /^- tests\/test_parts\.py::PartsTest::test_parts_add_up$/m);
    assert.match(await textOf('list_candidate_tests'), /PartsTest::test_ten[^]*\+import unittest/);
    const ran = await textOf('run_tests');
    assert.match(ran, /^On the repository as it is, with the candidate: 1 failed, 1 passed\./);
    assert.match(ran, /FAILED tests\/test_parts\.py::PartsTest::test_parts_add_up/);
    assert.match(ran, /AssertionError: 2001 != 2000/);
    assert.match(ran, /Others: tests\/test_parts\.py::PartsTest::test_ten/);
    const one = await textOf('run_tests', {
      tests: ['tests/test_parts.py::PartsTest::test_ten'],
    });
    assert.match(one, /: 1 passed\./);
  });

  it('runs tests of R without a candidate', async () => {
    const ran = await textOf('run_tests', {
      tests: ['tests/test_money.py'],
      without_candidate: true,
    });
    assert.match(ran, /without a candidate: \d+ passed\./);
    const named = { tests: ['tests/test_money.py::AllocateTest::test_nothing'] };
    assert.match(
      await errorOf('run_tests', named),
      /is no test of tests\/test_money\.py\. Name one of .*AllocateTest::test_equal_parts/,
    );
    assert.match(await errorOf('run_tests', { tests: ['tests/no.py'] }), /no such file/);
    assert.match(await errorOf('run_tests', { tests: ['README.md'] }), /no Python file/);
  });

  it('says when a failure is a fault of the test', async () => {
    await textOf('apply_candidate', {
      patch: addedFile(
        'tests/test_x.py',
        'import unittest',
        'from tallybook import Pound',
        '',
        'class X(unittest.TestCase):',
        '    def test_x(self):',
        '        pass',
      ),
    });
    const ran = await textOf('run_tests');
    assert.match(ran, /fault of the test itself, not of the issue: import error/);
  });

  it('keeps the candidate when the next one does not apply, and says why', async () => {
    await textOf('apply_candidate', { patch: reproducing });
    const kept = await candidate.read();
    for (const patch of [
      'I would rather not.',
      '--- a/tests/test_money.py\n+++ b/tests/test_money.py\n@@ -1,2 +1,3 @@\n no such line\n+x\n nor this\n',
    ]) {
      assert.match(await errorOf('apply_candidate', { patch }), /the candidate is what it was/);
      assert.equal(await candidate.read(), kept);
    }
  });

  it('names edits of files that are no tests', async () => {
    const patch = addedFile('tallybook/more.py', 'x = 1') + reproducing;
    assert.match(await textOf('apply_candidate', { patch }), /no tests.*: tallybook\/more\.py/);
  });

  it('says what is wrong with input, for a model', async () => {
    const text = await errorOf('read_file', { file: 'README.md' });
    assert.match(text, /input of read_file is not as it must be/);
    assert.match(text, /- `path`: /);
    assert.match(text, /"required":\["path"\]/);
    await errorOf('search_code', { query: 'x', kind: 'symbol' });
    await errorOf('read_file', { path: 'README.md', start_line: 0 });
    await errorOf('read_file', 'README.md');
    // Many models write null for an omitted field.
    await textOf('read_file', { path: 'README.md', start_line: null, end_line: null });
  });

  it('can be cancelled', async () => {
    const stop = AbortSignal.abort();
    await assert.rejects(call('run_tests', { tests: ['tests/test_money.py'] }, stop), Cancelled);
  });

  it('has names, effects and confirmations that can be told apart', () => {
    const names = tools.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      tools.filter(({ effect }) => effect !== 'reads').map(({ name, effect }) => [name, effect]),
      [
        ['apply_candidate', 'changes the candidate'],
        ['run_tests', 'runs code'],
      ],
    );
  });
});
