import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { silent } from '../../src/domain/work';
import { environments } from '../../src/environments/environments';
import { localEngine } from '../../src/engine/local/localEngine';
import { ReadyAgents, type ProcessRequest } from '../../src/engine/programs/process';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import type { CandidateResult } from '../../src/evaluation/candidateResult';
import { openSession } from '../../src/evaluation/session';
import { runStore } from '../../src/evaluation/testRun';
import { pytestEnvironment } from '../environments';
import { loadParser } from '../unit/python/loadParser';
import { useExample, type Example } from './exampleRepository';

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

const two = ['import cat', 'def test_two():', '    assert cat.purr() == 2'];

const whatItIs = 'what it is';

/** Tests that could tell a process that was started ahead from another one. */
const candidates: Readonly<Record<string, string>> = {
  'an honest test': added({ 'tests/test_new.py': two }),
  [whatItIs]: added({
    // Named as a module, but none.
    'pytest.ini': ['[pytest]'],
    'tests/test_new.py': [
      'import os, sys, cat',
      'def test_two():',
      "    names = ['HOME', 'TMPDIR', 'SWT_TRACE_AHEAD', 'LC_CTYPE', 'PYTHONPATH']",
      '    print(sys.argv[1:], sys.flags, sys.path[1:3], sorted(os.environ), os.getcwd())',
      "    words = open('/proc/self/cmdline').read() if os.path.exists('/proc') else ''",
      "    print('started with', words.split(chr(0))[1:])",
      "    print([os.path.exists(os.environ.get(name, '-')) for name in names])",
      '    print(os.path.exists(os.environ["HOME"]), os.listdir(os.environ["TMPDIR"]))',
      '    assert cat.purr() == 2',
    ],
  }),
  'a module of the tree with the name of one of pytest': added({
    'iniconfig.py': ["raise SystemExit('the tree comes first')"],
    'tests/test_new.py': two,
  }),
  'looks at the sources': added({
    'tests/test_new.py': [
      'import glob, os, pathlib, cat',
      'def test_two():',
      "    assert pathlib.Path('cat.py').stat().st_size > 0",
      "    assert 'return 2' in pathlib.Path('cat.py').read_text()",
      "    assert glob.glob('*.py') and os.listdir('.')",
    ],
  }),
  'warnings, children and an end': added({
    'tests/test_new.py': [
      'import subprocess, sys, warnings, atexit, cat',
      'def test_two():',
      "    warnings.warn('careful')",
      "    subprocess.check_call([sys.executable, '-c', 'import cat; cat.purr()'])",
      '    assert cat.purr() == 2',
      'def test_exit():',
      '    sys.exit(3)',
    ],
  }),
};

describe('a run in an interpreter that was started ahead', function () {
  if (process.platform === 'win32') return;
  let example: Example;
  let python = '';
  useExample((made) => (example = made));
  before(async function () {
    python = await pytestEnvironment(this);
  });

  /** Each candidate after another one, so that an interpreter may wait for it. */
  const evaluated = async (isAwaited: boolean): Promise<CandidateResult[]> => {
    const storage = await example.storage();
    const tracer = resolve('src/engine/tracer');
    const engine = await localEngine({ environments, storage, tracer, python, isAwaited });
    const session = await openSession({
      instance: example.instance({ goldenTests: added({ 'tests/test_golden.py': two }) }),
      trees: await example.prepare({ kind: 'commit', from: example.origin }, storage),
      ...{ engine, python: await loadParser(), store: runStore(storage) },
    });
    try {
      const results: CandidateResult[] = [];
      for (const text of [candidates['an honest test'] ?? '', ...Object.values(candidates)]) {
        const request = { model: 'm', text, format: 'unified', mode: 'unit-test' } as const;
        const options = { timeoutSeconds: 60, reporter: silent, reuse: false };
        results.push(await evaluateCandidate(session, request, options));
      }
      return results.slice(1);
    } finally {
      await session.dispose();
      await engine.dispose();
    }
  };

  /** What does not differ from run to run: times, and names of folders. */
  const lasting = (result: CandidateResult | undefined): unknown =>
    JSON.parse(
      JSON.stringify(result, (name, value: unknown) => (/seconds/.test(name) ? 0 : value))
        .replaceAll(/storage-\w+/g, 'storage')
        .replaceAll(/0x[0-9a-f]+/g, '0x1')
        .replaceAll(/pairs\/[0-9a-f]+\/[0-9a-f]{4}(\/r\/[0-9a-f]{4})?/g, 'pair')
        .replaceAll(/started with [^\n]*?\\n/g, '')
        .replaceAll(/in \d+\.\d+s/g, 'in 1s'),
    );

  let plain: readonly CandidateResult[] = [];
  let ahead: readonly CandidateResult[] = [];
  before(async () => {
    [plain, ahead] = [await evaluated(false), await evaluated(true)];
  });
  for (const [index, name] of Object.keys(candidates).entries()) {
    it(`is as any other: ${name}`, () => {
      assert.deepEqual(lasting(ahead[index]), lasting(plain[index]));
    });
  }

  it('has begun before its tests were known', function () {
    if (process.platform !== 'linux') this.skip();
    const index = Object.keys(candidates).indexOf(whatItIs);
    const asStarted = (results: readonly CandidateResult[]) =>
      results[index]?.runs.fixed?.log.match(/^started with .*/m)?.[0];
    assert.equal(asStarted(ahead), "started with ['-m', 'pytest', '']");
    assert.match(asStarted(plain) ?? '', /'-m', 'pytest', .*test_new\.py/);
  });

  it('begins anew where something else is installed, or the program is another', () => {
    const agents = new ReadyAgents(() => python);
    const ahead = { variables: new Set(['HOME']), environment: 'one', meanwhile: {} };
    const of = { argv: [python, '-m', 'pytest'], cwd: '/', env: { HOME: '/a', LANG: 'C' }, ahead };
    const request = { ...of, timeoutSeconds: 1, outputLimit: 1 };
    const isTaken = (changed: Partial<ProcessRequest>): boolean => {
      agents.prepare(request);
      const taken = agents.take({ ...request, ...changed });
      taken?.wire.close();
      return taken !== undefined;
    };
    try {
      assert.equal(
        isTaken({ argv: [...of.argv, 'tests/test_a.py'], env: { ...of.env, HOME: '/b' } }),
        true,
      );
      assert.equal(isTaken({ ahead: { ...ahead, environment: 'other' } }), false);
      assert.equal(isTaken({ env: { ...of.env, LANG: 'de_DE' } }), false);
      assert.equal(isTaken({ argv: [python, '-m', 'unittest'] }), false);
      assert.equal(isTaken({ ahead: undefined }), false);
    } finally {
      agents.dispose();
    }
  });
});
