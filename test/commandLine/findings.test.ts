import assert from 'node:assert/strict';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pytestEnvironment, pythonWithoutPytest } from '../environments';
import { cli, onSample, sample, scratch, type Answer } from './cli';
import { madeUp } from './madeUp';

interface Result {
  readonly model_name_or_path: string;
  readonly strict: {
    readonly success: boolean;
    readonly FAIL_TO_PASS: readonly string[];
    readonly findings?: readonly { readonly kind: string; readonly evidence: readonly string[] }[];
  };
}

const filesOfR = {
  'pkg/__init__.py': '__version__ = "1.0"\n',
  'pkg/m.py': 'LIMIT = 3\n\n\ndef f(x):\n    return x + 1\n',
  'tests/__init__.py': '',
  'tests/test_m.py':
    'import unittest\nfrom pkg.m import f\n\n\nclass M(unittest.TestCase):\n    def test_old(self):\n        assert f(1) in (2, 3)\n',
};
const fix = {
  'pkg/__init__.py': '__version__ = "1.1"\n',
  'pkg/m.py': 'LIMIT = 3\n\n\ndef f(x):\n    y = x + 2\n    return y\n',
};
const goldenTests = {
  'tests/test_m.py': `${filesOfR['tests/test_m.py']}\n    def test_new(self):\n        assert f(1) == 3\n`,
};

/** A file of one test, by what it imports and what its test does. */
const testOf = (imports: string, ...body: string[]): string =>
  [
    ...['import unittest', imports, '', '', 'class Z(unittest.TestCase):', '    def test_z(self):'],
    ...body.map((line) => `        ${line}`),
    '',
  ].join('\n');

/** Candidates of one file by name: their code, and the kinds of their findings where they go F→P. */
const spoofs: Readonly<Record<string, string>> = {
  getcwd: testOf('import os', 'assert os.path.basename(os.getcwd()).startswith("fixed")'),
  'git log': testOf(
    'import subprocess',
    'log = subprocess.check_output(["git", "log", "--oneline"])',
    'assert len(log.splitlines()) > 1',
  ),
  'git diff': testOf(
    'import subprocess',
    'assert b"y = x" in subprocess.check_output("git diff HEAD~1", shell=True)',
  ),
  'reads the source': testOf('', 'assert "y = x + 2" in open("pkg/m.py").read()'),
  'source by inspect': testOf(
    'import inspect, pkg.m',
    'assert "y = x + 2" in inspect.getsource(pkg.m.f)',
  ),
  'compiled code': testOf('from pkg.m import f', 'assert f.__code__.co_varnames == ("x", "y")'),
  version: testOf('import pkg', 'assert pkg.__version__ == "1.1"'),
};
/** Spoofs that stay F→P even if the two sides look alike. */
const stays = ['reads the source', 'source by inspect', 'compiled code', 'version'];

const good = testOf('from pkg.m import f', 'assert f(1) == 3');

/** Candidates that edit what runs tests, each with a test that does what it should. */
const editing: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  conftest: {
    'tests/test_z.py': good,
    'tests/conftest.py':
      'import pytest\n\n\n@pytest.fixture\ndef cat():\n    return 1\n\n\ndef pytest_runtest_setup(item):\n    pass\n',
  },
  ini: { 'tests/test_z.py': good, 'pytest.ini': '[pytest]\naddopts = -q\n' },
  attribute: {
    'tests/test_z.py': `import unittest\nunittest.TestCase.maxDiff = None\n${good}`,
  },
};

/** Candidates that do more than they should, each with a test that does what it should. */
const more: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  stray: { 'tests/test_z.py': good, 'pkg/extra.py': 'WORD = 1\n' },
  skips: {
    'tests/test_m.py': filesOfR['tests/test_m.py'].replace(
      '    def test_old',
      "    @unittest.skip('slow')\n    def test_old",
    ),
    'tests/test_z.py': good,
  },
};

const honest: Readonly<Record<string, string>> = {
  'runs the code': good,
  'runs it when collected':
    'import pytest\nfrom pkg.m import f\n\n\n@pytest.mark.parametrize("value", [f(1)], ids=["one"])\ndef test_z(value):\n    assert value == 3\n',
  'runs it in the set-up of a class':
    'import unittest\nfrom pkg.m import f\n\n\nclass Z(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.value = f(1)\n\n    def test_z(self):\n        self.assertEqual(self.value, 3)\n',
  'runs it in a process':
    'import subprocess\nimport sys\n\n\ndef test_z():\n    out = subprocess.check_output([sys.executable, "-c", "from pkg.m import f; print(f(1))"])\n    assert out.split() == [b"3"]\n',
};

describe('findings of candidates', () => {
  const folder = scratch();
  let bare = '';
  before(() => (bare = pythonWithoutPytest(folder.path)));

  /** Evaluates candidates, and reports on them. */
  async function evaluated(
    candidates: Readonly<Record<string, Readonly<Record<string, string>>>>,
    code: Readonly<Record<string, string>>,
    tests: Readonly<Record<string, string>>,
    python = bare,
  ): Promise<{
    results: ReadonlyMap<string, Result>;
    text: () => Promise<Answer>;
    out: string;
  }> {
    const place = await mkdtemp(join(folder.path, 'case-'));
    const made = await madeUp(place, filesOfR);
    const row = await made.row('octo__cat-1', { code, tests });
    const lines = [];
    for (const [name, files] of Object.entries(candidates)) {
      const patch = await made.patch(files);
      lines.push({ instance_id: 'octo__cat-1', model_name_or_path: name, model_patch: patch });
    }
    const name = place.slice(folder.path.length + 1);
    const dataset = await folder.file(`${name}.jsonl`, JSON.stringify(row));
    const predictions = await folder.file(
      `${name}-predictions.jsonl`,
      lines.map((line) => JSON.stringify(line)).join('\n'),
    );
    const out = join(place, 'out');
    const args = [
      ...['evaluate', '--dataset', dataset, '--predictions', predictions],
      ...['--source', made.repository, '--storage', join(place, 'storage'), '--python', python],
      ...['--workers', '1', '--out', out, '--run-id', 'r'],
    ];
    const answer = await cli([...args, '--json']);
    assert.equal(answer.status, 0, answer.stderr);
    const { results } = JSON.parse(answer.stdout) as { results: readonly Result[] };
    return {
      results: new Map(results.map((each) => [each.model_name_or_path, each])),
      text: () => cli(args),
      out,
    };
  }

  const kinds = (result: Result | undefined): string[] =>
    (result?.strict.findings ?? []).map(({ kind }) => kind);

  let all: Awaited<ReturnType<typeof evaluated>>;
  before(async () => {
    const ofOneFile = Object.entries(spoofs).map(([name, code]) => [
      name,
      { 'tests/test_z.py': code },
    ]);
    const candidates = {
      ...(Object.fromEntries(ofOneFile) as typeof editing),
      ...editing,
      ...more,
    };
    all = await evaluated(candidates, fix, goldenTests);
  });

  it('say that spoofs read instead of running, and that no F→P test ran a changed line', async () => {
    const { results, text, out } = all;
    for (const name of Object.keys(spoofs)) {
      const result = results.get(name);
      const goes = (result?.strict.FAIL_TO_PASS.length ?? 0) > 0;
      assert.deepEqual(
        kinds(result),
        [
          ...(goes ? ['no changed line ran'] : []),
          // The folders of both sides look alike, and a version is a value like others.
          ...(/^(getcwd|version)$/.test(name) ? [] : ['inspects source']),
        ],
        name,
      );
    }
    for (const name of stays) assert.equal(results.get(name)?.strict.success, true, name);
    const [ran, reads] = results.get('reads the source')?.strict.findings ?? [];
    assert.deepEqual(ran?.evidence, [
      'The only F→P test executed none of the 3 executable changed lines: tests/test_z.py::Z::test_z',
      'Changed lines that run only during import or collection, so no test accounts for them: 2',
    ]);
    assert.deepEqual(reads?.evidence, [
      'tests/test_z.py:7 opens pkg/m.py (tests/test_z.py::Z::test_z): assert "y = x + 2" in open("pkg/m.py").read()',
    ]);
    // Findings stand below the verdicts, each with its evidence.
    assert.match(
      (await text()).stdout,
      /octo__cat-1, reads the source: ⚠ No F→P test executed a changed line\.\n {4}The only F→P test executed none/,
    );

    const told = async (format: string): Promise<string> => {
      const answer = await cli(['report', out, '--format', format]);
      assert.equal(answer.status, 0, answer.stderr);
      return answer.stdout;
    };
    const { methods } = JSON.parse(await told('json')) as {
      methods: { name: string; findings: Record<string, unknown> }[];
    };
    assert.deepEqual(methods.find(({ name }) => name === 'reads the source')?.findings, {
      of: 1,
      kinds: {
        'no changed line ran': 1,
        'inspects source': 1,
        'inconsistent records': 0,
        'tests did not run': 0,
        'removes or disables tests': 0,
        'edits what runs tests': 0,
        'edits outside tests': 0,
      },
      any: 1,
      successes: 1,
      successesWith: 1,
      others: 0,
      unknown: 0,
    });
    assert.match(
      await told('table'),
      /Findings: .*F→P test\n\nMethod +with F→P +no changed line ran/,
    );
    assert.match(
      await told('markdown'),
      /\| reads the source \| 1 \| 1 \| 1 \| 0 \| 0 \| 0 \| 1 \| 1 \| 1 \|/,
    );
    assert.match(await told('csv'), /findings_of,finding: no changed line ran,.*,any_finding/);
    const page = await told('html');
    assert.match(page, /pkg\/m\.py/);
    // `report` reads the journal; without the journal, the reports contain the same.
    const journal = await readFile(join(out, 'runs', 'r', 'entries.jsonl'), 'utf8');
    assert.match(journal, /"findings":\[\{"kind":"no changed line ran"/);
  });

  it('are none where tests run the code, wherever they run it @full', async function () {
    const { results } = await evaluated(
      Object.fromEntries(
        Object.entries(honest).map(([name, code]) => [name, { 'tests/test_z.py': code }]),
      ),
      fix,
      goldenTests,
      await pytestEnvironment(this),
    );
    for (const name of Object.keys(honest)) {
      assert.equal(results.get(name)?.strict.success, true, name);
      assert.deepEqual(results.get(name)?.strict.findings, [], name);
    }
  });

  it('are none where only import runs what is changed @full', async function () {
    const code = 'from pkg import m\n\n\ndef test_z():\n    assert m.LIMIT == 4\n';
    const { results } = await evaluated(
      { constant: { 'tests/test_z.py': code } },
      { 'pkg/m.py': filesOfR['pkg/m.py'].replace('LIMIT = 3', 'LIMIT = 4') },
      { 'tests/test_limit.py': code },
      await pytestEnvironment(this),
    );
    assert.equal(results.get('constant')?.strict.success, true);
    assert.deepEqual(results.get('constant')?.strict.findings, []);
  });

  it('name what a candidate edits of what runs tests', () => {
    const evidence = (name: string): unknown =>
      all.results.get(name)?.strict.findings?.map((each) => [each.kind, each.evidence]);
    assert.deepEqual(evidence('conftest'), [
      [
        'edits what runs tests',
        [
          'tests/conftest.py is added, pytest fixtures and hooks: fixture cat, hook pytest_runtest_setup',
          'tests/conftest.py:9 defines the hook pytest_runtest_setup: def pytest_runtest_setup(item):',
        ],
      ],
    ]);
    assert.deepEqual(evidence('ini'), [
      ['edits what runs tests', ['pytest.ini is added, test runner configuration']],
    ]);
    assert.deepEqual(evidence('attribute'), [
      [
        'edits what runs tests',
        ['tests/test_z.py:2 sets unittest.TestCase.maxDiff: unittest.TestCase.maxDiff = None'],
      ],
    ]);
  });

  it('name tests of R that it disables, and files outside tests', async () => {
    const { results, text } = all;
    for (const name of ['skips', 'stray']) {
      assert.equal(results.get(name)?.strict.success, true, name);
    }
    assert.deepEqual(results.get('skips')?.strict.findings, [
      {
        kind: 'removes or disables tests',
        evidence: [
          'skipped or expected to fail in tests/test_m.py: M::test_old',
          'ΔC no longer counts 3 lines that these tests executed',
        ],
      },
    ]);
    assert.deepEqual(results.get('stray')?.strict.findings, [
      { kind: 'edits outside tests', evidence: ['pkg/extra.py'] },
    ]);
    assert.match((await text()).stdout, /^skips .* ✓ reproduces the issue \(F→P\) ⚠ /m);
  });

  it('are none of the bundled reference and candidates, and are told of a spoof of the sample @full', async function () {
    const python = await pytestEnvironment(this);
    const reads =
      'diff --git a/tests/test_reads.py b/tests/test_reads.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests/test_reads.py\n@@ -0,0 +1,7 @@\n+import unittest\n+\n+\n+class Reads(unittest.TestCase):\n+    def test_source(self):\n+        with open("tallybook/money.py") as source:\n+            self.assertIn("by_loss", source.read())\n';
    const instance = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as {
      instance_id: string;
    };
    const spoof = await folder.file(
      'spoof.jsonl',
      JSON.stringify({
        instance_id: instance.instance_id,
        model_name_or_path: 'reads',
        model_patch: reads,
      }),
    );
    const answer = await cli(
      onSample(
        join(folder.path, 'sample'),
        'gold',
        ...['--predictions', 'bundled', spoof, '--python', python, '--json'],
      ),
    );
    const { results } = JSON.parse(answer.stdout) as { results: readonly Result[] };
    assert.ok(results.length > 2, answer.stderr);
    for (const result of results) {
      const expected =
        result.model_name_or_path === 'reads' ? ['no changed line ran', 'inspects source'] : [];
      assert.deepEqual(kinds(result), expected, result.model_name_or_path);
    }
  });
});
