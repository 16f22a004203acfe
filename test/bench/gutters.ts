// Processor time that the extension needs to draw the line states of a large change. A benchmark,
// not a test: `npm run bench -- gutters [--lines N]`. test/windows/authoring/coverage.ts measures
// VS Code's own work on the marks in a window.
import { parseArgs } from 'node:util';
import { type CoveredLine, changeCoverageOf } from '../../src/domain/changeCoverage';
import { marksOfFixed, marksOfR, marksOfWorkspace } from '../../src/editor/coverage/coverageMarks';
import { lineMap } from '../../src/editor/coverage/workspaceLines';
import { inDiffOrder, neighbour } from '../../src/editor/coverage/diffOrder';
import { linesBySide } from '../../src/editor/coverage/shownCoverage';
import { changeBlocks, changedLines } from '../../src/patch/changedLines';
import { makeUnified } from '../../src/patch/makeUnified';
import { parseUnified } from '../../src/patch/parseUnified';

const { values } = parseArgs({
  allowPositionals: true,
  options: { lines: { type: 'string', default: '2000' } },
});
const wanted = Number(values.lines);

/** Lines removed and added by each of the files, so that the patch shows single lines. */
const perFile = 200;
const paths = Array.from({ length: Math.ceil(wanted / perFile) }, (_, i) => `package/a${i}.py`);
/** Every tenth line of a file is replaced by another. */
const before = Array.from({ length: perFile * 5 }, (_, i) => `line ${i}`);
const after = before.map((line, i) => (i % 10 === 5 ? `${line} changed` : line));
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const { files } = parseUnified(
  makeUnified(paths.map((path) => ({ path, before: text(before), after: text(after) }))),
);
const states = ['newly covered', 'already covered', 'missed', 'not executable'] as const;
const changed = changedLines({ files, problems: [] });
const lines = (['removed', 'added'] as const).flatMap((change) =>
  changed[change].map((line, i): CoveredLine => ({
    ...line,
    change,
    state: states[i % 4] ?? 'missed',
    counts: { base: 0, candidate: 1, golden: 1 },
    coveredBy: ['tests/test_a.py::test_a'],
    executions: { 'tests/test_a.py::test_a': 1 },
  })),
);

/** Shortest of several, since a first run also compiles. */
function processorTime(work: () => unknown): number {
  let best = Infinity;
  for (let i = 0; i < 10; i++) {
    const started = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(started);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

const edited = before.map((line, i) => (i % 97 === 0 ? `${line} edited` : line));
edited.splice(3, 0, 'typed above');
for (const [what, work] of [
  [
    'both sides of the golden diff',
    () => {
      const { base, fixed } = linesBySide(changeCoverageOf([...lines]));
      for (const file of files) {
        const path = file.newPath ?? '';
        marksOfR(base.get(path) ?? []);
        marksOfFixed(fixed.get(path) ?? [], base.get(path) ?? [], changeBlocks(file));
      }
    },
  ],
  [
    'the files of the workspace, edited',
    () => {
      const { base, fixed } = linesBySide(changeCoverageOf([...lines]));
      for (const file of files) {
        const path = file.newPath ?? '';
        const map = lineMap(before, edited);
        const [removed, added] = [base.get(path) ?? [], fixed.get(path) ?? []];
        marksOfWorkspace(removed, added, changeBlocks(file), (at) => map.get(at));
      }
    },
  ],
  ['the order of the Change Coverage view', () => inDiffOrder(lines, files)],
  [
    'one step to the next missed line',
    () => neighbour(lines, files, { side: 'fixed', path: 'package/a3.py', line: 500 }, 'next'),
  ],
] as const) {
  console.log(`${lines.length} changed lines, ${what}: ${processorTime(work).toFixed(1)} ms`);
}
