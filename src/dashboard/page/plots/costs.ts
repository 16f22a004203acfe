import * as Plot from '@observablehq/plot';
import { costsOf, passAtK, summariseMethod } from '../../../study/measures';
import { asTexts, costsTable, passTable } from '../../../study/tables';
import {
  type PlotKind,
  colourScale,
  draw,
  hollow,
  legend,
  noPlot,
  signScale,
  stacked,
} from './input';

/** The paper's tables 9 to 11. */
export const costs: PlotKind = {
  title: 'Cost and time',
  about:
    'Cost and time of generating and evaluating candidates, if predictions and runs record them.',
  name: 'costs',
  draw({ methods, grading }, width) {
    const summaries = methods.map((method) => summariseMethod(method, { grading }));
    const costs = methods.map((method) => costsOf(method, grading));
    const table = asTexts(costsTable({ methods: summaries, costs, published: [] }));
    if (table.rows.length < 2) return noPlot('No cost data in predictions or runs.');
    const points = costs.flatMap(({ name, dollars }, index) => {
      const { count = 0, of = 0 } = summaries[index]?.success ?? {};
      const share = of === 0 ? 0 : (100 * count) / of;
      return dollars === undefined ? [] : [{ name, dollars: dollars.sum, share }];
    });
    return {
      ...(points.length > 0 && {
        svg: stacked(width, [
          legend(methods, width),
          draw({
            width,
            height: 260,
            marginRight: 30,
            x: { label: 'US dollars for all instances', zero: true, grid: true },
            y: { label: 'S (%)', zero: true, grid: true },
            color: colourScale(methods),
            symbol: signScale(methods),
            marks: [
              Plot.dot(points, { x: 'dollars', y: 'share', ...hollow, symbol: 'name', r: 5 }),
            ],
          }),
        ]),
      }),
      table,
    };
  },
};

/** Pass@k of methods with several samples. */
export const samples: PlotKind = {
  title: 'Pass@k',
  about: 'Probability in percent that at least one of k samples is a success (unbiased estimator).',
  name: 'pass-at-k',
  draw({ methods: all, grading }, width) {
    const methods = all.filter(
      ({ oracleOf, sampleCount }) => oracleOf === undefined && sampleCount > 1,
    );
    if (methods.length === 0) return noPlot('No method has more than one sample per instance.');
    const rows = methods.map((method) => ({
      method: method.id,
      name: method.name,
      values: passAtK(method, grading),
    }));
    const points = rows.flatMap(({ name, values }) =>
      values.map(({ k, mean }) => ({ name, k, share: 100 * mean })),
    );
    const most = Math.max(...points.map(({ k }) => k));
    return {
      svg: stacked(width, [
        legend(methods, width),
        draw({
          width,
          height: 260,
          x: { label: 'k', domain: [1, most], ticks: Math.min(10, most - 1), tickFormat: 'd' },
          y: { label: 'Pass@k (%)', grid: true, zero: true },
          color: colourScale(methods),
          symbol: signScale(methods),
          marks: [
            Plot.line(points, { x: 'k', y: 'share', stroke: 'name' }),
            Plot.dot(points, { x: 'k', y: 'share', ...hollow, symbol: 'name', r: 4 }),
          ],
        }),
      ]),
      table: passTable(rows),
    };
  },
};
