import type { HumanError } from '../../domain/work';
import type { EnvironmentPlan } from '../environmentPlan';
import { asOf, NoSolution, olderSetuptools, saysNoSolution } from './packageDay';
import { packageOf, plainName } from './projectNeeds';

/** The end of a command. */
interface Ended {
  readonly code: number;
  /** The last of its output, standard error included. */
  readonly output: string;
}

/** Where a plan is carried out: a container of a build, or a folder of this machine. */
export interface PackagePlace {
  /** Interpreter that requirements are resolved for. */
  readonly python: string;
  /** A virtual environment, not made yet, for build tools. */
  readonly tools: { readonly folder: string; readonly python: string };
  /** Path of a file of R. */
  ofTree(path: string): string;
  /** Writes an input of uv. Returns its path. */
  write(name: string, lines: readonly string[]): Promise<string>;
  /** Runs uv to its end, whatever its exit status. */
  uv(args: readonly string[], doing: string): Promise<Ended>;
  /** Runs `uv pip compile`. */
  compile(args: readonly string[], doing: string): Promise<Ended & { readonly lock: string }>;
  /** The error for a command that failed, in its own words. */
  failed(ended: Ended, doing: string): HumanError;
}

/** What is known of packages without their set-up programs, which need not run then. */
export interface KnownMetadata {
  /** Requirements of R itself. */
  readonly stated?: readonly string[] | undefined;
  /** Settings of uv with the metadata of other packages; empty for none. */
  readonly settings?: string;
}

/**
 * Resolves the requirements of R and its recipe to exact versions. Runs R's set-up program, and those
 * of its requirements that have no wheel.
 *
 * @param day as of which packages are taken
 * @returns lines of a requirement file without R, sorted
 * @throws NoSolution when there is none, HumanError when metadata cannot be read, in uv's own words
 */
export async function resolvePackages(
  plan: EnvironmentPlan,
  place: PackagePlace,
  day: string | undefined,
  { stated, settings = '' }: KnownMetadata = {},
): Promise<string[]> {
  const { packages: needs, title } = plan;
  const doing = `resolve the requirements of ${title}${day === undefined ? '' : ` as of ${day}`}`;
  const { constraints, build, project, options, files } = await requirementInputs(
    needs,
    place,
    stated,
  );
  const versions = ['--constraint', constraints, ...asOf(day, needs.requirements)];
  const inputs = [...options, '--no-header', '--no-annotate', '--quiet', ...files];
  const compile = (python: string, ...more: readonly string[]) =>
    place.compile(['--python', python, ...versions, ...more, ...inputs], doing);
  const isolated = ['--build-constraint', constraints];
  const locked = (lock: string): string[] =>
    linesOf(lock).filter((line) => packageOf(line) !== plainName(needs.name));
  if (settings !== '') {
    const file = await place.write('known.toml', [settings]);
    const quick = await compile(place.python, ...isolated, '--config-file', file);
    if (quick.code === 0) return locked(quick.lock);
  }
  let ended = await compile(place.python, ...isolated);
  const older = olderSetuptools(ended.output);
  if (ended.code !== 0 && older !== undefined) {
    const file = await place.write('older.txt', [older]);
    ended = await compile(place.python, ...isolated, '--build-constraint', file);
  }
  const lacksMetadata = /build|metadata|setup\.py/i.test(ended.output);
  if (ended.code !== 0 && project.length > 0 && lacksMetadata) {
    // The metadata may be read with other build requirements than those that the project names.
    if (await installTools(place, versions, build, doing)) {
      const second = await compile(place.tools.python, '--no-build-isolation');
      if (second.code === 0) ended = second;
    }
  }
  if (ended.code === 0) return locked(ended.lock);
  const failed = place.failed(ended, doing);
  throw saysNoSolution(ended.output) ? new NoSolution(failed.what, failed.next) : failed;
}

/** What uv resolves, as files that it reads. */
interface RequirementInputs {
  readonly constraints: string;
  /** Requirements of building R. */
  readonly build: string;
  /** Files of R that state its requirements; empty where these are stated otherwise. */
  readonly project: readonly string[];
  readonly options: readonly string[];
  /** All files with requirements, those of R last. */
  readonly files: readonly string[];
}

/**
 * Writes the inputs of uv for what a project needs.
 *
 * @param stated requirements of R itself, where they are known
 */
export async function requirementInputs(
  needs: EnvironmentPlan['packages'],
  place: Pick<PackagePlace, 'write' | 'ofTree'>,
  stated?: readonly string[],
): Promise<RequirementInputs> {
  const constraints = await place.write('constraints.txt', needs.constraints);
  const build = await place.write('build.in', needs.build);
  const project = stated === undefined && needs.project !== undefined ? [needs.project] : [];
  const options = [
    ...['--override', await place.write('overrides.txt', needs.overrides)],
    // uv accepts extras only with a project among the inputs.
    ...(project.length === 0 ? [] : needs.extras.flatMap((extra) => ['--extra', extra])),
  ];
  const files = [
    await place.write('requirements.in', needs.requirements),
    await place.write('stated.in', stated ?? []),
    build,
    ...project.map((file) => place.ofTree(file)),
  ];
  return { constraints, build, project, options, files };
}

/** Makes the environment of build tools. Returns whether that succeeded. */
async function installTools(
  place: PackagePlace,
  versions: readonly string[],
  build: string,
  doing: string,
): Promise<boolean> {
  const { folder, python } = place.tools;
  const made = await place.uv(['venv', '--clear', '--python', place.python, folder], doing);
  if (made.code !== 0) return false;
  const install = ['pip', 'install', '--python', python, ...versions, '-r', build];
  const installed = await place.uv(install, doing);
  if (installed.code === 0) return true;
  const older = olderSetuptools(installed.output);
  if (older === undefined) return false;
  // What has no wheel is built with these tools later, and some of them already now.
  const file = await place.write('older.txt', [older]);
  const second = [...install, '--constraint', file, '--build-constraint', file];
  return (await place.uv(second, doing)).code === 0;
}

/**
 * Installs exactly what a lock lists into a virtual environment.
 *
 * @param python its interpreter
 * @throws HumanError in uv's own words
 */
export async function installPackages(
  lock: readonly string[],
  python: string,
  place: PackagePlace,
  { day, doing }: { readonly day: string | undefined; readonly doing: string },
): Promise<void> {
  const file = await place.write('lock.txt', lock);
  const install = ['pip', 'install', '--python', python, '--no-deps', '-r', file];
  const first = await place.uv([...install, ...asOf(day, lock)], doing);
  if (first.code === 0) return;
  const older = olderSetuptools(first.output);
  if (older !== undefined) {
    const constraint = ['--build-constraint', await place.write('older.txt', [older])];
    const second = [...install, ...asOf(day, lock), ...constraint];
    if ((await place.uv(second, doing)).code === 0) return;
  }
  // A package built from source for a Python later than its day may need a setuptools that is also
  // later than its day.
  const later = await place.write('later.txt', ['setuptools<69']);
  const third = await place.uv([...install, '--build-constraint', later], doing);
  if (third.code !== 0) throw place.failed(first, doing);
}

/** Requirements of a lock, without comments and options. */
const linesOf = (lock: string): string[] =>
  lock
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(#|--)/.test(line))
    .sort();
