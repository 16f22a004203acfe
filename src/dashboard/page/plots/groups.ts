import type { Share } from '../../../study/studyReportSchema';
import { plural } from '../../../domain/text';
import {
  type Group,
  beforeAndAfter,
  groupsByIssueLength,
  groupsByRepository,
} from '../../../study/measures';
import { groupTable, splitTable } from '../../../study/tables';
import { element } from '../elements';
import {
  type PlotInput,
  type PlotKind,
  hollow,
  colourScale,
  draw,
  legend,
  noPlot,
  roomFor,
  shortened,
  signScale,
  stacked,
} from './input';
import * as Plot from '@observablehq/plot';

const shareOf = ({ count, of }: Share): number => (of === 0 ? 0 : (100 * count) / of);

const sharesOf = (groups: readonly Group[]): { label: string; name: string; share: number }[] =>
  groups.flatMap(({ label, summaries }) =>
    summaries
      .filter(({ success }) => success.of > 0)
      .map(({ name, success }) => ({ label, name, share: shareOf(success) })),
  );

const namesOf = ({ methods }: PlotInput): string[] => methods.map(({ name }) => name);

/** The paper's figure 9. */
export const repositoryGroups: PlotKind = {
  title: 'By repository',
  about: "S in percent of each repository's instances.",
  name: 'by-repository',
  draw(input, width) {
    const { methods, grading } = input;
    const groups = groupsByRepository(methods, { grading });
    if (groups.length === 0) return noPlot('No instances.');
    const labels = groups.map(({ label, instances }) => `${label} (${instances})`);
    const shares = sharesOf(
      groups.map((group, index) => ({ ...group, label: labels[index] ?? '' })),
    );
    const plot = draw({
      width,
      height: 50 + 24 * groups.length,
      marginLeft: roomFor(labels),
      x: { label: 'S (%)', domain: [0, 100], grid: true },
      y: { label: null, domain: labels },
      color: colourScale(methods),
      symbol: signScale(methods),
      marks: [
        Plot.ruleY(labels, { stroke: 'var(--line)' }),
        Plot.dot(shares, { x: 'share', y: 'label', ...hollow, symbol: 'name', r: 4 }),
      ],
    });
    return {
      svg: stacked(width, [legend(methods, width), plot]),
      table: groupTable('By repository', 'Repository', groups, namesOf(input)),
    };
  },
};

/** The paper's figure 5. */
export const issueLengthGroups: PlotKind = {
  title: 'By issue length',
  about: 'S in percent, in groups of about equal size by number of characters in the issue.',
  name: 'by-issue-length',
  draw(input, width) {
    const { methods, grading } = input;
    const groups = groupsByIssueLength(methods, { grading });
    if (groups.length < 2) return noPlot('Issue lengths are unknown or all equal.');
    const shares = sharesOf(groups);
    const plot = draw({
      width,
      height: 280,
      x: {
        label: 'issue characters',
        type: 'point',
        domain: groups.map(({ label }) => label),
      },
      y: { label: 'S (%)', grid: true, zero: true },
      color: colourScale(methods),
      symbol: signScale(methods),
      marks: [
        Plot.line(shares, { x: 'label', y: 'share', stroke: 'name' }),
        Plot.dot(shares, { x: 'label', y: 'share', ...hollow, symbol: 'name', r: 4 }),
      ],
    });
    return {
      svg: stacked(width, [legend(methods, width), plot]),
      table: groupTable('By length', 'Characters', groups, namesOf(input)),
    };
  },
};

/** The median of all dates, so that both sides have instances. */
function defaultDate({ document, methods }: PlotInput): string | undefined {
  if (document.asked.splitDate !== undefined) return document.asked.splitDate;
  const dates = methods
    .flatMap(({ selected }) => selected)
    .map(({ created }) => Date.parse(created))
    .filter((time) => !Number.isNaN(time))
    .sort((a, b) => a - b);
  const middle = dates[Math.floor(dates.length / 2)];
  return middle === undefined ? undefined : new Date(middle).toISOString().slice(0, 10);
}

/** The paper's table 7. */
export const dateGroups: PlotKind = (() => {
  const field = element('input', { type: 'date', 'aria-label': 'Split date' });
  return {
    title: 'Before and after a date',
    about:
      "S in percent on instances created before and from a date, such as a model's training cutoff.",
    name: 'before-and-after',
    controls: (again) => {
      field.addEventListener('change', again);
      return [element('label', { class: 'field' }, 'Day ', field)];
    },
    draw(input, width) {
      const { methods, grading } = input;
      if (field.value === '') field.value = defaultDate(input) ?? '';
      if (field.value === '') return noPlot('Issue dates are unknown.');
      const split = beforeAndAfter(methods, field.value, { grading });
      const { before, after, undated } = split;
      if (before.instances === 0 || after.instances === 0) {
        return noPlot(`No instance is ${before.instances === 0 ? 'before' : 'after'} this date.`);
      }
      const rows = methods.map(({ name }, index) => {
        const early = before.summaries[index]?.success ?? { count: 0, of: 0 };
        const late = after.summaries[index]?.success ?? { count: 0, of: 0 };
        return { name, x1: shareOf(early), x2: shareOf(late) };
      });
      return {
        svg: draw({
          width,
          height: 60 + 24 * rows.length,
          marginLeft: roomFor(rows.map(({ name }) => shortened(name))),
          marginRight: 20,
          x: { label: 'S (%): ○ before, ● from this date on', grid: true, zero: true },
          y: { label: null, domain: rows.map(({ name }) => name), tickFormat: shortened },
          color: colourScale(methods),
          marks: [
            Plot.link(rows, { x1: 'x1', x2: 'x2', y1: 'name', y2: 'name', stroke: 'name' }),
            Plot.dot(rows, { x: 'x1', y: 'name', stroke: 'name', fill: 'var(--page)', r: 5 }),
            Plot.dot(rows, { x: 'x2', y: 'name', fill: 'name', r: 5 }),
          ],
        }),
        ...(undated > 0 && {
          note: `Without a date, not included: ${plural(undated, 'instance')}.`,
        }),
        table: splitTable(methods, split),
      };
    },
  };
})();
