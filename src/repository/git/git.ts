import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { Cancelled, HumanError } from '../../domain/humanError';
import { bytesOf, textOf } from '../../patch/bytes';

export interface GitOptions {
  /**
   * The folder of a tree, whose repository is its `.git`. None is looked for above it, nor anywhere where
   * neither this, `--git-dir` nor `GIT_DIR` in `env` names one.
   */
  readonly cwd?: string;
  /** Standard input; bytes that are no UTF-8 as {@link textOf} writes them. */
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Reaches another repository. Only then protocols are allowed, and the user's own configuration
   * (proxies, credentials) is read: signing, hooks, line ends and templates of the user must not change
   * the trees that tests run on.
   */
  readonly fetches?: boolean;
  /** Called with the lines of standard error as they come, as git's `--progress` writes them. */
  readonly onProgress?: ((line: string) => void) | undefined;
}

/** A git command that ended with a status other than 0. */
export class GitError extends Error {
  override readonly name = 'GitError';
  constructor(
    readonly command: string,
    readonly stderr: string,
    readonly status: number | undefined,
  ) {
    super(`git ${command} failed: ${stderr.trim() || `status ${status}`}`);
  }
}

/**
 * Where programs are started that are looked up by name. On Windows, and where PATH has an empty part or
 * a dot, one is found in the folder that it is started in first: neither in a tree, nor in the folder that
 * this process happens to be in, which may be the workspace.
 */
export const neutralFolder = parse(process.execPath).root;

const nullDevice = process.platform === 'win32' ? 'NUL' : '/dev/null';

/**
 * Stronger than the configuration of a repository. Commands that a repository could name otherwise
 * (hooks, monitors, filters, helpers) are named here or have no name that git would look up; see
 * `foreignRepository.ts` for repositories that are not ours.
 */
const fixedConfig = [
  'core.autocrlf=false',
  'core.safecrlf=false',
  `core.hooksPath=${nullDevice}`,
  `core.attributesFile=${nullDevice}`,
  'core.fsmonitor=false',
  // What this prints is taken for refs of a repository that lends objects; git else asks that one itself.
  'core.alternateRefsCommand=:',
  'core.quotePath=true',
  'core.longPaths=true',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // A repository of the user's may be checked out in part; R is always whole.
  'core.sparseCheckout=false',
  'advice.detachedHead=false',
  // The repository of a submodule belongs to whoever wrote it.
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'safe.bareRepository=explicit',
  'protocol.allow=never',
];

/** Ways to reach another repository. A remote helper such as `ext` runs what an address says. */
const protocols = ['file', 'git', 'http', 'https', 'ssh'];

/**
 * Runs git and returns its standard output, of which {@link bytesOf} gives the exact bytes. When it was
 * cancelled it has ended, so that what it was writing can be removed.
 *
 * @throws GitError with git's own words; HumanError when there is no git; Cancelled
 */
export function git(args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { cwd, input = '', signal, onProgress } = options;
  if (signal?.aborted === true) return Promise.reject(new Cancelled());
  const into = cwd === undefined ? [] : ['-C', resolve(cwd)];
  const settings = configFor(options).flatMap((setting) => ['-c', setting]);
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...into, ...settings, ...args], {
      cwd: neutralFolder,
      env: environmentFor(args, options),
    });
    const stdout: Buffer[] = [];
    const stderr = lastOf(onProgress);
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk.toString('utf8')));

    // Cancelled work is over only when git is: what it was writing is removed next.
    let killing: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      child.kill('SIGTERM');
      killing = setTimeout(() => child.kill('SIGKILL'), 3000);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    const ended = (): void => {
      clearTimeout(killing);
      signal?.removeEventListener('abort', cancel);
    };
    child.on('exit', () => {
      if (signal?.aborted !== true) return;
      // Helpers that git leaves behind may hold the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      ended();
      reject(
        error.code === 'ENOENT'
          ? new HumanError('git cannot be run', 'Install git and make sure that it is on PATH')
          : error,
      );
    });
    child.on('close', (status) => {
      ended();
      if (signal?.aborted === true) reject(new Cancelled());
      else if (status === 0) resolve(textOf(Buffer.concat(stdout)));
      // Without the folder, git's own words say nothing about what it was to do there.
      else if (cwd !== undefined && !existsSync(cwd))
        reject(new Error(`the folder ${cwd} does not exist`));
      else reject(new GitError(args.slice(0, 2).join(' '), stderr.text(), status ?? undefined));
    });
    child.stdin.on('error', () => undefined); // git may end without reading all of its input
    child.stdin.end(bytesOf(input));
  });
}

const configFor = ({ fetches = false }: GitOptions): readonly string[] =>
  fetches
    ? [...fixedConfig, ...protocols.map((name) => `protocol.${name}.allow=always`)]
    : fixedConfig;

function environmentFor(args: readonly string[], options: GitOptions): NodeJS.ProcessEnv {
  const { fetches = false } = options;
  const [name, email, date] = ['swt-bench', 'swt-bench@localhost', '2000-01-01T00:00:00Z'];
  return {
    ...withoutGit(process.env, fetches),
    GIT_ATTR_NOSYSTEM: '1',
    // Beyond configuration, these reach the processes that git starts in other repositories.
    GIT_ALLOW_PROTOCOL: fetches ? protocols.join(':') : '',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    // The ref of R is read as a file (see workspaceRepository.ts).
    GIT_DEFAULT_REF_FORMAT: 'files',
    ...repositoryOf(args, options),
    ...(fetches ? {} : { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: nullDevice }),
    // Fixed names and dates give the same content the same commit id on every machine.
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
    ...options.env,
  };
}

/** Names the repository, so that git does not look for one in the folders around it. */
function repositoryOf(args: readonly string[], { cwd }: GitOptions): Record<string, string> {
  if (args.includes('--git-dir')) return {};
  if (cwd === undefined) return { GIT_DIR: join(nullDevice, 'none') };
  return { GIT_DIR: resolve(cwd, '.git'), GIT_WORK_TREE: resolve(cwd) };
}

/** Standard error: every line to `onLine`, the last part kept. Progress rewrites its line with \r. */
function lastOf(onLine: ((line: string) => void) | undefined): {
  add(text: string): void;
  text(): string;
} {
  const limit = 64 * 1024;
  let kept = '';
  let open = '';
  return {
    add(text) {
      if (onLine === undefined) {
        kept = (kept + text).slice(-limit);
        return;
      }
      const lines = (open + text).split(/[\r\n]/);
      open = lines.pop() ?? '';
      for (const line of lines) {
        onLine(line);
        if (!isProgress(line)) kept = `${kept}${line}\n`.slice(-limit);
      }
    },
    text: () => kept + open,
  };
}

const isProgress = (line: string): boolean => /^(remote: )?[A-Z][a-z ]+: +\d+%|^\s*$/.test(line);

/** What a user sets to reach a server, or to have git found at all. */
const connection = /^GIT_(SSH.*|ASKPASS|PROXY.*|SSL.*|HTTP_.*|CURL_.*|EXEC_PATH|TRACE.*)$/;

/**
 * A surrounding git hook or editor exports GIT_DIR and the like, which would redirect our commands;
 * others, such as GIT_DIFF_OPTS, change what they print.
 */
function withoutGit(env: NodeJS.ProcessEnv, fetches: boolean): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) =>
        !name.startsWith('GIT_') ||
        connection.test(name) ||
        (fetches && name.startsWith('GIT_CONFIG')),
    ),
  );
}
