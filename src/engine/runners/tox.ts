import { testArgumentsOf, wholePlan, type Planning, type TestRunner } from './testRunner';
import type { TestPlan } from './testPlan';
import { planPytest, testsOf } from './pytest';
import { pythonText } from '../pythonProgram';

/**
 * Runs tox. Its plug-in makes the Python of its commands a link to the running one. A Python that is
 * started through a link does not find the virtual environment of the link's target. So in a virtual
 * environment, a script that starts the target replaces the link.
 */
const program = (): string => pythonText('run_tox.py');

/**
 * The variables that tox passes on to its commands. Without this, it drops all others, including
 * the tracer's. Some versions of tox-current-env pass on everything: all for tox 4, and 0.0.7 and
 * later for tox 3. https://tox.wiki/en/3.28.0/config.html#conf-passenv
 */
const handedOn =
  'PYTHON* SWT_* HOME TMPDIR TEMP TMP LANG LC_* LD_LIBRARY_PATH SSL_CERT_* VIRTUAL_ENV';

export const tox: TestRunner = {
  name: 'tox',
  packages: ['tox', 'tox-current-env', 'pytest'],
  plan: planTox,
  needsAllFiles: true,
  isRelay: true,
  isUnrecorded: true,
};

/**
 * `tox --current-env -epyXY -v -- FILES`: runs the commands of the tree's tox.ini in the present
 * environment. Without tox, or with a tox.ini that would remove the tracer, pytest runs the same
 * files with the variables of tox.ini.
 */
async function planTox(planning: Planning): Promise<TestPlan | undefined> {
  const { environment, files, readFileOfR, recipe } = planning;
  // It counts only where its plug-in leaves the environment unchanged.
  const { tox: version, 'tox-current-env': plugIn } = environment.packages;
  const ini = await readFileOfR('tox.ini');
  const settings = ini === undefined ? new Map<string, string>() : settingsOf(ini);
  if (
    version === undefined ||
    plugIn === undefined ||
    ini === undefined ||
    settings.has('PYTHONPATH')
  ) {
    const plan = planPytest(planning);
    return plan && { ...plan, env: Object.fromEntries(plainly(settings)) };
  }
  const [major = '3', minor = '9'] = environment.pythonVersion.split('.');
  // Keeps the seed that the run sets; tox would choose a random one.
  const seed = version.startsWith('3.') ? 'noset' : 'notset';
  return wholePlan(
    'tox',
    files,
    [
      ...['-c', program(), '--current-env', `-epy${major}${minor}`, '-v', '--hashseed', seed],
      // The environment has everything installed, and a test user may not even write there.
      ...(canSkipInstall(version) ? ['--skip-pkg-install'] : []),
      '--',
      ...testArgumentsOf(recipe, ['-rA']),
      ...testsOf(planning),
    ],
    { TOX_TESTENV_PASSENV: handedOn },
  );
}

/** The option was added in tox 3.16. */
function canSkipInstall(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 16);
}

/** Variables that `[testenv]` sets, with values as written. */
function settingsOf(ini: string): Map<string, string> {
  const section = /^\[testenv\][^\n]*\n((?:(?!\[)[^\n]*(?:\n|$))*)/m.exec(ini)?.[1] ?? '';
  const set =
    /^set_?env[ \t]*=((?:[^\n]*)(?:\n(?:[ \t]+[^\n]*|[ \t]*))*)/m.exec(section)?.[1] ?? '';
  const found = new Map<string, string>();
  for (const line of set.split('\n')) {
    const [, name, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) found.set(name, value);
  }
  return found;
}

/** The variables that mean the same without tox, because they contain no placeholder of tox. */
function plainly(settings: ReadonlyMap<string, string>): [string, string][] {
  return [...settings].filter(([name, value]) => name !== 'PYTHONPATH' && !value.includes('{'));
}
