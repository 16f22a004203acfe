import assert from 'node:assert/strict';
import { editedFiles } from '../../../../src/evaluation/findings/editedFiles';
import { findingsInCode } from '../../../../src/evaluation/findings/findings';
import type { Act } from '../../../../src/engine/tracer/readTrace';
import type { PythonParser } from '../../../../src/python/parser';
import { makeUnified } from '../../../../src/patch/makeUnified';
import { loadParser } from '../../python/loadParser';

/** The files of R, as far as their existence matters. */
const filesOfR: Readonly<Record<string, string>> = {
  'pkg/__init__.py': '__version__ = "1.0"\n',
  'pkg/money.py': 'def parse(text):\n    return text\n',
  'setup.py': '',
  'CHANGES.rst': '',
  'tests/__init__.py': '',
  'tests/data/expected.txt': '',
  'tests/test_old.py':
    'import os\nSOURCE = os.path.join(os.path.dirname(__file__), "..", "pkg", "money.py")\n\n\ndef test_old():\n    assert True\n',
};

const readFileOfR = async (path: string): Promise<string | undefined> => filesOfR[path];

/** Lines that show by their text what no run shows. */
const shown: readonly (readonly [what: string, line: string])[] = [
  ['looks for the recorder of the run', 'assert "SWT_TRACE_CONFIG" in os.environ'],
  ['looks for the recorder of the run', 'import swt_tracer'],
  ['looks for the line counter', 'assert sys.monitoring.get_tool(3) is None'],
  ['looks for the line counter', 'sys.settrace(sys.gettrace())'],
  ['walks the frames of its callers', 'inspect.currentframe().f_back.f_globals.clear()'],
];

/** What a run shows that a test of line 2 does, and the evidence. */
const done: readonly (readonly [act: Partial<Act>, does: string])[] = [
  [{ what: 'open', path: 'pkg/money.py' }, 'opens pkg/money.py'],
  [{ what: 'open', path: 'pkg/added.py' }, 'opens pkg/added.py'],
  [{ what: 'open' }, 'opens many files'],
  [{ what: 'open', path: 'pkg/__pycache__/money.cpython-312.pyc' }, 'opens pkg/__pycache__/'],
  [{ what: 'list', path: '' }, 'lists the root of the repository'],
  [{ what: 'list', path: 'pkg' }, 'lists pkg'],
  [{ what: 'link', path: 'pkg/money.py' }, 'moves or links pkg/money.py'],
  [{ what: 'compile', path: 'pkg/money.py' }, 'compiles code under the name of pkg/money.py'],
  [{ what: 'code', path: 'pkg/money.py' }, 'inspects the compiled code of pkg/money.py'],
  [{ what: 'change', path: 'pkg/money.py' }, 'replaces compiled code with that of pkg/money.py'],
  [{ what: 'run', by: 'git' }, 'runs git'],
  [{ what: 'run', by: 'cat', path: 'pkg/money.py' }, 'runs cat on pkg/money.py'],
  [{ what: 'git' }, 'looks into .git'],
  [{ what: 'proc' }, 'looks into /proc'],
  [{ what: 'recorder' }, 'looks for the recorder of the run'],
  [{ what: 'trace', by: 'sys.settrace' }, 'looks for the line counter'],
  [{ what: 'frames' }, 'walks the frames of its callers'],
  [{ what: 'objects' }, 'searches the objects of the process'],
  [{ what: 'memory' }, 'reads or changes the memory of the process'],
  [{ what: 'hook' }, 'hooks into interpreter events'],
];

describe('code of candidates that reads instead of running', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  const evidenceOf = async (
    path: string,
    after: string,
    acts: readonly Act[] = [],
  ): Promise<readonly string[]> => {
    const patch = makeUnified([{ path, before: filesOfR[path], after }]);
    const findings = await findingsInCode({ python, readFileOfR }, patch, [], {
      acts,
      ownTests: ['tests/test_new.py::test_a'],
      paths: async () => new Set([...Object.keys(filesOfR), 'pkg/added.py']),
    });
    return findings.find(({ kind }) => kind === 'inspects source')?.evidence ?? [];
  };

  for (const [what, line] of shown) {
    it(`is found in the text: ${line}`, async () => {
      assert.deepEqual(await evidenceOf('tests/test_new.py', `def test_a():\n    ${line}\n`), [
        `tests/test_new.py:2 ${what}: ${line}`,
      ]);
    });
  }

  const test = 'tests/test_new.py::test_a';
  const act = (more: Partial<Act>): Act => ({
    ...{ what: 'open', path: 'pkg/money.py', at: [['tests/test_new.py', 2]], test },
    ...(more.what === undefined ? {} : { path: undefined }),
    ...more,
  });
  const code = 'def test_a():\n    assert do()\n';

  for (const [what, does] of done) {
    it(`is found as the run shows it: ${does}`, async () => {
      const [evidence = '', ...more] = await evidenceOf('tests/test_new.py', code, [act(what)]);
      assert.ok(evidence.startsWith(`tests/test_new.py:2 ${does}`), evidence);
      assert.ok(evidence.endsWith(' (tests/test_new.py::test_a): assert do()'), evidence);
      assert.deepEqual(more, []);
    });
  }

  it('is an act of its own lines, also through a helper of R, in a thread, or at import', async () => {
    const helper = ['tests/helper.py', 40] as const;
    assert.deepEqual(
      await evidenceOf('tests/test_new.py', code, [
        act({ at: [[...helper], ['tests/test_new.py', 2]] }),
        act({ at: [['tests/test_new.py', 1]], test: null }),
        act({ at: [] }),
      ]),
      [
        'tests/test_new.py:2 opens pkg/money.py (tests/test_new.py::test_a): assert do()',
        'tests/test_new.py:1 opens pkg/money.py (during import): def test_a():',
        'tests/test_new.py::test_a, in a thread or process, opens pkg/money.py',
      ],
    );
  });

  it('is no act of R, of its tests, or on files of the test', async () => {
    assert.deepEqual(
      await evidenceOf('tests/test_new.py', code, [
        act({ at: [['pkg/money.py', 2]] }),
        act({ at: [['tests/test_old.py', 7]], test: 'tests/test_old.py::test_old' }),
        act({ at: [], test: 'tests/test_old.py::test_old' }),
        act({ path: 'out.py' }),
        act({ what: 'list', path: 'build' }),
      ]),
      [],
    );
  });

  it('is told by the run rather than by the text, where both show it', async () => {
    const at = [['tests/test_new.py', 2]] as Act['at'];
    assert.deepEqual(
      await evidenceOf('tests/test_new.py', 'def test_a():\n    sys._getframe(1).f_back\n', [
        act({ what: 'frames', by: 'sys._getframe', at }),
      ]),
      [
        'tests/test_new.py:2 walks the frames of its callers (tests/test_new.py::test_a): sys._getframe(1).f_back',
      ],
    );
  });

  it('is only what the candidate adds', async () => {
    const old = `${filesOfR['tests/test_old.py']}\n\ndef test_new():\n    assert do()\n`;
    const at = (line: number): Act => act({ at: [['tests/test_old.py', line]] });
    assert.deepEqual(await evidenceOf('tests/test_old.py', old, [at(2), at(10)]), [
      'tests/test_old.py:10 opens pkg/money.py (tests/test_new.py::test_a): assert do()',
    ]);
  });

  it('is read beside a file without text, and quoted in one line of at most 200 characters', async () => {
    const code = `def test_a():\n    sys.monitoring == "${'x'.repeat(300)}"  # \u001b[2J\n`;
    const text =
      'diff --git a/tests/a.png b/tests/a.png\nnew file mode 100644\nindex 0000000..1111111\n' +
      'GIT binary patch\nliteral 1\nIcmZQz0ssI200000\n\n' +
      makeUnified([{ path: 'tests/test_new.py', before: undefined, after: code }]);
    assert.equal((await editedFiles(text, readFileOfR)).length, 1);
    const findings = await findingsInCode({ python, readFileOfR }, text);
    const [evidence = ''] = findings[0]?.evidence ?? [];
    assert.match(evidence, /^tests\/test_new\.py:2 looks for the line counter: /);
    assert.ok(evidence.length < 270, String(evidence.length));
    assert.ok(!evidence.includes('\u001b'));
  });

  it('is told once a line, and of many lines the first twenty', async () => {
    const lines = Array.from({ length: 30 }, () => '    sys.monitoring, sys.monitoring');
    const code = `def test_a():\n${lines.join('\n')}\n`;
    const evidence = await evidenceOf('tests/test_new.py', code);
    assert.equal(evidence.length, 21);
    assert.equal(evidence.at(-1), 'and 10 more of this kind');
  });
});
