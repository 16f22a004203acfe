import { Cancelled, HumanError } from '../domain/work';
import { startProgram } from '../files/startProgram';
import { systemFault } from '../files/systemFault';
import { bytesOf, textOf } from '../patch/bytes';
import { existsSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';

interface GitOptions {
  /**
   * The folder of a tree, whose repository is its `.git`. Git searches no folders above it. Without
   * this, `--git-dir` or `GIT_DIR` in `env`, git uses no repository.
   */
  readonly cwd?: string;
  /** Standard input; bytes that are not UTF-8 are as {@link textOf} writes them. */
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Whether the command contacts another repository. Only then are protocols allowed, and the
   * user's own configuration (proxies, credentials) is read. Otherwise the user's signing, hooks,
   * line ends and templates could change the trees that tests run on.
   */
  readonly fetches?: boolean;
  /** Called with each line of standard error, as git's `--progress` writes them. */
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
 * Working folder for programs that are found by name. Windows, and a PATH with an empty part or a
 * dot, look for a program in the working folder first. So the working folder must be neither a tree
 * nor that of this process, which may be the workspace.
 */
export const neutralFolder = parse(process.execPath).root;

const nullDevice = process.platform === 'win32' ? 'NUL' : '/dev/null';

/**
 * Settings that override the configuration of a repository. Commands that a repository could set
 * (hooks, monitors, filters, helpers) are set here, or have no name that git would look up. See
 * `foreignRepository.ts` for repositories of others.
 */
const fixedConfig = [
  'core.autocrlf=false',
  'core.safecrlf=false',
  `core.hooksPath=${nullDevice}`,
  `core.attributesFile=${nullDevice}`,
  'core.fsmonitor=false',
  // Git takes the output of this command for refs of a repository that lends objects. Without it,
  // git would ask that repository itself.
  'core.alternateRefsCommand=:',
  'core.quotePath=true',
  'core.longPaths=true',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // A user's repository may be a sparse checkout, but R is always whole.
  'core.sparseCheckout=false',
  'advice.detachedHead=false',
  // The repository of a submodule belongs to its author, who may be anybody.
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'safe.bareRepository=explicit',
  'protocol.allow=never',
];

/**
 * Protocols to contact another repository. A remote helper such as `ext` would run commands from an
 * address.
 */
const protocols = ['file', 'git', 'http', 'https', 'ssh'];

/**
 * Runs git and returns its standard output; {@link bytesOf} gives its exact bytes. After a
 * cancellation git has ended, so the caller can remove what it was writing.
 *
 * @throws GitError with git's own words; HumanError when there is no git, or it cannot be started;
 *   Cancelled
 */
export function git(args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { cwd, input = '', signal, onProgress } = options;
  if (signal?.aborted === true) return Promise.reject(new Cancelled());
  const into = cwd === undefined ? [] : ['-C', resolve(cwd)];
  const settings = configFor(options).flatMap((setting) => ['-c', setting]);
  return new Promise((resolve, reject) => {
    const child = startProgram('git', [...into, ...settings, ...args], {
      cwd: neutralFolder,
      env: environmentFor(args, options),
    });
    const stdout: Buffer[] = [];
    const stderr = lastOf(onProgress);
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk.toString('utf8')));

    // Wait until git has ended, because the caller then removes what it was writing.
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
      // Helper processes that git leaves behind may keep the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      ended();
      reject(
        error.code === 'ENOENT'
          ? new HumanError('Git cannot be started', 'Install git and add it to PATH')
          : (systemFault(error) ?? error),
      );
    });
    child.on('close', (status) => {
      ended();
      if (signal?.aborted === true) reject(new Cancelled());
      else if (status === 0) resolve(textOf(Buffer.concat(stdout)));
      // When the folder is missing, git's own words do not say what it was to do there.
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

/**
 * Author and committer of all our commits, and their time in seconds since 1970. As they are fixed,
 * the same content has the same commit id on every machine.
 */
export const identity = {
  name: 'swt-bench',
  email: 'swt-bench@localhost',
  seconds: Date.UTC(2000, 0, 1) / 1000,
};

function environmentFor(args: readonly string[], options: GitOptions): NodeJS.ProcessEnv {
  const { fetches = false } = options;
  const { name, email, seconds } = identity;
  const date = `@${seconds} +0000`;
  return {
    ...withoutGit(process.env, fetches),
    GIT_ATTR_NOSYSTEM: '1',
    // Unlike configuration, these variables reach the processes that git starts in other
    // repositories.
    GIT_ALLOW_PROTOCOL: fetches ? protocols.join(':') : '',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    // The ref of R is read as a file (see workspaceRepository.ts).
    GIT_DEFAULT_REF_FORMAT: 'files',
    ...repositoryOf(args, options),
    ...(fetches ? {} : { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: nullDevice }),
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

/** Names the repository, so that git does not search for one in the folders above. */
function repositoryOf(args: readonly string[], { cwd }: GitOptions): Record<string, string> {
  if (args.includes('--git-dir')) return {};
  if (cwd === undefined) return { GIT_DIR: join(nullDevice, 'none') };
  return { GIT_DIR: resolve(cwd, '.git'), GIT_WORK_TREE: resolve(cwd) };
}

/**
 * Collects standard error: passes every line to `onLine`, and keeps the last part. Progress
 * rewrites its line with \r.
 */
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

/** Variables with which users set how to contact a server, or where git is. */
const connection = /^GIT_(SSH.*|ASKPASS|PROXY.*|SSL.*|HTTP_.*|CURL_.*|EXEC_PATH|TRACE.*)$/;

/**
 * Removes variables such as GIT_DIR, which a surrounding git hook or editor exports and which would
 * redirect our commands. Others, such as GIT_DIFF_OPTS, would change the output.
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

/** A source of R that cannot be used; the user can name another one. */
export class SourceUnusable extends HumanError {
  /** @param brief the same for a notification, which is narrow: without git's words and advice */
  constructor(
    what: string,
    next?: string,
    readonly brief?: string,
  ) {
    super(what, next);
  }
}

/** A repository that cannot be reached now because of the network; a later attempt may succeed. */
export class RepositoryUnreachable extends SourceUnusable {}

/** Words of git and curl for why a commit could not be fetched, with an explanation for people. */
const causes: readonly {
  readonly words: RegExp;
  readonly why: string;
  readonly next: string;
  /** Whether the network is the cause, so that a later attempt may succeed. */
  readonly passing?: boolean;
}[] = [
  {
    words: /could not resolve (host|hostname|proxy)|Name or service not known/i,
    passing: true,
    why: 'you may be offline, or the host does not exist',
    next: 'Check the network, the proxy and the URL, and try again',
  },
  {
    words:
      /failed to connect|couldn't connect|connection (timed out|refused|reset)|network is unreachable|no route to host|operation too slow|timed out|early EOF|hung up unexpectedly|RPC failed/i,
    passing: true,
    why: 'the connection failed',
    next: 'Check the network and try again',
  },
  {
    // Git's words for the status of a server that is overloaded or restarting.
    words: /returned error: (429|5\d\d)|HTTP (429|5\d\d)/i,
    passing: true,
    why: 'the server is temporarily unavailable',
    next: 'Try again later',
  },
  {
    // For a repository that does not exist, GitHub asks for a name, so that private ones stay
    // hidden.
    words: /repository .*not found|not found|could not read (Username|Password)|error: 404/i,
    why: 'the repository does not exist or is private',
    next: 'It may have moved or been deleted',
  },
  {
    words: /authentication failed|permission denied|error: 40[13]|access denied|host key/i,
    why: 'access is denied',
    next: "Check git's credentials for it",
  },
  {
    words: /does not appear to be a git repository|is not a git repository|does not exist/i,
    why: 'it is not a git repository',
    next: 'It may have been moved or deleted',
  },
  {
    words: /corrupt|is empty|cannot be accessed|invalid sha1 pointer|missing blob/i,
    why: 'the local copy is damaged',
    next: 'Remove a damaged mirror with `swt-bench storage --free-mirror OWNER/NAME` and try again',
  },
  {
    words:
      /not our ref|couldn't find remote ref|bad revision|unknown revision|bad object|unadvertised object|has no tree/i,
    why: 'it does not have this commit',
    next: "Check the row's repo and base_commit",
  },
];

/** The error for the user when git could not get a commit. */
export function fetchFailure(
  error: GitError,
  asked: { readonly repo: string; readonly commit: string; readonly from: string },
): HumanError {
  const { repo, commit } = asked;
  const cause = causes.find((each) => each.words.test(error.stderr));
  const said = withoutPassword(lastLine(error.stderr));
  const Kind = cause?.passing === true ? RepositoryUnreachable : SourceUnusable;
  return new Kind(
    `Commit ${commit} of ${repo} cannot be fetched from ${withoutPassword(asked.from)}: ${cause === undefined ? said : `${cause.why} (${said})`}`,
    `${cause === undefined ? '' : `${cause.next}. `}Give --source ${repo}=PATH_OR_URL of a repository that has it, or a folder or archive with a release that the patch fits`,
    cause &&
      `Commit ${commit.slice(0, 10)} of ${repo} cannot be fetched from ${hostOf(asked.from)}: ${cause.why}`,
  );
}

/** The host of an address, or the place on this machine as it is written. */
const hostOf = (from: string): string =>
  /^[a-z+]+:\/\/(?:[^/\s@]+@)?([^/\s]+)/i.exec(from)?.[1] ?? withoutPassword(from);

/** Removes the password or token from an address, to keep it out of logs and reports. */
export const withoutPassword = (text: string): string =>
  text.replace(/(\w:\/\/)[^/\s@]+@/g, '$1***@');

const lastLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .filter((line) => !/^(hint:|Please make sure|and the repository exists|\s*$)/i.test(line))
    .at(-1)
    ?.replace(/^(fatal|error): /, '') ?? '';

/** Quotes a path for git's lists of paths, whatever characters it has. */
export const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;
