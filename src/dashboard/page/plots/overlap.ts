import * as Plot from '@observablehq/plot';
import { overlapOf, overlapWithRepairs } from '../../../study/measures';
import { button, element } from '../elements';
import { regionsTable, repairsTable } from '../../../study/tables';
import { type PlotKind, colourScale, draw, noPlot, roomFor, shortened, stacked } from './input';

/** Maximum number of regions that are shown; further ones would be too thin to read. */
const shownRegions = 20;

/** The paper's figure 6, for any number of methods: an UpSet plot in place of its Venn diagram. */
export const overlap: PlotKind = {
  title: 'Overlap of solved instances',
  about:
    'Number of instances solved by exactly the methods with a dot. Each solved instance is in one bar.',
  name: 'overlap',
  draw({ methods: all, grading }, width) {
    const methods = all.filter(({ oracle }) => !oracle);
    if (methods.length < 2)
      return noPlot('Fewer than two methods generate tests without the answer.');
    const found = overlapOf(methods, grading);
    if (found.union === 0) return noPlot('No solved instances.');
    const regions = found.regions.slice(0, shownRegions);
    const bars = regions.map(({ instances }, index) => ({ index, count: instances.length }));
    const names = methods.map(({ name }) => name);
    const dots = regions.flatMap((region, index) =>
      region.methods.map((method) => ({ index, name: names[method] ?? '' })),
    );
    const marginLeft = roomFor(names.map(shortened));
    const x = { type: 'band', domain: bars.map(({ index }) => index), axis: null } as const;
    const upper = draw({
      width,
      height: 170,
      marginLeft,
      marginBottom: 4,
      x,
      // No ticks between whole instances.
      y: {
        label: 'instances',
        grid: true,
        ticks: Math.min(6, Math.max(...bars.map(({ count }) => count))),
      },
      marks: [
        Plot.barY(bars, { x: 'index', y: 'count', fill: 'var(--series-1)' }),
        Plot.text(bars, { x: 'index', y: 'count', text: 'count', dy: -7 }),
        Plot.ruleY([0]),
      ],
    });
    const lower = draw({
      width,
      height: 12 + 20 * names.length,
      marginLeft,
      marginTop: 4,
      marginBottom: 8,
      x,
      y: { type: 'band', domain: names, label: null, tickFormat: shortened, tickSize: 0 },
      color: colourScale(methods),
      marks: [
        Plot.dot(
          bars.flatMap(({ index }) => names.map((name) => ({ index, name }))),
          { x: 'index', y: 'name', r: 3, fill: 'var(--line)' },
        ),
        Plot.dot(dots, { x: 'index', y: 'name', r: 5, fill: 'name' }),
      ],
    });
    const left = found.regions.length - regions.length;
    return {
      svg: stacked(width, [upper, lower]),
      note:
        `Together they solve ${found.union}.` +
        (left > 0 ? ` ${left} smaller combinations are not drawn.` : ''),
      table: regionsTable(found, Infinity),
    };
  },
};

/** The paper's table 6. */
export const repairs: PlotKind = {
  title: 'Overlap with code repair',
  about:
    'Compares instances whose issue is reproduced with instances that a code repair method resolves.',
  name: 'repairs',
  controls: (_again, { addRepairs }) =>
    addRepairs === undefined
      ? []
      : [element('p', {}, button('Add Code Repair Results…', addRepairs))],
  draw({ document, methods, grading }) {
    if (document.repairs.length === 0) {
      return noPlot(
        'No code repair results. Add SWE-bench harness summaries or lists of resolved instances ' +
          '(`swt-bench report --repairs FILE`).',
      );
    }
    return {
      note: 'p: probability of at least this overlap if the two were independent (hypergeometric).',
      table: repairsTable(
        document.repairs.flatMap((each) =>
          methods.map((method) => overlapWithRepairs(method, each, grading)),
        ),
      ),
    };
  },
};
