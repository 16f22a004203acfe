/**
 * What role a file has for test runners, by its path; undefined where it has none.
 *
 * @param path relative to the root of the tree
 */
export function runnerFile(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === 'conftest.py') return 'pytest fixtures and hooks';
  if (/^(site|user)customize\.py$/.test(name) || name.endsWith('.pth')) {
    return 'code that Python runs at startup';
  }
  if (/^\.?(pytest\.(ini|toml)|tox\.(ini|toml)|coveragerc|nose2?\.cfg|unittest\.cfg)$/.test(name)) {
    return 'test runner configuration';
  }
  // Python looks here for installed packages, and so does pytest for plug-ins.
  if (/^((src|lib|python)\/)?[^/]+\.(dist|egg)-info\//.test(path)) {
    return 'metadata of an installed package, which can register plug-ins';
  }
  if (
    /^(setup\.cfg|pyproject\.toml|setup\.py|noxfile\.py|tasks\.py|Makefile|MANIFEST\.in)$/.test(
      path,
    )
  ) {
    return 'project configuration';
  }
  if (/^(tests\/runtests\.py|runtests\.py|bin\/test|bin\/doctest|manage\.py)$/.test(path)) {
    return 'the test script';
  }
  if (/(^|\/)(testing|utilities)\/(runtests|pytest|_runtests\w*)\.py$/.test(path)) {
    return 'test runner code';
  }
  if (/(^|\/)django\/test\//.test(path) || /(^|\/)src\/_pytest\//.test(path))
    return 'test runner code';
  const top = /^(?:tests?\/)?([^/]+?)(?:\.py|\/.*)$/.exec(path)?.[1] ?? '';
  const shadow =
    /^(_?pytest|unittest|pluggy|doctest|nose|tox|py|iniconfig|swt_\w+|traceback|inspect|site|warnings)$/;
  if (shadow.test(top)) return `a module that shadows ${top}`;
  const first = /^([^/]+?)(?:\.py|\/__init__\.py)$/.exec(path)?.[1] ?? '';
  return ofRunners.test(first) ? `a module that shadows ${first}` : undefined;
}

/**
 * Modules that test runners import before they import tests, both Python's own and others: a module
 * at the top of the tree shadows them.
 */
const ofRunners =
  /^(argparse|ast|asyncio|atexit|bdb|bisect|code|codecs|collections|concurrent|configparser|contextlib|contextvars|copy|csv|ctypes|dataclasses|datetime|decimal|difflib|dis|encodings|enum|errno|faulthandler|fnmatch|fractions|functools|gc|gettext|glob|hashlib|heapq|html|importlib|io|itertools|json|keyword|linecache|locale|logging|math|multiprocessing|numbers|opcode|operator|os|pathlib|pdb|pickle|platform|pprint|pydoc|queue|random|re|reprlib|runpy|selectors|shlex|shutil|signal|socket|stat|string|struct|subprocess|sysconfig|tempfile|textwrap|threading|time|timeit|token|tokenize|tomllib|types|typing|unicodedata|urllib|uuid|weakref|xml|zipfile|zipimport|zlib|packaging|exceptiongroup|tomli|attr|attrs|colorama|pygments|xdist|execnet|pytest_\w+)$/;

/**
 * What role a file in a folder of tests has for pytest, which searches for its configuration
 * upwards from the given tests.
 *
 * @param others paths of all files that are touched
 */
export function configurationOfTests(path: string, others: readonly string[]): string | undefined {
  const folder = /^(.+\/)(?:setup\.cfg|pyproject\.toml)$/.exec(path)?.[1];
  if (folder === undefined) return undefined;
  const isAbove = others.some((other) => other.startsWith(folder) && other.endsWith('.py'));
  return isAbove ? 'test runner configuration' : undefined;
}
