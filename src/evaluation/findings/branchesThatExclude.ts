import { sideName, type Side } from '../../domain/outcome';
import { exclusiveLines } from '../../python/exclusiveLines';
import { readWithin, type InstanceSession } from '../session';
import type { SideCounts } from './noChangedLineRan';

/** Most contradictions that are named for each side. */
const most = 3;

/**
 * Tests whose counts no execution gives: of branches that exclude each other, at least two ran as
 * often as their condition.
 */
export async function branchesThatExclude(
  { python, trees }: Pick<InstanceSession, 'python' | 'trees'>,
  side: Side,
  { candidate }: Pick<SideCounts, 'candidate'>,
): Promise<string[]> {
  const found: string[] = [];
  for (const [path, lines] of candidate) {
    const tests = new Set([...lines.values()].flatMap(({ byTest }) => [...byTest.keys()]));
    if (tests.size === 0) continue;
    const source = (await readWithin(trees[side], path)) ?? '';
    for (const { condition, branches } of exclusiveLines(python, source)) {
      for (const test of tests) {
        const count = (line: number): number => lines.get(line)?.byTest.get(test) ?? 0;
        const times = count(condition);
        const ran = branches.filter((line) => times > 0 && count(line) >= times);
        if (ran.length < 2) continue;
        found.push(
          `on ${sideName[side]}: ${test} ran lines ${ran.join(' and ')} of ${path}, which exclude each other, as often as their condition on line ${condition}`,
        );
        if (found.length >= most) return found;
      }
    }
  }
  return found;
}
