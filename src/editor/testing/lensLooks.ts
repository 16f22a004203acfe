import type * as vscode from 'vscode';
import { inlineCommandIds } from '../shell/names';
import type { ListedTest } from './candidateTests';

/** A lens above a test. */
export interface LensLook {
  /** 1-based line below the lens. */
  readonly line: number;
  readonly title: string;
  readonly tooltip: string;
  readonly command: string;
  /** Id of the test, the argument of the command. */
  readonly test: string;
}

/** The lenses *Reproduce · R · R∘X\* · Debug* for each test that the candidate adds or changes. */
export function lensLooks(
  l10n: typeof vscode.l10n,
  tests: readonly Pick<ListedTest, 'id' | 'status' | 'range'>[],
): LensLook[] {
  return tests.filter(isOwn).flatMap(({ id, range }) => {
    const lens = (title: string, tooltip: string, command: string): LensLook => ({
      line: range.startLine,
      title,
      tooltip,
      command,
      test: id,
    });
    return [
      lens(
        l10n.t('Reproduce'),
        l10n.t('Run this test on R and on R∘X*'),
        inlineCommandIds.reproduce,
      ),
      lens('R', l10n.t('Run this test on R'), inlineCommandIds.runOnR),
      lens('R∘X*', l10n.t('Run this test on R∘X*'), inlineCommandIds.runOnFixed),
      lens(l10n.t('Debug'), l10n.t('Debug this test on R'), inlineCommandIds.debugOnR),
    ];
  });
}

/** The positions of lenses as a text, which changes only when a lens moves. */
export const placesOfLenses = (
  files: readonly { readonly tests: readonly Pick<ListedTest, 'id' | 'status' | 'defLine'>[] }[],
): string =>
  files
    .flatMap(({ tests }) => tests.filter(isOwn).map((test) => `${test.defLine} ${test.id}`))
    .join('\n');

const isOwn = ({ status }: Pick<ListedTest, 'status'>): boolean => status !== 'kept';
