import { parseUnified } from '../../patch/parseUnified';
import type { GoldenAnswer } from './goldenAnswer';
import { seesAnswer, settingName, type GivenSetting } from './setting';

/** What the prompt of one instance is given beyond the issue, and part of the key of the prompt. */
export interface GivenContext {
  /** `settingName` of its setting. */
  readonly setting: string;
  /** Set where it depends on the answer. */
  readonly oracle?: true;
  /** A code patch, which the prompt shows as proposed. */
  readonly patch?: string;
  /** Paths of files of R that are shown in place of the best ranked ones. */
  readonly files?: readonly string[];
  /** Paths of the test files to change; `retrieved` is the best ranked one of R. */
  readonly testFiles?: readonly string[] | 'retrieved';
}

/** Sources of given parts, for the settings that use them. */
interface GivenOrigins {
  /** @throws Error in a method without `--oracle` */
  readonly golden: () => GoldenAnswer;
  /**
   * A code patch that applies to R and does not resolve the issue.
   *
   * @throws HumanError when there is none
   */
  readonly wrongPatch: () => Promise<string>;
}

/** The given parts of a setting for one instance. What is retrieved is found with the prompt. */
export async function givenContext(
  setting: GivenSetting,
  { golden, wrongPatch }: GivenOrigins,
): Promise<GivenContext> {
  const { parts, from } = setting;
  const common = {
    setting: settingName(setting),
    ...(seesAnswer(setting) && { oracle: true as const }),
  };
  if (from === 'retrieved') {
    return { ...common, ...(parts.includes('test-file') && { testFiles: 'retrieved' as const }) };
  }
  const patch = from === 'golden' ? golden().patch : await wrongPatch();
  return {
    ...common,
    ...(parts.includes('patch') && { patch }),
    ...(parts.includes('files') && { files: filesBefore(patch) }),
    ...(parts.includes('test-file') && { testFiles: golden().testFiles }),
  };
}

/**
 * The files that a patch changes or removes, by their paths before it, Python files first. A file
 * that it adds is not among them.
 */
function filesBefore(patch: string): string[] {
  const paths = new Set<string>();
  for (const { oldPath } of parseUnified(patch).files) if (oldPath !== null) paths.add(oldPath);
  const isPython = (path: string): boolean => path.endsWith('.py');
  return [...[...paths].filter(isPython), ...[...paths].filter((path) => !isPython(path))];
}
