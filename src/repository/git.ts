import { execFile } from 'node:child_process';
import { Cancelled, HumanError } from '../domain/problem';

export interface GitOptions {
  readonly cwd?: string;
  /** Text for standard input. */
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Read the user's own configuration (proxies, credentials). Off by default: signing, hooks, line
   * ending conversion and templates of the user must not change the trees that tests run on.
   */
  readonly userConfig?: boolean;
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

const fixedConfig = [
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.hooksPath=/dev/null',
  `core.attributesFile=${process.platform === 'win32' ? 'NUL' : '/dev/null'}`,
  'core.fsmonitor=false',
  'core.quotePath=true',
  'core.longPaths=true',
  'commit.gpgSign=false',
  'gc.auto=0',
  'advice.detachedHead=false',
  'protocol.ext.allow=never',
  // The source repository may belong to somebody else; its hooks and monitors are switched off above.
  'safe.directory=*',
];

/**
 * Runs git and returns its standard output.
 *
 * @throws GitError with git's own words; HumanError when there is no git; Cancelled
 */
export function git(args: readonly string[], options: GitOptions = {}): Promise<string> {
  const isolated: Record<string, string> =
    options.userConfig === true
      ? {}
      : {
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_GLOBAL: process.platform === 'win32' ? 'NUL' : '/dev/null',
        };
  const identity = {
    name: 'swt-bench',
    email: 'swt-bench@localhost',
    date: '2000-01-01T00:00:00Z',
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...fixedConfig.flatMap((setting) => ['-c', setting]), ...args],
      {
        cwd: options.cwd,
        maxBuffer: 512 * 1024 * 1024,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
        env: {
          ...withoutGit(process.env, options.userConfig === true),
          GIT_ATTR_NOSYSTEM: '1',
          ...isolated,
          // Fixed names and dates give the same content the same commit id on every machine.
          GIT_AUTHOR_NAME: identity.name,
          GIT_AUTHOR_EMAIL: identity.email,
          GIT_AUTHOR_DATE: identity.date,
          GIT_COMMITTER_NAME: identity.name,
          GIT_COMMITTER_EMAIL: identity.email,
          GIT_COMMITTER_DATE: identity.date,
          GIT_TERMINAL_PROMPT: '0',
          LC_ALL: 'C',
          ...options.env,
        },
      },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        if (error.name === 'AbortError') return reject(new Cancelled());
        if (error.code === 'ENOENT' && !stderr) {
          return reject(
            new HumanError('git cannot be run', 'Install git and make sure that it is on PATH'),
          );
        }
        const status = typeof error.code === 'number' ? error.code : undefined;
        reject(new GitError(args.slice(0, 2).join(' '), stderr || error.message, status));
      },
    );
    child.stdin?.on('error', () => undefined); // git may end without reading all of its input
    child.stdin?.end(options.input ?? '');
  });
}

/** What a user sets to reach a server, or to have git found at all. */
const connection = /^GIT_(SSH.*|ASKPASS|PROXY.*|SSL.*|HTTP_.*|CURL_.*|EXEC_PATH|TRACE.*)$/;

/**
 * A surrounding git hook or editor exports GIT_DIR and the like, which would redirect our commands;
 * others, such as GIT_DIFF_OPTS, change what they print.
 */
function withoutGit(env: NodeJS.ProcessEnv, userConfig: boolean): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) =>
        !name.startsWith('GIT_') ||
        connection.test(name) ||
        (userConfig && name.startsWith('GIT_CONFIG')),
    ),
  );
}
