/** What setuptools lost, as errors say it, and the first version without it. */
const lost: readonly { readonly says: RegExp; readonly version: number }[] = [
  { says: /cannot import name '?Feature'?/, version: 46 },
  { says: /use_2to3 is invalid|invalid command '?use_2to3/, version: 58 },
];

/**
 * A constraint on setuptools for building packages that are older than what setuptools lost: as of
 * their own day, setuptools does not run with a later Python, so that a later one was taken.
 *
 * @param output of a build that failed
 * @returns undefined where another setuptools would not help
 */
export const olderSetuptools = (output: string): string | undefined => {
  const versions = lost.flatMap(({ says, version }) => (says.test(output) ? [version] : []));
  return versions.length === 0 ? undefined : `setuptools<${Math.min(...versions)}`;
};
