import * as l10n from '@vscode/l10n';
import { syntaxErrorOf, type StackFrame } from '../../domain/outcome';
import { failureFrameInCode, hintOn, tellingCase, type TestHint, hintInWords } from './testHints';
import { inlineCommandIds } from '../shell/names';
import { isFresh, type KnownCases } from '../verdict/evaluated';
import type { ListedTest } from './candidateTests';

/** A hint on the name of a test. */
export interface TestProblemLook {
  /** 1-based line of the name. */
  readonly line: number;
  /** 0-based columns of the name; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly code: TestHint['kind'];
  /** Where the code of R failed, with what the link there says. */
  readonly related: { readonly place: StackFrame; readonly message: string } | undefined;
}

/** What is known of the tests of a file. */
interface KnownTests {
  readonly casesOf: (test: string) => KnownCases;
  /** Whether a path from tested code is in the workspace. */
  readonly isInside: (path: string) => boolean;
}

/**
 * Hints on tests that the candidate adds or changes. A test that was edited since its run has no
 * hint.
 */
export function testProblemLooks(
  tests: readonly ListedTest[],
  { casesOf, isInside }: KnownTests,
): TestProblemLook[] {
  return tests.flatMap((test) => {
    if (test.status === 'kept') return [];
    const known = casesOf(test.id);
    const hint = isFresh(known, test) ? hintOn(known.cases, known.about) : undefined;
    if (hint === undefined) return [];
    const telling = tellingCase(known.cases);
    // Its message stands once, at its line.
    if (telling !== undefined && syntaxErrorOf(telling.base) !== undefined) return [];
    const place = telling === undefined ? undefined : failureFrameInCode(telling.base);
    return [
      {
        ...placeOfName(test),
        message: hintInWords(hint),
        code: hint.kind,
        related:
          place === undefined || !isInside(place.path)
            ? undefined
            : { place, message: l10n.t('failed here on R') },
      },
    ];
  });
}

function placeOfName({
  defLine,
  column,
  name,
  text,
}: ListedTest): Pick<TestProblemLook, 'line' | 'from' | 'to'> {
  const definition = /^\s*(?:async\s+)?def\s+/m.exec(text)?.[0].trimStart().length ?? 0;
  const from = column + definition;
  return { line: defLine, from, to: from + name.length };
}

/** The quick fixes of a hint: commands about its test. */
export const testProblemFixes = (): { readonly title: string; readonly command: string }[] => [
  { title: l10n.t('Show Test Output of Both Sides'), command: inlineCommandIds.showOutputs },
  { title: l10n.t('Debug Test on R'), command: inlineCommandIds.debugOnR },
];
