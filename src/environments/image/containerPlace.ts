import type { BuildContainer } from '../../engine/docker';
import { tarOf, type ArchiveEntry } from '../../engine/sandbox';
import type { EnvironmentPlan } from '../environmentPlan';
import { scmName } from '../plan/projectNeeds';
import type { PackagePlace } from '../plan/resolvePackages';

/** Folder for everything that a build writes. It is removed before an image is made. */
export const scratch = '/swt-build';
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

/**
 * A container as the place of a plan.
 *
 * @param python interpreter of its base image
 * @param env that of programs that run uv there
 * @param folder of R, with its repository of one commit; the root where R is not there
 */
export function containerPlace(
  container: BuildContainer,
  { packages, installation }: EnvironmentPlan,
  {
    python,
    env,
    folder = '/',
  }: {
    readonly python: string;
    readonly env: Readonly<Record<string, string>>;
    readonly folder?: string;
  },
): PackagePlace {
  const scm = `SETUPTOOLS_SCM_PRETEND_VERSION_FOR_${scmName(packages.name)}`;
  const command = { cwd: folder, env: { ...env, [scm]: installation.version }, isForeign: true };
  let waiting: ArchiveEntry[] = [];
  const run = async (args: readonly string[], doing: string) => {
    const [...files] = waiting;
    waiting = [];
    if (files.length > 0) await container.put(await tarOf(files));
    return container.attempt([uvPath, ...args], { ...command, doing });
  };
  const tools = `${scratch}/builder`;
  return {
    python,
    tools: { folder: tools, python: `${tools}/bin/python` },
    ofTree: (path) => path,
    write(name, lines) {
      const path = `${scratch}/in/${name}`;
      waiting.push({ path: path.slice(1), content: Buffer.from(`${lines.join('\n')}\n`) });
      return Promise.resolve(path);
    },
    uv: run,
    async compile(args, doing) {
      const ended = await run(['pip', 'compile', ...args], doing);
      return { ...ended, lock: ended.standard };
    },
    failed: ({ code, output }, doing) => container.failed({ code, output, standard: '' }, doing),
  };
}
