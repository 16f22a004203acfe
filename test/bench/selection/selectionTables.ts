import type { Interval } from '../../../src/study/measures/resampling';
import type { RuleShare, RuleShares } from './ruleShares';
import { selectionRuleNames, type SelectionRuleName } from './selectionRules';
import type { TestPool } from './testPool';

const percent = (share: number): string => (100 * share).toFixed(1);
const range = ([low, high]: Interval): string => `${percent(low)}–${percent(high)}`;
const points = ([low, high]: Interval): string => `${signed(low)} to ${signed(high)}`;
const signed = (share: number): string => `${share < 0 ? '−' : '+'}${percent(Math.abs(share))}`;

/** The figures of one kind of populations as Markdown, in %, with intervals of 95 %. */
export function ruleTable(
  title: string,
  rows: readonly { readonly name: string; readonly shares: RuleShares }[],
): string {
  const cell = ({ share, interval }: RuleShare): string => `${percent(share)} (${range(interval)})`;
  const shown: readonly SelectionRuleName[] = selectionRuleNames;
  return [
    `${title}: tests chosen that go F→P, in %`,
    ...markdown([
      ['Population', ...shown],
      ...rows.map(({ name, shares }) => [name, ...shown.map((rule) => cell(shares.rules[rule]))]),
    ]),
    'Agreement, in points above',
    ...markdown([
      ['Population', ...shown.filter((rule) => rule !== 'agreement')],
      ...rows.map(({ name, shares }) => [
        name,
        ...shown
          .filter((rule) => rule !== 'agreement')
          .map((rule) => points(shares.gains[rule].interval)),
      ]),
    ]),
    '',
  ].join('\n');
}

/** What the pools have, and what tests and fixes do with each other, as Markdown. */
export function poolTable(pools: readonly TestPool[]): string {
  const rows = pools.map(({ id, tests, rightFixes }) => {
    const wrongFixes = [...rightFixes.keys()].filter((fix) => rightFixes[fix] !== true);
    const right = tests.filter(({ isRight }) => isRight);
    const wrong = tests.filter(({ isRight, fails }) => !isRight && fails);
    const broken = wrong.filter(({ accepts }) => !accepts.includes(true));
    const accepting = (of: TestPool['tests']): string => {
      const votes = of.flatMap(({ accepts }) => wrongFixes.map((fix) => accepts[fix] === true));
      const share = votes.filter(Boolean).length / votes.length;
      return votes.length === 0 ? '–' : `${percent(share)} %`;
    };
    return [
      id,
      `${tests.length}`,
      `${right.length}`,
      `${wrong.length}`,
      `${broken.length}`,
      `${rightFixes.length}`,
      `${wrongFixes.length}`,
      accepting(right),
      accepting(wrong.filter((each) => !broken.includes(each))),
    ];
  });
  const head = [
    ...['Instance', 'Tests', 'go F→P', 'other, fail on R', 'of these with every fix'],
    ...['Fixes', 'wrong', 'accepted by right tests', 'by the other ones'],
  ];
  return [...markdown([head, ...rows]), ''].join('\n');
}

const markdown = ([head = [], ...rows]: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
