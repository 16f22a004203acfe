import { number } from '../../study/numbers';
import { spendingFacts } from '../../trajectory/stepRows';
import type { ShownTrajectory, TrajectoryRow } from '../../trajectory/trajectoryPages';
import { cellState, findingSymbol } from '../page/cellState';
import { button, element } from '../page/elements';
import { TrajectoryViewer } from './trajectoryViewer';

/** Which row a page begins with, and who is told of the row that is open. */
interface OpenRow {
  readonly open?: number | undefined;
  /** @param row undefined for the index */
  readonly onOpen?: (row: { readonly at: number; readonly instance: string } | undefined) => void;
}

/** The viewer of one trajectory, and the index where there are several. */
export class TrajectoryPage {
  /** @param load resolves with the trajectory of a row */
  constructor(
    private readonly root: HTMLElement,
    private readonly rows: readonly TrajectoryRow[],
    private readonly load: (at: number) => Promise<ShownTrajectory>,
    private readonly row: OpenRow = {},
  ) {
    // The index stays where the row cannot be read.
    if (rows.length !== 1) this.showIndex(undefined);
    const first = rows.length === 1 ? 0 : row.open;
    if (first !== undefined) void this.open(first);
  }

  private async open(at: number): Promise<void> {
    const shown = await this.load(at);
    const back = this.rows.length === 1 ? undefined : () => this.showIndex(at);
    this.row.onOpen?.({ at, instance: shown.trajectory.instance });
    const viewer = new TrajectoryViewer(shown, back);
    this.root.replaceChildren(viewer.root);
    window.scrollTo(0, 0);
    viewer.focus();
  }

  /** @param from the row that the user comes back from, which gets the focus */
  private showIndex(from: number | undefined): void {
    const { rows } = this;
    this.row.onOpen?.(undefined);
    this.root.replaceChildren(
      element('h1', {}, `${number(rows.length)} trajectories`),
      element(
        'div',
        { class: 'wide' },
        element(
          'table',
          { class: 'index' },
          element('caption', {}, 'Choose an instance to read its trajectory.'),
          element('thead', {}, headRow()),
          element('tbody', {}, ...rows.map((row, at) => this.indexRow(row, at))),
        ),
      ),
    );
    if (from === undefined) return;
    this.root.querySelectorAll<HTMLButtonElement>('tbody button')[from]?.focus();
  }

  private indexRow(row: TrajectoryRow, at: number): HTMLElement {
    const { instance, agent, model, totals, verdict, notes, warnings } = row;
    const state = verdict === undefined ? undefined : cellState(verdict.entry);
    const found = [
      ...(warnings > 0 ? [`${findingSymbol} ${warnings} to judge`] : []),
      ...(notes > 0 ? [`${notes} noted`] : []),
    ];
    return element(
      'tr',
      {},
      element(
        'th',
        { scope: 'row' },
        button(instance, () => void this.open(at), { class: 'quiet' }),
      ),
      element('td', {}, [agent, model].filter((each) => each !== undefined).join(', ')),
      element('td', {}, number(totals.turns)),
      element('td', {}, spendingFacts(totals).join(', ')),
      element('td', {}, state === undefined ? 'not graded' : `${state.symbol} ${state.words}`),
      element('td', {}, found.length === 0 ? 'none' : found.join(', ')),
    );
  }
}

const headRow = (): HTMLElement =>
  element(
    'tr',
    {},
    ...['Instance', 'Agent and model', 'Turns', 'Cost', 'Verdict', 'Findings'].map((text) =>
      element('th', { scope: 'col' }, text),
    ),
  );
