import type { AgentlessStage } from '../../src/method/agentless/agentlessSettings';
import type { Asked } from './fakeModels';

/** What shows the stage of a request. */
const marks: readonly (readonly [AgentlessStage, string])[] = [
  ['files', 'which files need to be changed'],
  ['folders', 'which folders are irrelevant'],
  ['elements', 'which classes, functions and variables'],
  ['locations', 'which lines, functions or classes need to be changed'],
  ['repair', 'search/replace edits'],
  ['regression', 'so they must not be used'],
  ['reproduction', 'Write a Python script that shows whether the issue exists'],
];

export function stageOf({ text }: Pick<Asked, 'text'>): AgentlessStage {
  const found = marks.find(([, mark]) => text.includes(mark));
  if (found === undefined) throw new Error(`a request of no stage: ${text.slice(0, 500)}`);
  return found[0];
}

/** Whether a text is a request of a stage. */
export const isOfStage = (text: string): boolean => marks.some(([, mark]) => text.includes(mark));

const fenced = (...lines: string[]): string =>
  ['Some thoughts.', '', '```', ...lines, '```', ''].join('\n');

const edit = (find: string, replace: string): string =>
  [
    'The shares are rounded up. Hence:',
    '',
    '```python',
    '### tallybook/money.py',
    ...['<<<<<<< SEARCH', find, '=======', replace, '>>>>>>> REPLACE', '```', ''],
  ].join('\n');

const rounded = '            shares.append(round(self.cents * weight / total))';
export const roundedDown = '            shares.append(self.cents * weight // total)';
const roundedUp = '            shares.append(-(-self.cents * weight // total))';

/** A script that shows whether a cent is lost. */
export const reproductionScript = fenced(
  ...['from tallybook import Money', ''],
  'total = sum(part.cents for part in Money(2000).allocate([1, 1, 1]))',
  'print("Issue resolved" if total == 2000 else "Issue reproduced")',
);

/** The sets of locations that the samples name: the third names none, and goes on with the code. */
const locations = [
  fenced('tallybook/money.py', 'lines: 48-52'),
  fenced('tallybook/money.py', 'function: Money.allocate', 'line: 9999'),
  'I cannot say.',
  fenced('tallybook/expense.py', 'function: to_entry', 'tallybook/money.py', 'line: 49'),
];

/**
 * A model that answers by the stage alone, whatever came before, but for the samples of locations.
 *
 * @param sample number of the requests for locations before this one
 */
export function agentlessAnswer(
  asked: Pick<Asked, 'text' | 'temperature'>,
  sample: number,
): string {
  switch (stageOf(asked)) {
    case 'files':
      return fenced('tallybook/ledger.py', 'tallybook/money.py', 'tallybook/gone.py');
    case 'folders':
      return fenced('docs/');
    case 'elements':
      return fenced(
        ...['tallybook/money.py', 'function: Money.allocate', 'variable: ZERO', ''],
        ...['tallybook/expense.py', 'method: Expense.to_entry(self)', 'function: nothing'],
      );
    case 'locations':
      return locations[sample] ?? '';
    case 'regression':
      return '<exclude>\n</exclude>';
    case 'reproduction':
      return reproductionScript;
    case 'retrieval':
    case 'combined':
    case 'repair':
      return asked.temperature === 0 ? edit(rounded, roundedUp) : edit(rounded, roundedDown);
  }
}

const words = ['allocate', 'cent', 'Expense', 'share', 'journal', 'Entry'];

/** Vectors with the numbers of some words. */
export const agentlessVectors = (texts: readonly string[]): number[][] =>
  texts.map((text) => [1, ...words.map((word) => text.split(word).length - 1)]);
