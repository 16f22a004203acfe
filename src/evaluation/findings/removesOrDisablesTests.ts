import type { Finding } from '../../domain/finding';
import { lostInRun, lostInWords, eachOnce, type LostTests } from '../lostTests';
import { sides, type TestTransition } from '../../domain/outcome';
import { plural } from '../../domain/text';
import type { OwnTests } from '../prepareCandidate';
import { finding } from './finding';

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
  return eachOnce(lost, inRuns);
}

/**
 * Whether a candidate removes or disables tests of R.
 *
 * @param lines number of changed lines that ΔC loses thereby
 */
export function removesOrDisablesTests(lost: LostTests, lines = 0): Finding | undefined {
  const sentences = lostInWords(lost);
  if (sentences.length > 0 && lines > 0) {
    sentences.push(`ΔC no longer counts ${plural(lines, 'line')} that these tests executed`);
  }
  return finding('removes or disables tests', sentences);
}
