import { tarOf } from '../../engine/sandbox/archive';
import { olderSetuptools } from '../plan/olderSetuptools';
import { asOf } from '../packageDay';
import { NoSolution, saysNoSolution } from '../leastDay';
import type { ProjectNeeds } from '../projectNeeds';
import type { BuildContainer, Command, Ended } from '../../engine/docker/build/buildContainer';
import { metadataSettings, type PackageMetadata } from './packageMetadata';

/** Folder for everything that a build writes. It is removed before an image is made. */
export const scratch = '/swt-build';
/** Folder of R while an environment is resolved, where R is put there as a whole. */
export const scratchTree = `${scratch}/tree`;
/** Path of uv, where foreign code cannot write. */
export const uvPath = '/swt-tools/uv';

/** Environment of every command of a build. The caches of the tools are removed with the build. */
export const toolEnvironment = {
  HOME: `${scratch}/home`,
  USER: 'swt',
  LOGNAME: 'swt',
  TZ: 'UTC',
  PIP_NO_CACHE_DIR: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_ROOT_USER_ACTION: 'ignore',
  PIP_NO_INPUT: '1',
  UV_CACHE_DIR: `${scratch}/cache`,
  UV_LINK_MODE: 'copy',
  UV_NO_CONFIG: '1',
  UV_NO_PROGRESS: '1',
  UV_PYTHON_DOWNLOADS: 'never',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
};

interface Resolving {
  /** Interpreter that the requirements are resolved for. */
  readonly python: string;
  readonly needs: ProjectNeeds;
  /** Requirements of R itself, where they are known without its set-up program. */
  readonly stated?: readonly string[] | undefined;
  /** Packages whose metadata is known; their set-up programs need not run. */
  readonly known?: readonly PackageMetadata[] | undefined;
  readonly extras: readonly string[];
  /** Day as of which packages are taken. */
  readonly day: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Folder of R in the container. */
  readonly folder: string;
  /** Title for people, such as `sympy/sympy 1.7`. */
  readonly what: string;
}

/**
 * Resolves the requirements of R and its recipe to exact versions as of a day. Runs R's set-up program, and those of its requirements that have no wheel.
 *
 * @returns lines of a requirement file, sorted
 * @throws NoSolution when there is none, HumanError when metadata cannot be read, in uv's own words
 */
export async function resolve(container: BuildContainer, resolving: Resolving): Promise<string[]> {
  const { needs, day, what, env } = resolving;
  const doing = `resolve the requirements of ${what}${day === undefined ? '' : ` as of ${day}`}`;
  const command = { cwd: resolving.folder, env, isForeign: true, doing };
  const settings = metadataSettings(resolving.known ?? []);
  await putInputs(container, needs, { stated: resolving.stated ?? [], settings });
  const isolated = ['--build-constraint', ...inputPaths('constraints.txt')];
  if (settings !== '') {
    const quick = [...isolated, '--config-file', ...inputPaths('known.toml')];
    const ended = await container.attempt(compileCommand(resolving, quick), command);
    if (ended.code === 0) return linesOf(ended.standard);
  }
  let ended = await container.attempt(compileCommand(resolving, isolated), command);
  const older = olderSetuptools(ended.output);
  if (ended.code !== 0 && older !== undefined) {
    await putOlder(container, older);
    const building = [...isolated, '--build-constraint', olderFile];
    ended = await container.attempt(compileCommand(resolving, building), command);
  }
  const lacksMetadata = /build|metadata|setup\.py/i.test(ended.output);
  if (ended.code !== 0 && needs.project !== undefined && lacksMetadata) {
    const second = await compileWithOwnTools(container, resolving, command);
    if (second?.code === 0) ended = second;
  }
  if (ended.code === 0) return linesOf(ended.standard);
  const failed = container.failed(ended, doing);
  throw saysNoSolution(ended.output) ? new NoSolution(failed.what, failed.next) : failed;
}

/** A file with a constraint for builds beyond those of the recipe. */
export const olderFile = `${scratch}/in/older.txt`;

/** Writes the constraint of {@link olderSetuptools} where builds find it. */
export async function putOlder(container: BuildContainer, constraint: string): Promise<void> {
  const content = Buffer.from(`${constraint}\n`);
  await container.put(await tarOf([{ path: olderFile.slice(1), content }]));
}

const inputPaths = (...names: string[]): string[] => names.map((name) => `${scratch}/in/${name}`);

async function putInputs(
  container: BuildContainer,
  needs: ProjectNeeds,
  { stated, settings }: { readonly stated: readonly string[]; readonly settings: string },
): Promise<void> {
  const file = (lines: readonly string[]): Buffer => Buffer.from(`${lines.join('\n')}\n`);
  await container.put(
    await tarOf(
      Object.entries({
        'requirements.in': needs.requirements,
        'build.in': needs.build,
        'stated.in': stated,
        'constraints.txt': needs.constraints,
        'overrides.txt': needs.overrides,
        'known.toml': [settings],
      }).map(([name, lines]) => ({ path: `${scratch.slice(1)}/in/${name}`, content: file(lines) })),
    ),
  );
}

/** Options that say which versions uv may take. */
const versionLimits = ({ day, needs }: Resolving): string[] => [
  ...['--constraint', ...inputPaths('constraints.txt')],
  ...asOf(day, needs.requirements),
];

/** @param isolation the options for building packages that have no wheel */
function compileCommand(
  resolving: Resolving,
  isolation: readonly string[],
  interpreter = resolving.python,
): string[] {
  const { needs, extras } = resolving;
  const project = needs.project === undefined ? [] : [needs.project];
  return [
    ...[uvPath, 'pip', 'compile', '--python', interpreter],
    ...versionLimits(resolving),
    ...['--override', ...inputPaths('overrides.txt'), '--no-header', '--no-annotate', '--quiet'],
    // uv accepts extras only with a project among the inputs.
    ...(project.length === 0 ? [] : extras.flatMap((extra) => ['--extra', extra])),
    ...isolation,
    ...inputPaths('requirements.in', 'build.in', 'stated.in'),
    ...project,
  ];
}

/**
 * Resolves the requirements where the metadata cannot be read with the build requirements that the
 * project names. It is read with build tools that are installed here.
 *
 * @returns undefined if these cannot be installed
 */
async function compileWithOwnTools(
  container: BuildContainer,
  resolving: Resolving,
  command: Command,
): Promise<Ended | undefined> {
  const folder = `${scratch}/builder`;
  const own = `${folder}/bin/python`;
  const made = await container.attempt(
    [uvPath, 'venv', '--python', resolving.python, folder],
    command,
  );
  if (made.code !== 0) return undefined;
  const install = [
    ...[uvPath, 'pip', 'install', '--python', own, ...versionLimits(resolving)],
    ...['-r', ...inputPaths('build.in')],
  ];
  const installed = await container.attempt(install, command);
  const older = olderSetuptools(installed.output);
  if (installed.code !== 0 && older !== undefined) {
    // What has no wheel is built with these tools later, and some of them already now.
    await putOlder(container, older);
    const second = [...install, '--constraint', olderFile, '--build-constraint', olderFile];
    if ((await container.attempt(second, command)).code !== 0) return undefined;
  } else if (installed.code !== 0) return undefined;
  return container.attempt(compileCommand(resolving, ['--no-build-isolation'], own), command);
}

/** Requirements of a lock, without comments and blank lines. */
const linesOf = (lock: string): string[] =>
  lock
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('--'))
    .sort();
