import { sha256OfJson } from '../files/sha256';

/**
 * What models are told in the place of an instance's id, whose number is that of the pull request with
 * the fix. It is made of what a model is given anyway, the repository and the text of the issue: whoever
 * guesses numbers has nothing to compare them with, and no key has to be kept. It is the same on every
 * machine and in every dataset. Two instances of one issue share it, so it is no key.
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
