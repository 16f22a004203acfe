import { HumanError } from '../../domain/humanError';
import type { GitError } from './git';

/** A source of R that cannot be used; the person can name another one. */
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
    why: 'there is no network, or its host is not known',
    next: 'Check the network, the proxy and the address, and try again',
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
    why: 'its server cannot answer now',
    next: 'Try again in a while',
  },
  {
    // For a repository that does not exist, GitHub asks for a name, so that private ones stay
    // hidden.
    words: /repository .*not found|not found|could not read (Username|Password)|error: 404/i,
    why: 'there is no such repository, or it is private',
    next: 'It may have moved or been deleted',
  },
  {
    words: /authentication failed|permission denied|error: 40[13]|access denied|host key/i,
    why: 'access is denied',
    next: 'Check the credentials that git uses for it',
  },
  {
    words: /does not appear to be a git repository|is not a git repository|does not exist/i,
    why: 'there is no git repository',
    next: 'It may have been moved or deleted',
  },
  {
    words: /corrupt|is empty|cannot be accessed|invalid sha1 pointer|missing blob/i,
    why: 'its copy on this disk is damaged',
    next: 'Remove a damaged mirror with `swt-bench storage --free-mirror OWNER/NAME` and try again',
  },
  {
    words:
      /not our ref|couldn't find remote ref|bad revision|unknown revision|bad object|unadvertised object|has no tree/i,
    why: 'it has no such commit',
    next: 'Check that repo and base_commit of the row belong together',
  },
];

/** The error for a person when git could not get a commit. */
export function cannotBeHad(
  error: GitError,
  asked: { readonly repo: string; readonly commit: string; readonly from: string },
): HumanError {
  const { repo, commit } = asked;
  const cause = causes.find((each) => each.words.test(error.stderr));
  const said = withoutPassword(lastLine(error.stderr));
  const Kind = cause?.passing === true ? RepositoryUnreachable : SourceUnusable;
  return new Kind(
    `Commit ${commit} of ${repo} cannot be obtained from ${withoutPassword(asked.from)}: ${cause === undefined ? said : `${cause.why} (${said})`}`,
    `${cause === undefined ? '' : `${cause.next}. `}Give --source ${repo}=PATH_OR_URL of a repository that has it, or a folder or archive with a release that the patch fits`,
    cause &&
      `Commit ${commit.slice(0, 10)} of ${repo} cannot be had from ${hostOf(asked.from)}: ${cause.why}`,
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
