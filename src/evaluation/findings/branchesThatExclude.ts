import { sideName, type Side } from '../../domain/outcome';
import { exclusiveLines, type ExclusiveLines } from '../../python/exclusiveLines';
import { readWithin, type InstanceSession } from '../session';
import type { SideCounts } from './noChangedLineRan';

/** Maximum number of contradictions that are named for each side. */
const most = 3;

/** The branches of the files of a tree, which does not change. */
const knownOf = new WeakMap<InstanceSession['trees'], Map<string, readonly ExclusiveLines[]>>();

async function branchesOf(
  { python, trees }: Pick<InstanceSession, 'python' | 'trees'>,
  side: Side,
  path: string,
): Promise<readonly ExclusiveLines[]> {
  const known = knownOf.get(trees) ?? new Map<string, readonly ExclusiveLines[]>();
  knownOf.set(trees, known);
  const key = `${side} ${path}`;
  const found =
    known.get(key) ?? exclusiveLines(python, (await readWithin(trees[side], path)) ?? '');
  known.set(key, found);
  return found;
}

/**
 * Tests whose counts no execution gives: of branches that exclude each other, at least two ran as
 * often as their condition.
 */
export async function branchesThatExclude(
  session: Pick<InstanceSession, 'python' | 'trees'>,
  side: Side,
  { candidate }: Pick<SideCounts, 'candidate'>,
): Promise<string[]> {
  const found: string[] = [];
  for (const [path, lines] of candidate) {
    const tests = new Set([...lines.values()].flatMap(({ byTest }) => [...byTest.keys()]));
    if (tests.size === 0) continue;
    for (const { condition, branches } of await branchesOf(session, side, path)) {
      for (const test of tests) {
        const count = (line: number): number => lines.get(line)?.byTest.get(test) ?? 0;
        const times = count(condition);
        const ran = branches.filter((line) => times > 0 && count(line) >= times);
        if (ran.length < 2) continue;
        found.push(
          `on ${sideName[side]}: ${test} is recorded as running lines ${ran.join(' and ')} of ${path} each time it ran the condition on line ${condition}, although these branches exclude each other`,
        );
        if (found.length >= most) return found;
      }
    }
  }
  return found;
}
