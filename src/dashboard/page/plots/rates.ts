import * as Plot from '@observablehq/plot';
import { summariseMethod } from '../../../study/measures';
import { nameColumn, rateColumns, asTexts } from '../../../study/tables';
import { type PlotKind, colourScale, draw, noPlot, roomFor, shortened } from './input';

/** S of every method with its interval. */
export const successRates: PlotKind = {
  title: 'Success rate',
  about: 'S in percent of all selected instances, with 95 % bootstrap intervals.',
  name: 'success-rate',
  draw({ methods, grading }, width) {
    if (methods.length === 0) return noPlot('No runs.');
    const rows = methods.map((method) => {
      const summary = summariseMethod(method, { grading, intervals: { resamples: 400 } });
      const { success } = summary;
      const share = success.of === 0 ? 0 : success.count / success.of;
      return {
        name: method.name,
        share: share * 100,
        low: (success.interval?.[0] ?? share) * 100,
        high: (success.interval?.[1] ?? share) * 100,
        summary,
      };
    });
    return {
      svg: draw({
        width,
        height: 70 + 24 * rows.length,
        marginLeft: roomFor(rows.map(({ name }) => shortened(name))),
        marginRight: 50,
        x: {
          label: 'S (%)',
          domain: [0, Math.max(10, ...rows.map(({ high }) => high))],
          grid: true,
        },
        y: { label: null, domain: rows.map(({ name }) => name), tickFormat: shortened },
        color: colourScale(methods),
        marks: [
          Plot.barX(rows, { x: 'share', y: 'name', fill: 'name', insetTop: 4, insetBottom: 4 }),
          Plot.ruleY(rows, { x1: 'low', x2: 'high', y: 'name', stroke: 'var(--text)' }),
          Plot.text(rows, {
            x: 'high',
            y: 'name',
            text: ({ share }: (typeof rows)[number]) => share.toFixed(1),
            dx: 6,
            textAnchor: 'start',
          }),
          Plot.ruleX([0]),
        ],
      }),
      table: asTexts({
        title: 'Success rate',
        columns: [
          nameColumn,
          ...rateColumns.filter(({ id }) => id === 'selected' || id === 'success'),
        ],
        rows: rows.map(({ summary }) => ({ summary })),
        notes: [],
      }),
    };
  },
};
