import assert from 'node:assert/strict';
import { Cancelled, silent } from '../../../src/domain/work';
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
    assert.match(
      await textOf('search_code', { query: 'Pound', kind: 'class' }),
      /no class named Pound/,
    );
    assert.match(await textOf('search_code', { query: 'zzz', kind: 'text' }), /No line of the/);
    assert.match(
      await textOf('search_code', { query: 'Money', kind: 'class', within: 'test' }),
      /no file or folder "test"/,
    );
    assert.match(
      await errorOf('search_code', { query: 'a(', kind: 'regex' }),
      /pattern is invalid \(.*(?:missing closing parenthesis|Unmatched)/,
    );
    assert.match(
      await errorOf('search_code', { query: 'a b', kind: 'class' }),
      /Use only the name/,
    );
    assert.match(
      await errorOf('search_code', { query: 'a\nb', kind: 'text' }),
      /more than one line/,
    );
  });

  it('takes regular expressions as models write them', async () => {
    const search = (query: string): Promise<string> =>
      textOf('search_code', { query, kind: 'regex', within: 'tests/test_money.py' });
    const posix = await search('allocate\\(\\[[0-9]');
    assert.match(posix, /^\d+ lines in 1 file:/);
    for (const same of [
      'allocate\\(\\[\\d',
      '(?i)ALLOCATE\\(\\[\\d',
      '\\ballocate\\b\\(\\[(?=\\d)',
    ]) {
      assert.equal(await search(same), posix, same);
    }
  });

  it('gives up a regular expression that takes too long, and says so', async () => {
    const text = await errorOf('search_code', { query: '(.*.*)*=(.*.*)*@#$', kind: 'regex' });
    assert.match(text, /was stopped.*[Ss]earch for plain text/);
  });

  it('gives the hits of a search page by page', async () => {
    const query = { query: 'e', kind: 'text' };
    const first = await call('search_code', query);
    const { hits, more } = first.data as { hits: { path: string; line: number }[]; more: number };
    assert.equal(hits.length, 80);
    assert.match(first.text, new RegExp(`\\[${more} more: continue with page 2\\]$`));
    const seen = new Set(hits.map(({ path, line }) => `${path}:${line}`));
    let left = more;
    for (let page = 2; left > 0; page += 1) {
      const { data } = await call('search_code', { ...query, page });
      const next = data as { hits: typeof hits; more: number };
      for (const { path, line } of next.hits) seen.add(`${path}:${line}`);
      assert.equal(next.more, Math.max(0, left - 80));
      left = next.more;
    }
    assert.equal(seen.size, 80 + more);
    assert.match(await errorOf('search_code', { ...query, page: 999 }), /no page 999: the last/);
    const definitions = { query: 'allocate', kind: 'function', page: 2 };
    assert.match(await errorOf('search_code', definitions), /no page 2: the last one is 1/);
  });

  it('finds files by name', async () => {
    const found = async (query: string, within?: string): Promise<string[]> => {
      const { data } = await call('search_code', { query, kind: 'file', within });
      return (data as { hits: { path: string }[] }).hits.map(({ path }) => path);
    };
    assert.deepEqual(await found('money'), ['tallybook/money.py', 'tests/test_money.py']);
    assert.deepEqual(await found('MONEY.py', 'tests'), ['tests/test_money.py']);
    assert.deepEqual(await found('*money.py'), ['tallybook/money.py', 'tests/test_money.py']);
    assert.deepEqual(await found('money.*'), ['tallybook/money.py']);
    for (const all of ['**/__init__.py', '*/__init__.py']) {
      assert.deepEqual(await found(all), ['tallybook/__init__.py', 'tests/__init__.py']);
    }
    assert.deepEqual(await found('**/READM?.md'), ['README.md']);
    assert.deepEqual(await found('t*_money.py'), ['tests/test_money.py']);
    assert.deepEqual(await found('tests*money.p?/'), []);
    assert.match(await textOf('search_code', { query: 'pound', kind: 'file' }), /No file in the/);
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
    assert.match(await errorOf('outline_file', { path: 'README.md' }), /not a Python file/);
    assert.match(
      await errorOf('read_file', { path: 'money.py' }),
      /no such file.*Files with that name are tallybook\/money\.py/,
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
    assert.match(ran, /^On the current repository, with the candidate: 1 failed, 1 passed\./);
    assert.match(ran, /FAILED tests\/test_parts\.py::PartsTest::test_parts_add_up/);
    assert.match(ran, /AssertionError: 2001 != 2000/);
    assert.match(ran, /Others: tests\/test_parts\.py::PartsTest::test_ten/);
    const one = await textOf('run_tests', {
      tests: ['tests/test_parts.py::PartsTest::test_ten'],
    });
    assert.match(one, /: 1 passed\./);
  });

  it('gives what it applied as a diff, and a long one whole', async () => {
    const custom =
      'diff\ntests/test_new.py\ninsert\nBOF\ndef test_new():\n    assert False\nend diff\n';
    const { text, data } = await call('apply_candidate', { patch: custom });
    const { diff } = data as { diff: string };
    assert.match(
      diff,
      /^diff --git a\/tests\/test_new\.py[^]*\+def test_new\(\):\n\+ {4}assert False/,
    );
    assert.ok(text.endsWith(diff.trimEnd()));
    const body = Array.from(
      { length: 1500 },
      (_, at) => `    assert ${at} == len("${'x'.repeat(20)}")`,
    );
    const long = addedFile('tests/test_long.py', 'def test_long():', ...body);
    assert.ok(long.length > 60_000);
    await textOf('apply_candidate', { patch: long });
    const listed = await call('list_candidate_tests');
    for (const line of body) assert.ok(listed.text.includes(`+${line}\n`) || line === body.at(-1));
    assert.deepEqual((listed.data as { diff: string }).diff, await candidate.read());
  });

  it('says at once where a candidate is not Python', async () => {
    const patch = addedFile(
      'tests/test_bad.py',
      'def test_a():',
      '    x = (1',
      '',
      'def test_b(:',
      '    pass',
    );
    const applied = await call('apply_candidate', { patch });
    assert.match(applied.text, /^The candidate applies\.\nHowever, it is not valid Python/);
    assert.match(applied.text, /Syntax error in tests\/test_bad\.py, line \d/);
    assert.match(applied.text, /^> 4 {2}def test_b\(:$|^> 2 {2} {4}x = \(1$/m);
    const { syntax_errors: errors } = applied.data as { syntax_errors: { path: string }[] };
    assert.ok(errors.length > 0 && errors.every(({ path }) => path === 'tests/test_bad.py'));
    assert.match(await textOf('list_candidate_tests'), /Syntax error in tests\/test_bad\.py/);
    const sound = await call('apply_candidate', { patch: reproducing });
    assert.doesNotMatch(sound.text, /Syntax error|not Python/);
    assert.deepEqual((sound.data as { syntax_errors: unknown }).syntax_errors, []);
  });

  it('says that tests which pass on R reproduce nothing', async () => {
    await textOf('apply_candidate', { patch: reproducing });
    const ran = await textOf('run_tests');
    assert.match(ran, /Others: \S+::test_ten \(passed here: does not reproduce the issue\)/);
    assert.doesNotMatch(ran, /the candidate reproduces nothing/);
    const one = await textOf('run_tests', { tests: ['test_ten'] });
    assert.match(one, /None of these tests fail.*: they reproduce nothing\./);
    const patch = addedFile(
      'tests/test_fine.py',
      ...['import unittest', '', 'class FineTest(unittest.TestCase):'],
      ...['    def test_fine(self):', '        self.assertTrue(True)'],
    );
    await textOf('apply_candidate', { patch });
    const passing = await call('run_tests');
    assert.match(
      passing.text,
      /None of the candidate's tests fail.*: the candidate reproduces nothing\./,
    );
    const { conclusion, tests } = passing.data as { conclusion: string; tests: unknown };
    assert.match(conclusion, /reproduces nothing/);
    assert.deepEqual(tests, [
      { test: 'tests/test_fine.py::FineTest::test_fine', outcome: 'passed', of_candidate: true },
    ]);
    // What passes without the candidate says nothing about it.
    const ofR = { tests: ['tests/test_money.py'], without_candidate: true };
    assert.doesNotMatch(await textOf('run_tests', ofR), /reproduce/);
  });

  it('gives what tests print, within a limit, and the values that they compare', async () => {
    const patch = addedFile(
      'tests/test_prints.py',
      ...['import unittest', '', 'class PrintsTest(unittest.TestCase):'],
      ...['    def test_fails(self):', '        print("seen on the way")'],
      ...['        self.assertEqual(list(range(60)), list(range(59)) + ["sixty"])', ''],
      ...['    def test_passes(self):', '        print("x\\n" * 20000 + "the end")'],
    );
    await textOf('apply_candidate', { patch });
    const { text, data } = await call('run_tests');
    assert.match(text, /Output of the tests:\n[^]*seen on the way/);
    assert.match(text, /characters omitted[^]*the end/);
    assert.ok(text.length < 20_000, `${text.length}`);
    assert.match(text, /Compared values, expected:\n[^]*'sixty'\]?\nactual:\n[^]*59\]/);
    const { printed, tests } = data as { printed: string; tests: { expected?: string }[] };
    assert.match(printed, /seen on the way/);
    assert.match(tests[0]?.expected ?? '', /'sixty'/);
    assert.equal((await call('run_tests')).text, text);
  });

  it('takes names of tests as models write them', async () => {
    await textOf('apply_candidate', { patch: reproducing });
    const ran = async (name: unknown): Promise<string[]> => {
      const { text, data, isError } = await call('run_tests', { tests: name });
      assert.equal(isError, false, text);
      return (data as { tests: { test: string }[] }).tests.map(({ test }) => test).sort();
    };
    const file = 'tests/test_parts.py';
    const ten = `${file}::PartsTest::test_ten`;
    const both = [`${file}::PartsTest::test_parts_add_up`, ten];
    for (const name of [
      ...['test_ten', 'PartsTest::test_ten', 'PartsTest.test_ten', `${file}::test_ten`],
      ...['tests.test_parts.PartsTest.test_ten', `./${file}::PartsTest.test_ten`],
    ]) {
      assert.deepEqual(await ran([name]), [ten], name);
    }
    for (const name of ['PartsTest', `${file}::PartsTest`, 'test_parts.py', 'tests.test_parts']) {
      assert.deepEqual(await ran([name]), both, name);
    }
    assert.deepEqual(await ran('test_ten'), [ten]);
    assert.deepEqual(await ran(`["${ten}"]`), [ten]);
    const ofR = 'tests/test_money.py::AllocateTest::test_equal_parts';
    assert.deepEqual(await ran(['test_equal_parts']), [ofR]);
    assert.ok((await ran(['tests/test_money.py::AllocateTest'])).includes(ofR));
    assert.match(
      await errorOf('run_tests', { tests: ['test_no_such'] }),
      /is not a test of the cand/,
    );
    const twice =
      addedFile('tests/test_a.py', 'def test_x():', '    pass') +
      addedFile('tests/test_b.py', 'def test_x():', '    pass');
    await textOf('apply_candidate', { patch: twice });
    assert.match(
      await errorOf('run_tests', { tests: ['test_x'] }),
      /Several tests are named "test_x"\. Use one of tests\/test_a\.py::test_x, tests\/test_b\.py::test_x/,
    );
  });

  it('takes input that misses its schema by its writing only', async () => {
    const meant = await textOf('read_file', { path: 'README.md', start_line: 2, end_line: 3 });
    const written = { path: 'README.md', start_line: '2', end_line: ' 3 ' };
    assert.equal(await textOf('read_file', written), meant);
    await textOf('read_file', { path: 'README.md', start_line: '', end_line: null });
    assert.match(await errorOf('read_file', { ...written, end_line: 'three' }), /`end_line`/);
    const found = await textOf('search_code', { query: 'Money', kind: 'class' });
    assert.equal(await textOf('search_code', { query: 'Money', kind: ' Class' }), found);
    const tests = 'tests/test_money.py';
    const ran = await textOf('run_tests', { tests, without_candidate: 'True' });
    assert.match(ran, /without a candidate: \d+ passed/);
  });

  it('answers with data of its output schema, in what is its text', async () => {
    await textOf('apply_candidate', { patch: reproducing });
    for (const [name, input] of [
      ['read_issue', {}],
      ['list_files', { folder: 'tests' }],
      ['search_code', { query: 'Money', kind: 'class' }],
      ['outline_file', { path: 'tallybook/money.py' }],
      ['read_file', { path: 'tallybook/money.py' }],
      ['list_candidate_tests', {}],
      ['run_tests', {}],
    ] as const) {
      const { text, data } = await call(name, input);
      const tool = tools.find((each) => each.name === name);
      const read = tool?.output.safeParse(data);
      assert.ok(read?.success, `${name}: ${read?.error?.message}`);
      for (const each of Object.values(data as object)) {
        if (typeof each === 'string' && name !== 'read_file') assert.ok(text.includes(each.trim()));
      }
    }
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
      /is not a test in tests\/test_money\.py\. Use one of .*AllocateTest::test_equal_parts/,
    );
    assert.match(await errorOf('run_tests', { tests: ['tests/no.py'] }), /no such file/);
    assert.match(await errorOf('run_tests', { tests: ['README.md'] }), /not a Python file/);
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
    assert.match(ran, /error in the test itself, not the issue: import error/);
  });

  it('keeps the candidate when the next one does not apply, and says why', async () => {
    await textOf('apply_candidate', { patch: reproducing });
    const kept = await candidate.read();
    for (const patch of [
      'I would rather not.',
      '--- a/tests/test_money.py\n+++ b/tests/test_money.py\n@@ -1,2 +1,3 @@\n no such line\n+x\n nor this\n',
    ]) {
      assert.match(await errorOf('apply_candidate', { patch }), /the candidate is unchanged/);
      assert.equal(await candidate.read(), kept);
    }
  });

  it('names edits of files that are no tests', async () => {
    const patch = addedFile('tallybook/more.py', 'x = 1') + reproducing;
    assert.match(
      await textOf('apply_candidate', { patch }),
      /files that are not tests.*: tallybook\/more\.py/,
    );
  });

  it('says what is wrong with input, for a model', async () => {
    const text = await errorOf('read_file', { file: 'README.md' });
    assert.match(text, /input of read_file is invalid/);
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
        ['check_candidate', 'runs code'],
      ],
    );
  });
});
