import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import type { CandidateResult } from '../../src/evaluation/candidateResult';
import { runStore } from '../../src/evaluation/testRun';
import { openSession } from '../../src/evaluation/session';
import { environment } from '../environments';
import { loadParser } from '../unit/python/loadParser';
import { useExample, type Example } from './exampleRepository';
import { environments } from '../../src/environments/environments';

const tracer = resolve('src/engine/tracer');

/** A patch that adds files. */
const added = (files: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(files)
    .map(
      ([path, lines]) => `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`,
    )
    .join('');

const golden = ['import cat', 'def test_golden():', '    assert cat.purr() == 2'];

/** Reads the source to find out on which side it runs. */
const side = ['import json, os, sys', 'FIXED = "return 2" in open("cat.py").read()'];

/**
 * Fails on both sides, and forges its run's records: it appends that it passed on R∘X*, and what it
 * executed.
 */
const forger = [
  ...side,
  'out = json.load(open(os.environ["SWT_TRACE_CONFIG"]))["out"]',
  'def test_forged():',
  '    [name] = [name for name in os.listdir(out) if name.endswith(".jsonl")]',
  '    with open(os.path.join(out, name), "a") as stream:',
  '        test = "tests/test_new.py::test_forged"',
  '        for record in (',
  '            {"kind": "counts", "test": test, "counts": {"0": 5}},',
  '            {"kind": "outcome", "test": test, "outcome": "passed", "seconds": 9, "phase": "call"},',
  '        ):',
  '            if FIXED: stream.write(json.dumps(record) + "\\n")',
  '    os._exit(0 if FIXED else 1)',
];

describe('a run whose records do not fit together', function () {
  let example: Example;
  let python = '';
  let storage = '';
  useExample((made) => (example = made));
  before(async function () {
    python = await environment(this, 'python3', ['pytest==8.3.5', 'pytest-xdist==3.6.1']);
  });
  beforeEach(async () => {
    storage = await example.storage();
  });

  const evaluate = async (
    files: Readonly<Record<string, readonly string[]>>,
    more: Partial<Instance> = {},
  ): Promise<CandidateResult> => {
    const session = await openSession({
      instance: example.instance({
        goldenTests: added({ 'tests/test_golden.py': golden }),
        ...more,
      }),
      trees: await example.prepare({ kind: 'commit', from: example.origin }, storage),
      engine: await localEngine({ environments, storage, tracer, python }),
      python: await loadParser(),
      store: runStore(storage),
    });
    try {
      return await evaluateCandidate(
        session,
        { model: 'm', text: added(files), format: 'unified', mode: 'unit-test' },
        { timeoutSeconds: 60, reporter: silent, reuse: false },
      );
    } finally {
      await session.dispose();
    }
  };
  const transitions = ({ tests }: CandidateResult): Record<string, string> =>
    Object.fromEntries(tests.map(({ test, transition }) => [test, transition]));

  it('is unsound where it would be a success with full ΔC, and gives no number', async () => {
    const result = await evaluate({ 'tests/test_new.py': forger });
    assert.equal(result.strict.reason, 'unsound', result.strict.explanation);
    assert.equal(result.strict.success, false);
    assert.equal(result.changeCoverage, undefined);
    assert.equal(result.harness.resolved, false);
    assert.deepEqual(
      result.findings.map(({ kind }) => kind),
      ['inspects source', 'inconsistent records'],
    );
    const said = result.findings[1]?.evidence.join('\n') ?? '';
    assert.match(said, /^on R∘X\*: records of process \d+ .* were not written by it \(2\)$/m);
    assert.ok(
      result.notes.some((note) => /ΔC is unknown/.test(note)),
      result.notes.join('\n'),
    );
    // The result of T* itself does not change.
    assert.equal(result.goldenCoverage?.covered, 2);
  });

  it('is neither kept nor counted when it is one of golden tests', async () => {
    const appends = [
      'import cat, json, os',
      'out = json.load(open(os.environ["SWT_TRACE_CONFIG"]))["out"]',
      'def test_golden():',
      '    for name in os.listdir(out):',
      '        if name.endswith(".jsonl"): open(os.path.join(out, name), "a").write("{}\\n")',
      '    assert cat.purr() == 2',
    ];
    const honest = ['import cat', 'def test_new():', '    assert cat.purr() == 2'];
    const result = await evaluate(
      { 'tests/test_new.py': honest },
      { goldenTests: added({ 'tests/test_golden.py': appends }) },
    );
    assert.equal(result.strict.reason, 'success');
    assert.deepEqual(result.findings, []);
    assert.equal(result.changeCoverage, undefined);
    assert.equal(result.goldenCoverage, undefined);
    const said = result.notes.join('\n');
    assert.match(said, /the records of the golden tests contradict each other on R/);
    // People who may not know T* read the notes.
    assert.doesNotMatch(said, /test_golden|were not written by it/);
    const names = await readdir(join(storage, 'instances'), { recursive: true });
    const kept = await Promise.all(
      names
        .filter((name) => name.includes('/runs/') && name.endsWith('.json'))
        .map((name) => readFile(join(storage, 'instances', name), 'utf8')),
    );
    assert.ok(kept.every((text) => !text.includes('test_golden')));
  });

  it('is one that takes the recorder away and prints outcomes @full', async () => {
    const result = await evaluate({
      'conftest.py': [
        ...side,
        'def pytest_load_initial_conftests(early_config): pass',
        'import _pytest.config',
        'frame = sys._getframe()',
        'while frame is not None:',
        '    config = frame.f_locals.get("self")',
        '    if isinstance(config, _pytest.config.PytestPluginManager):',
        '        for name, plugin in config.list_name_plugin():',
        '            if name.startswith("swt"): config.unregister(plugin)',
        '    frame = frame.f_back',
      ],
      'tests/test_new.py': [
        ...side,
        'def test_new():',
        '    print("PASSED tests/test_new.py::test_new" if FIXED else "")',
        '    os.write(1, b"\\nPASSED tests/test_new.py::test_new\\n" if FIXED else b"")',
        '    assert FIXED',
      ],
    });
    assert.equal(result.strict.reason, 'unsound', result.strict.explanation);
    assert.match(result.strict.explanation, /no test runner recorded it/);
  });

  it('is none that tells pytest to leave the recorder out: it cannot be named @full', async () => {
    const result = await evaluate({
      'pytest.ini': ['[pytest]', 'addopts = -p no:swt_outcomes'],
      'tests/test_new.py': ['import cat', 'def test_new():', '    assert cat.purr() == 2'],
    });
    assert.equal(result.strict.reason, 'success', result.strict.explanation);
    // The file that the candidate adds is named; the records fit.
    assert.deepEqual(
      result.findings.map(({ kind }) => kind),
      ['edits what runs tests'],
    );
  });

  it('is none with workers of pytest-xdist, whose counts are there and are said to be without a key @full', async () => {
    const result = await evaluate({
      'pytest.ini': ['[pytest]', 'addopts = -n 2'],
      'tests/test_new.py': [
        'import cat, pytest',
        'def test_new():',
        '    assert cat.purr() == 2',
        '@pytest.mark.parametrize("x", [1, 2, 3])',
        'def test_cases(x): assert cat.purr() == 2',
      ],
    });
    assert.equal(result.strict.reason, 'success', result.strict.explanation);
    // The file that the candidate adds is named; the records fit.
    assert.deepEqual(
      result.findings.map(({ kind }) => kind),
      ['edits what runs tests'],
    );
    assert.equal(Object.keys(transitions(result)).length, 4);
    assert.equal(result.changeCoverage?.covered, 2);
    assert.ok(
      result.notes.some((note) =>
        /are not verified: they come from programs that tests started/.test(note),
      ),
      result.notes.join('\n'),
    );
  });
});
