import { HumanError } from '../../domain/work';

/** What a prompt can be given beyond the issue, in the order of the columns of Table 5. */
export const givenParts = ['test-file', 'patch', 'files'] as const;
type GivenPart = (typeof givenParts)[number];

/** Where the given parts come from. */
export const givenSources = ['retrieved', 'golden', 'wrong'] as const;
export type GivenSource = (typeof givenSources)[number];

/** A setting of Table 5 of the SWT-Bench paper. */
export interface GivenSetting {
  /** At least one, each once, in the order of `givenParts`. */
  readonly parts: readonly GivenPart[];
  readonly from: GivenSource;
}

/**
 * Whether prompts of a setting depend on X* or T*. So do those with a wrong patch: T* tells that it
 * is wrong.
 */
export const seesAnswer = ({ from }: GivenSetting): boolean => from !== 'retrieved';

/**
 * The name of a setting, such as `golden-test-file+wrong-patch+wrong-files`. No test file is wrong:
 * as in the paper, the golden one is beside a wrong patch.
 */
export const settingName = ({ parts, from }: GivenSetting): string =>
  parts
    .map((part) => `${from === 'wrong' && part === 'test-file' ? 'golden' : from}-${part}`)
    .join('+');

/**
 * The setting that options ask for; undefined where they ask for none.
 *
 * @throws HumanError when they make no sense together
 */
export function givenSetting({
  given,
  from,
}: {
  readonly given?: readonly string[] | undefined;
  readonly from?: GivenSource | undefined;
}): GivenSetting | undefined {
  if (given === undefined) {
    if (from === undefined) return undefined;
    throw new HumanError(
      `--from ${from} needs --given`,
      `Add --given with a list of ${givenParts.join(', ')}`,
    );
  }
  const unknown = given.find((part) => !(givenParts as readonly string[]).includes(part));
  if (unknown !== undefined) {
    throw new HumanError(
      `--given: ${JSON.stringify(unknown)} is not a valid part`,
      `Use a comma-separated list of ${givenParts.join(', ')}`,
    );
  }
  const parts = givenParts.filter((part) => given.includes(part));
  const written = parts.join(',');
  if (parts.length === 0) {
    throw new HumanError(
      '--given is empty',
      `Use a comma-separated list of ${givenParts.join(', ')}`,
    );
  }
  if (from === undefined) {
    throw new HumanError(
      `--given ${written} needs --from`,
      `Add --from ${givenSources.join(', --from ')}`,
    );
  }
  if (from === 'retrieved' && parts.includes('patch')) {
    throw new HumanError(
      'Files can be retrieved from R, but a patch cannot',
      'Remove patch from --given, or use --from golden or --from wrong',
    );
  }
  if (from === 'wrong' && written === 'test-file') {
    throw new HumanError(
      '--from wrong applies to the patch and the files that it changes, not to the test file',
      'Use --given test-file,patch,files --from wrong, or --given test-file --from golden',
    );
  }
  return { parts, from };
}
