import { markedAsOracle } from '../../domain/answerSeen';
import { inPercent, number } from '../../study/numbers';
import type { Interval } from '../../study/measures';
import type { PublishedRow, Summary } from '../../study/studyReportSchema';
import {
  type MethodRow,
  nameColumn,
  type StudyTable,
  findingsTable,
  trajectoryFindingsTable,
} from '../../study/tables';
import { element, show, wideBox, captionOf } from './elements';
import {
  type MethodColumn,
  type SummaryRows,
  signsOf,
  summaryCaption,
  summaryOf,
} from './summaryRows';

/**
 * Draws the paper's Tables 2 and 3 side by side, with one row for each method.
 *
 * @param hide hides a method, or shows it again
 */
export function drawSummaryTable(
  place: HTMLElement,
  given: SummaryRows,
  hide: (id: string, isHidden: boolean) => void,
): void {
  const { methods, summaries, published } = given;
  // Keep the focus of the user who moves through the boxes with the keyboard.
  const { activeElement } = document;
  const focused = place.contains(activeElement) ? activeElement?.getAttribute(idAttribute) : null;
  const { columns, rows } = summaryOf(given);
  show(
    place,
    wideBox(
      element(
        'table',
        { class: 'summary' },
        captionOf(summaryCaption(given.kept)),
        headOfMethods(columns),
        element(
          'tbody',
          {},
          ...methods.map(({ id, name }) => {
            const row = rows.get(id);
            const box = boxOf(id, name, row !== undefined, hide);
            return row === undefined
              ? hiddenRow(box, columns.length)
              : element('tr', {}, nameCell(row, box), ...columns.map((each) => cellOf(each, row)));
          }),
        ),
        published.length > 0 && publishedRows(published, columns),
      ),
    ),
    signs(columns),
    findings(summaries),
    countsTable(trajectoryFindingsTable(summaries)),
  );
  const boxes = [...place.querySelectorAll<HTMLElement>(`[${idAttribute}]`)];
  if (focused !== null) boxes.find((box) => box.getAttribute(idAttribute) === focused)?.focus();
}

const signs = (columns: readonly MethodColumn[]): HTMLElement =>
  element(
    'ul',
    { class: 'signs quiet-text', 'aria-label': 'Legend' },
    ...signsOf(columns).map(([sign, meaning]) =>
      element('li', {}, element('b', {}, sign), ` ${meaning}`),
    ),
  );

/** The head of a table with a row for each method. */
const headOfMethods = (columns: readonly MethodColumn[]): HTMLElement =>
  element(
    'thead',
    {},
    element(
      'tr',
      {},
      ...[nameColumn, ...columns].map(({ head, help }) =>
        element('th', { scope: 'col', title: help }, head),
      ),
    ),
  );

/** A figure; below it what is small, and the interval in a line of its own. */
function cellOf(column: MethodColumn, row: MethodRow): HTMLElement {
  const cell = column.page(row);
  const { text, small, hover } = cell;
  return element(
    'td',
    { class: column.id.replace(/\W+/g, '-'), title: hover },
    text,
    'interval' in cell && intervalOf(cell.interval),
    small !== undefined && element('span', { class: 'interval' }, small),
  );
}

/** How many candidates of each method have findings; false where no run looked for any. */
function findings(summaries: readonly Summary[]): HTMLElement | false {
  const table = findingsTable(summaries);
  const looked = summaries.filter(({ findings: { of, others } }) => of + others > 0);
  if (looked.some(({ findings: { any, others } }) => any + others > 0)) return countsTable(table);
  const of = looked.reduce((sum, { findings: counts }) => sum + counts.of, 0);
  return (
    looked.length > 0 &&
    element(
      'p',
      { class: 'quiet-text' },
      of === 1
        ? 'No findings in the only candidate with an F→P test.'
        : `No findings in the ${number(of)} candidates with at least one F→P test.`,
    )
  );
}

/** A table of counts with a row for each method; false where it has no row. */
function countsTable({ title, columns, rows }: StudyTable<MethodRow>): HTMLElement | false {
  const [name = nameColumn, ...counts] = columns.filter(({ isShown }) => isShown(rows));
  return (
    rows.length > 0 &&
    wideBox(
      element(
        'table',
        { class: 'summary findings' },
        captionOf(title),
        headOfMethods(counts),
        element(
          'tbody',
          {},
          ...rows.map((row) =>
            element(
              'tr',
              {},
              element('th', { scope: 'row' }, name.text(row)),
              ...counts.map((each) => cellOf(each, row)),
            ),
          ),
        ),
      ),
    )
  );
}

const idAttribute = 'data-method';

/** The check box that shows or hides a method, with its name. */
function boxOf(
  id: string,
  name: string,
  isShown: boolean,
  hide: (id: string, isHidden: boolean) => void,
): HTMLElement {
  const tip = 'Show it in the tables and plots';
  const box = element('input', {
    type: 'checkbox',
    [idAttribute]: id,
    'aria-description': tip,
  });
  box.checked = isShown;
  box.addEventListener('change', () => hide(id, !box.checked));
  // A title of the box itself would be part of the name of the row.
  return element('label', { class: 'method', title: tip }, box, element('span', {}, name));
}

const hiddenRow = (box: HTMLElement, width: number): HTMLElement =>
  element(
    'tr',
    { class: 'hidden-method' },
    element('th', { scope: 'row' }, box),
    element('td', { colspan: String(width) }, 'hidden'),
  );

/** The name of a measured method, with what is special about it. */
function nameCell(row: MethodRow, box: HTMLElement): HTMLElement {
  const { grading, answerSeen } = 'summary' in row ? row.summary : {};
  return element(
    'th',
    { scope: 'row' },
    box,
    grading === 'harness' && element('span', { class: 'tag' }, 'harness grading'),
    answerSeen !== undefined && answerSeenTag(answerSeen),
  );
}

/** Beside the name of a method that is known to look at the answer: what it sees. */
const answerSeenTag = (why: string): HTMLElement =>
  element('span', { class: 'tag' }, `known to see the answer: ${why}`);

/** An interval in one line: without brackets, and in whole percent where the window is narrow. */
function intervalOf(range: Interval | undefined): HTMLElement {
  const text = (of: (share: number) => string): string => (range ?? []).map(of).join('–');
  const whole = (share: number): string => String(Math.round(share * 100));
  return element(
    'span',
    { class: 'interval' },
    range && element('span', { class: 'exact' }, text(inPercent)),
    range && element('span', { class: 'rounded' }, text(whole)),
  );
}

function publishedRows(
  published: readonly PublishedRow[],
  columns: readonly MethodColumn[],
): HTMLElement {
  return element(
    'tbody',
    { class: 'published' },
    element(
      'tr',
      {},
      element(
        'th',
        { colspan: String(columns.length + 1), scope: 'colgroup' },
        'Published results for comparison: not computed here, and on other instances',
      ),
    ),
    ...published.map((row) =>
      element(
        'tr',
        {},
        element(
          'th',
          { scope: 'row' },
          row.oracle === true ? markedAsOracle(row.method) : row.method,
          element(
            'span',
            { class: 'tag' },
            [row.split, row.model, row.source].filter((each) => each !== undefined).join(', '),
          ),
          row.answerSeen !== undefined && answerSeenTag(row.answerSeen),
        ),
        ...columns.map((each) => cellOf(each, { published: row })),
      ),
    ),
  );
}
