import { sha256OfJson } from '../../files/digest';

/**
 * The name that models see instead of an instance's id, whose number is that of the pull request
 * with the fix. It is a digest of what a model gets anyway, the repository and the text of the
 * issue. A model that guesses numbers thus cannot check them against it, and no secret key is
 * needed. The name is the same on every machine and in every dataset. Two instances of one issue
 * share it, so it does not identify an instance.
 */
export function aliasOf({
  repo,
  issue,
}: {
  readonly repo: string;
  readonly issue: string;
}): string {
  const digest = sha256OfJson([repo, issue.trim()]);
  return `${repo.replace('/', '__')}-${digest.slice(0, 8)}`;
}
