import type { Finding } from '../../domain/finding';
import { lostInRun, lostInWords, together, type LostTests } from '../../domain/lostTests';
import { sides } from '../../domain/outcome';
import { plural } from '../../domain/plural';
import type { TestTransition } from '../../domain/transition';
import type { OwnTests } from '../prepareCandidate';
import type { EditedFile } from './editedFiles';
import { finding, quotedCode } from './finding';

/**
 * Tests that a candidate loses, by its text and, where both runs are whole, by their outcomes.
 *
 * @param runs the transitions without and with the candidate; undefined where a run broke off
 */
export function lostTests(
  { lost, moved }: Pick<OwnTests, 'lost' | 'moved'>,
  runs: Record<'before' | 'now', readonly TestTransition[]> | undefined,
): LostTests {
  const inRuns = (runs === undefined ? [] : sides).map((side) => {
    const on = (tests: readonly TestTransition[] = []) => tests.map((each) => each[side]);
    return lostInRun(on(runs?.before), on(runs?.now), moved);
  });
  return together(lost, inRuns);
}

/**
 * Whether a candidate removes or disables tests of R, or tells the runner to leave some out.
 *
 * @param lines number of changed lines that ΔC loses thereby
 */
export function removesOrDisablesTests(
  lost: LostTests,
  files: readonly EditedFile[],
  lines: number,
): Finding | undefined {
  const sentences = [...lostInWords(lost), ...files.flatMap(leavesOut)];
  if (sentences.length > 0 && lines > 0) {
    sentences.push(`ΔC is lower by ${plural(lines, 'line')} that these tests ran`);
  }
  return finding('removes or disables tests', sentences);
}

/** Settings of pytest that leave tests out of collection. */
const leavesOutTests =
  /\bcollect_ignore(_glob)?\b|\bpytest_ignore_collect\b|--(ignore(-glob)?|deselect)\b/;

function leavesOut({ path, source, spans }: EditedFile): string[] {
  const lines = source.split('\n');
  return spans.flatMap(({ first, last }) =>
    lines
      .slice(first - 1, last)
      .flatMap((text, index) =>
        leavesOutTests.test(text) && !/^\s*#/.test(text)
          ? [`${path}:${first + index} leaves tests out: ${quotedCode(text)}`]
          : [],
      ),
  );
}
