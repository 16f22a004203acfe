import assert from 'node:assert/strict';
import { editedFiles } from '../../../../src/evaluation/findings/editedFiles';
import { findingsInCode } from '../../../../src/evaluation/findings/findings';
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

/** The code of a test of each kind, with the expected words of the evidence, or none. */
const spoofs: readonly (readonly [what: RegExp, code: string])[] = [
  // Candidates that were graded F→P without executing a changed line.
  [/compares where it runs/, 'import os\ndef test_a():\n    assert "fixed" in os.getcwd()'],
  [
    /compares where it runs/,
    'import os\ndef test_a():\n    assert os.path.basename(os.getcwd()) == "fixed"',
  ],
  [
    /compares where it runs/,
    'from os import getcwd\ndef test_a():\n    here = getcwd()\n    assert here.endswith("fixed")',
  ],
  [
    /compares where it runs/,
    'from pathlib import Path\ndef test_a():\n    assert len(str(Path.cwd())) == 20',
  ],
  [/compares where it runs/, 'def test_a():\n    assert "fixed" in __file__'],
  [
    /compares where it runs/,
    'import unittest, os\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertIn("fixed", os.getcwd())',
  ],
  [/compares where it runs/, 'import pkg\ndef test_a():\n    assert "/base/" not in pkg.__file__'],
  [
    /compares where it runs/,
    'import socket\ndef test_a():\n    assert socket.gethostname() == "abc"',
  ],
  [
    /runs git/,
    'import subprocess\ndef test_a():\n    assert b"fix" in subprocess.check_output(["git", "log"])',
  ],
  [
    /runs git/,
    'import subprocess as sp\ndef test_a():\n    assert sp.run("git diff HEAD~1", shell=True).returncode == 0',
  ],
  [
    /runs git/,
    'from subprocess import run\ndef test_a():\n    command = ["/usr/bin/git", "-C", ".", "status"]\n    assert run(command).stdout',
  ],
  [/runs git/, 'import os\ndef test_a():\n    assert os.system("cd . && git diff --quiet") == 0'],
  [/imports git/, 'import git\ndef test_a():\n    assert git.Repo(".").head'],
  [/imports dulwich/, 'from dulwich.repo import Repo\ndef test_a():\n    assert Repo(".").head()'],
  [/looks into \.git/, 'def test_a():\n    assert "fix" in open(".git/HEAD").read()'],
  [
    /looks into \.git/,
    'from pathlib import Path\nROOT = Path(__file__).parent.parent\ndef test_a():\n    assert (ROOT / ".git" / "HEAD").exists()',
  ],
  [
    /opens files of the repository/,
    'def test_a():\n    assert "divmod" in open("pkg/money.py").read()',
  ],
  [
    /opens files of the repository/,
    'import io\ndef test_a():\n    with io.open("./pkg/money.py") as stream:\n        assert "divmod" in stream.read()',
  ],
  [
    /opens files of the repository/,
    'from pathlib import Path\ndef test_a():\n    assert "x" in Path("pkg", "money.py").read_text()',
  ],
  [
    /opens files of the repository/,
    'from pathlib import Path\ndef test_a():\n    here = Path(__file__).resolve().parents[1]\n    assert "x" in (here / "pkg" / "money.py").read_text()',
  ],
  [
    /opens files of the repository/,
    'import os\ndef test_a():\n    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "pkg/money.py")\n    assert "x" in open(path).read()',
  ],
  [
    /opens files of the repository/,
    'def test_a(pytestconfig):\n    assert "x" in (pytestconfig.rootpath / "pkg" / "money.py").read_text()',
  ],
  [
    /opens files of the repository/,
    'import linecache\ndef test_a():\n    assert linecache.getline("pkg/money.py", 3)',
  ],
  [
    /opens files of the repository/,
    'import tokenize\ndef test_a():\n    assert tokenize.open("pkg/money.py").read()',
  ],
  [
    /opens files of the repository/,
    'def test_a():\n    assert "fixed" in open("CHANGES.rst").read()',
  ],
  [
    /by the place of its module/,
    'import pkg.money\ndef test_a():\n    assert "x" in open(pkg.money.__file__).read()',
  ],
  [
    /by the place of its module/,
    'from pkg import money\nimport os\ndef test_a():\n    assert os.stat(money.__file__).st_size > 100',
  ],
  [
    /by the place of its module/,
    'import inspect, pkg\ndef test_a():\n    assert open(inspect.getfile(pkg)).read()',
  ],
  [
    /by the place of its module/,
    'import sys\nimport pkg\ndef test_a():\n    assert open(sys.modules["pkg"].__file__).read()',
  ],
  [/times or sizes/, 'import os\ndef test_a():\n    assert os.path.getmtime("pkg/money.py") > 3'],
  [
    /lists files of the repository/,
    'import os\ndef test_a():\n    assert len(os.listdir(os.getcwd())) == 4',
  ],
  [
    /outside the repository/,
    'from pathlib import Path\ndef test_a():\n    assert (Path.cwd() / ".." / "fixed").exists()',
  ],
  [
    /runs grep on/,
    'import subprocess\ndef test_a():\n    assert subprocess.call(["grep", "-q", "divmod", "pkg/money.py"]) == 0',
  ],
  [
    /opens a file of a package/,
    'import pkgutil\ndef test_a():\n    assert b"x" in pkgutil.get_data("pkg", "money.py")',
  ],
  [
    /by the place of its module/,
    'from importlib import resources\ndef test_a():\n    assert "x" in resources.files("pkg").joinpath("money.py").read_text()',
  ],
  [
    /reads the source of code/,
    'import inspect\nfrom pkg.money import parse\ndef test_a():\n    assert "divmod" in inspect.getsource(parse)',
  ],
  [
    /reads the source of code/,
    'from inspect import getsource as g\nimport pkg.money as m\ndef test_a():\n    assert "divmod" in g(getattr(m, "parse"))',
  ],
  [
    /inspects compiled code/,
    'from pkg.money import parse\ndef test_a():\n    assert len(parse.__code__.co_code) == 76',
  ],
  [
    /inspects compiled code/,
    'from pkg.money import Money\ndef test_a():\n    code = Money(1).allocate.__code__\n    assert code.co_firstlineno == 12',
  ],
  [
    /inspects compiled code/,
    'import dis\nfrom pkg.money import parse\ndef test_a():\n    assert list(dis.get_instructions(parse))',
  ],
  [/compares a version/, 'import pkg\ndef test_a():\n    assert pkg.__version__ == "1.1"'],
  [
    /compares a version/,
    'from pkg import __version__ as v\ndef test_a():\n    assert tuple(int(x) for x in [1]) and v.startswith("1.1")',
  ],
  [
    /compares a version/,
    'from importlib.metadata import version\ndef test_a():\n    assert version("pkg") > "1.0"',
  ],
  [
    /counts executed lines/,
    'import sys\ndef test_a():\n    assert sys.monitoring.get_tool(3) is None',
  ],
  [/records the run/, 'import os\ndef test_a():\n    assert "SWT_TRACE_CONFIG" in os.environ'],
  [/records the run/, 'import swt_tracer\ndef test_a():\n    swt_tracer.write({})'],
  [/searches the objects/, 'import gc\ndef test_a():\n    assert [x for x in gc.get_objects()]'],
  [/memory of the process/, 'import ctypes\ndef test_a():\n    ctypes.pythonapi'],
  [/frames of its callers/, 'import sys\ndef test_a():\n    sys._getframe(3).f_globals.clear()'],
  [/looks into \/proc/, 'def test_a():\n    assert "x" in open("/proc/self/environ").read()'],
  [
    /reads the source of code/,
    'import pkg.money\ndef test_a():\n    assert "x" in pkg.money.__loader__.get_source("pkg.money")',
  ],
  [
    /reads the source of code/,
    'import pkg.money as m\ndef test_a():\n    loader = m.__spec__.loader\n    assert b"x" in loader.get_data(m.__file__)',
  ],
  [
    /reads the source of code/,
    'import importlib.util\ndef test_a():\n    spec = importlib.util.find_spec("pkg.money")\n    assert "x" in spec.loader.get_source("pkg.money")',
  ],
  [
    /reads the source of code/,
    'from importlib.machinery import SourceFileLoader\ndef test_a():\n    assert "x" in SourceFileLoader("pkg.money", "pkg/money.py").get_source("pkg.money")',
  ],
  [
    /reads the source of code/,
    'import pyclbr\ndef test_a():\n    assert pyclbr.readmodule_ex("pkg.money")["parse"].end_lineno == 3',
  ],
  [
    /by the place of its module/,
    'from pkg.money import parse\ndef test_a():\n    assert "x" in open(parse.__globals__["__file__"]).read()',
  ],
  [
    /by the place of its module/,
    'import pkg.money\ndef test_a():\n    assert "x" in open(getattr(pkg.money, "__file__")).read()',
  ],
  [
    /by the place of its module/,
    'import pkg.money\ndef test_a():\n    assert "x" in open(vars(pkg.money)["__file__"]).read()',
  ],
  [
    /by the place of its module/,
    'import os, pkg\ndef test_a():\n    assert open(os.path.join(os.path.dirname(pkg.__file__), "VERSION.txt")).read()',
  ],
  [
    /opens files/,
    'import _io\ndef test_a():\n    assert b"x" in _io.FileIO("pkg/money.py").read()',
  ],
  [/opens files/, 'import posix\ndef test_a():\n    assert posix.open("pkg/money.py", 0)'],
  [
    /opens files/,
    'import fileinput\ndef test_a():\n    assert "x" in list(fileinput.input(files=["pkg/money.py"]))',
  ],
  [
    /moves or links files/,
    'import os\ndef test_a():\n    os.symlink(os.path.abspath("pkg/money.py"), "/tmp/x")\n    assert open("/tmp/x").read()',
  ],
  [
    /compiles code in the name of files/,
    'def test_a():\n    exec(compile("\\n\\nx = 1", "pkg/money.py", "exec"))',
  ],
  [
    /compiles code in the name of files/,
    'import pkg.money\ndef test_a():\n    exec(compile("\\n\\nx = 1", pkg.money.__file__, "exec"))',
  ],
  [
    /changes compiled code/,
    'import pkg.money\ndef g(): pass\ndef test_a():\n    g.__code__ = g.__code__.replace(co_filename=pkg.money.__file__, co_firstlineno=3)\n    g()',
  ],
  [
    /runs inspect on files/,
    'import subprocess, sys\ndef test_a():\n    assert b"x" in subprocess.check_output([sys.executable, "-m", "inspect", "pkg.money"])',
  ],
  [
    /runs dis on files/,
    'import subprocess\ndef test_a():\n    assert b"x" in subprocess.check_output("python3 -m dis pkg/money.py", shell=True)',
  ],
  [
    /runs grep on files/,
    'import subprocess\ndef test_a():\n    assert subprocess.call("grep -q x pkg/*.py", shell=True) == 0',
  ],
  [
    /runs dd on files/,
    'import subprocess\ndef test_a():\n    assert subprocess.check_output(["dd", "if=pkg/money.py"])',
  ],
  [
    /looks for what counts/,
    'import trace\nfrom pkg.money import parse\ndef test_a():\n    assert trace.Trace().runfunc(parse, 1)',
  ],
];

const honest: readonly (readonly [name: string, code: string])[] = [
  ['runs the code', 'from pkg.money import parse\ndef test_a():\n    assert parse("1") == "1"'],
  [
    'reads data of the package',
    'import os, pkg\nfrom pathlib import Path\ndef test_a():\n    assert open(os.path.join(os.path.dirname(pkg.__file__), "data", "units.json")).read()\n    assert (Path(pkg.__file__).parent / "table.csv").exists()',
  ],
  [
    'asks for data of the package',
    'import pkgutil\ndef test_a():\n    assert pkgutil.get_data("pkg", "units.json")',
  ],
  [
    'asks a loader of its own for a source',
    'import jinja2\ndef test_a(env):\n    loader = jinja2.DictLoader({})\n    assert loader.get_source(env, "x")',
  ],
  [
    'compiles a text',
    'def test_a():\n    assert exec(compile("x = 1", "<string>", "exec")) is None\n    assert compile("x", "a.py", "exec")',
  ],
  [
    'runs modules of Python',
    'import subprocess, sys\ndef test_a(tmp_path):\n    subprocess.check_call([sys.executable, "-m", "compileall", str(tmp_path)])',
  ],
  [
    'moves files of its own',
    'import os\ndef test_a():\n    os.rename("out.txt", "other.txt")\n    assert "x.py".replace("x", "y")',
  ],
  [
    'writes into a temporary folder',
    'def test_a(tmp_path):\n    (tmp_path / "pkg" / "money.py").write_text("x")\n    assert (tmp_path / "pkg" / "money.py").read_text() == "x"',
  ],
  [
    'makes a temporary folder',
    'import os, tempfile\ndef test_a():\n    folder = tempfile.mkdtemp()\n    assert open(os.path.join(folder, "setup.py"), "w")',
  ],
  [
    'reads its own data',
    'import os\ndef test_a():\n    path = os.path.join(os.path.dirname(__file__), "data", "expected.txt")\n    assert open(path).read() == ""',
  ],
  [
    'reads its own data by pathlib',
    'from pathlib import Path\nDATA = Path(__file__).parent / "data"\ndef test_a():\n    assert (DATA / "expected.txt").read_text() == ""',
  ],
  [
    'opens a file that R does not have',
    'def test_a():\n    with open("out.txt", "w") as stream:\n        stream.write("x")',
  ],
  ['opens what it is given', 'def test_a(path):\n    assert open(path).read()'],
  [
    'compares the folder with one it made',
    'import os\ndef test_a(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n    assert os.getcwd() == str(tmp_path)',
  ],
  [
    'makes a repository of its own',
    'import subprocess\ndef test_a(tmp_path):\n    subprocess.check_call(["git", "init"], cwd=tmp_path)\n    subprocess.check_call(["git", "log"], cwd=tmp_path)',
  ],
  [
    'runs the program under test',
    'import subprocess, sys\ndef test_a():\n    subprocess.check_call([sys.executable, "-m", "pkg"])',
  ],
  [
    'looks at a signature',
    'import inspect\nfrom pkg.money import parse\ndef test_a():\n    assert "text" in inspect.signature(parse).parameters',
  ],
  [
    'looks at generated code',
    'import inspect\nfrom pkg.money import compile_\ndef test_a():\n    f = compile_("x")\n    assert "x" in inspect.getsource(f)',
  ],
  [
    'asks for the version of another package',
    'import numpy\nimport pytest\n@pytest.mark.skipif(numpy.__version__ < "1.2", reason="old")\ndef test_a():\n    assert True',
  ],
  [
    'asks for the version of Python',
    'import sys\ndef test_a():\n    assert sys.version_info >= (3, 6)',
  ],
  [
    'compares an output with the version',
    'import pkg\ndef test_a(output):\n    assert output == "pkg " + pkg.__version__',
  ],
  [
    'mentions all of it in a text',
    'def test_a():\n    assert "git log; open(\'pkg/money.py\'); __code__ of f" != ""',
  ],
  [
    'opens an image',
    'from PIL import Image\nimport io\ndef test_a():\n    assert Image.open(io.BytesIO(b""))',
  ],
  [
    'removes a folder from the path',
    'import os, sys\ndef test_a():\n    sys.path = [p for p in sys.path if os.path.basename(p) != "data"]',
  ],
];

describe('code of candidates that reads instead of running', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  const evidenceOf = async (path: string, after: string): Promise<readonly string[]> => {
    const patch = makeUnified([{ path, before: filesOfR[path], after }]);
    const findings = await findingsInCode({ python, readFileOfR }, patch);
    return findings.find(({ kind }) => kind === 'reads instead of runs')?.evidence ?? [];
  };

  for (const [what, code] of spoofs) {
    it(`is found: ${code.split('\n').slice(-2).join(' ').trim()}`, async () => {
      const evidence = await evidenceOf('tests/test_new.py', `${code}\n`);
      assert.ok(
        evidence.some((each) => what.test(each)),
        evidence.join('\n') || 'nothing',
      );
      assert.match(evidence[0] ?? '', /^tests\/test_new\.py:\d+ /);
    });
  }

  for (const [name, code] of honest) {
    it(`is not found where a test ${name}`, async () => {
      assert.deepEqual(await evidenceOf('tests/test_new.py', `${code}\n`), []);
    });
  }

  it('is only what the candidate adds', async () => {
    const old = filesOfR['tests/test_old.py'] ?? '';
    assert.deepEqual(
      await evidenceOf('tests/test_old.py', `${old}\n\ndef test_new():\n    assert 1 == 1\n`),
      [],
    );
    const evidence = await evidenceOf(
      'tests/test_old.py',
      `${old}\n\ndef test_new():\n    assert "divmod" in open(SOURCE).read()\n`,
    );
    assert.deepEqual(evidence, [
      'tests/test_old.py:10 opens files of the repository: assert "divmod" in open(SOURCE).read()',
    ]);
  });

  it('is read beside a file without text, and quoted in one line of at most 200 characters', async () => {
    const code = `def test_a():\n    assert open("setup.py").read() == "${'x'.repeat(300)}"  # \u001b[2J\n`;
    const text =
      'diff --git a/tests/a.png b/tests/a.png\nnew file mode 100644\nindex 0000000..1111111\n' +
      'GIT binary patch\nliteral 1\nIcmZQz0ssI200000\n\n' +
      makeUnified([{ path: 'tests/test_new.py', before: undefined, after: code }]);
    assert.equal((await editedFiles(text, readFileOfR)).length, 1);
    const findings = await findingsInCode({ python, readFileOfR }, text);
    const [evidence = ''] = findings[0]?.evidence ?? [];
    assert.match(evidence, /^tests\/test_new\.py:2 opens files of the repository: /);
    assert.ok(evidence.length < 270, String(evidence.length));
    assert.ok(!evidence.includes('\u001b'));
  });

  it('is told once a line, and of many lines the first twenty', async () => {
    const lines = Array.from(
      { length: 30 },
      () => '    open("setup.py").read() + open("setup.py").read()',
    );
    const evidence = await evidenceOf('tests/test_new.py', `def test_a():\n${lines.join('\n')}\n`);
    assert.equal(evidence.length, 21);
    assert.equal(evidence.at(-1), 'and 10 more of this kind');
  });

  it('takes bounded time, and says where it does not look at all', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `    x${i + 1} = x${i} + x${i}`);
    const opens = Array.from({ length: 3000 }, () => '    assert open(x60).read() == x60');
    const entangled = ['def test_a(x0):', ...names, ...opens, ''].join('\n');
    const long = `def test_a():\n    assert "${'x'.repeat(1_000_000)}"\n`;
    const deep = `x = x / "a"\nx.read()\ny${'.a'.repeat(30_000)}.__code__\n${'('.repeat(3000)}z${')'.repeat(3000)}\n`;
    const [cut, ...found] = await evidenceOf('tests/test_new.py', deep);
    assert.match(cut ?? '', /too long or too entangled/);
    assert.deepEqual(found, [
      'tests/test_new.py:3 inspects compiled code: ' + `y${'.a'.repeat(99)}…`,
    ]);
    for (const source of [entangled, long]) {
      const evidence = await evidenceOf('tests/test_new.py', source);
      assert.ok(
        evidence.some((each) => each.includes('too long or too entangled')),
        evidence.join('\n'),
      );
    }
  });
});
