/**
 * Texts that no model input may contain: added lines of X* and T* longer than 20 characters, and
 * names of tests. Texts that the instance's own R or issue have are excluded. This code is
 * independent of the code that withholds them, and uses only the row of the dataset.
 *
 * @param given texts that a model may have, such as all of R and the issue
 */
export function secretsOf(
  row: { readonly patch: string; readonly test_patch: string; readonly FAIL_TO_PASS: string },
  given: readonly string[],
): string[] {
  const added = `${row.patch}\n${row.test_patch}`
    .split('\n')
    .filter((line) => line.startsWith('+') && !line.startsWith('+++ '))
    .map((line) => line.slice(1).trim());
  const tests = [
    ...added.flatMap((line) => /def (test_\w+)/.exec(line)?.[1] ?? []),
    ...(JSON.parse(row.FAIL_TO_PASS) as string[]).map((id) => id.split('::').at(-1) ?? ''),
  ];
  const secrets = [...added.filter((line) => line.length > 20), ...tests];
  return [...new Set(secrets)].filter((secret) => !given.some((text) => text.includes(secret)));
}

/** Secrets that a text contains, also where JSON has escaped its quotes. */
export function leaksIn(text: string, secrets: readonly string[]): string[] {
  const plain = text.replaceAll('\\"', '"').replaceAll("\\'", "'");
  return secrets.filter((secret) => text.includes(secret) || plain.includes(secret));
}
