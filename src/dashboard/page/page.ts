import { findingKinds, kindsOfSeverity, trajectoryFindingKinds } from '../../domain/finding';
import { type StudyDocument, studyOrigin } from '../../study/document';
import type { Grading, InstanceFacts, RunEntry } from '../../study/entry';
import { entryReasons } from '../../domain/verdict';
import { methodId } from '../../study/measures';
import { type CellKind, findingSymbol, kindWords, symbols } from './cellState';
import {
  type Column,
  type Order,
  type MatrixFilter,
  columnsOf,
  instancesOfRuns,
  isShown,
  ordered,
  orders,
} from './columns';
import { Details } from './details';
import { type ChoiceField, choice, element, show } from './elements';
import { Figures } from './figures';
import { localFilter } from '../localFilter';
import { Matrix } from './matrix';
import { number } from '../../study/numbers';
import { ProgressBars } from './progressBar';
import { type ToHost, type ToPage, fromBytes } from '../protocol';

/** Milliseconds between two drawings of a growing run. */
const gatherMilliseconds = 1000;

/** The functions that the page needs from its host: a webview, or a browser that opens the file. */
interface PageHost {
  /** Sends a message to the host; undefined for a file that a browser opens on its own. */
  readonly tell: ((message: ToHost) => void) | undefined;
  save(name: string, content: Blob): void;
  /** Ids of the methods that were hidden last time. */
  readonly hidden: readonly string[];
  /** Stores these ids for the next time. */
  keepHidden(methods: readonly string[]): void;
}

/** The page: filter, tables, plots and the matrix of instances × runs, all over the same selection. */
export class Page {
  private readonly filter = element('input', {
    type: 'search',
    spellcheck: 'false',
    placeholder: 'repo:sympy created:2020..2022 words',
    'aria-describedby': 'filter-note',
  });
  private readonly filterNote = element('span', { id: 'filter-note', role: 'status' });
  private readonly matrixNote = element('p', { class: 'quiet-text', role: 'status' });
  private readonly problems = element('div');
  private readonly progress: ProgressBars;
  private readonly matrix: Matrix;
  private readonly details: Details;
  private readonly matrixAndDetails: HTMLElement;
  private readonly figures: Figures;
  private readonly shownChoice: ChoiceField<MatrixFilter>;

  private instances: readonly InstanceFacts[] = [];
  private columns: readonly Column[] = [];
  /** Ids that the filter keeps; undefined for all instances. */
  private kept: ReadonlySet<string> | undefined;
  private hidden: ReadonlySet<string>;
  private shown: MatrixFilter = 'all';
  private order: Order = 'id';
  private typing: ReturnType<typeof setTimeout> | undefined;
  /** Labels of the runs whose trajectories the host can open. */
  private withTrajectories: ReadonlySet<string> = new Set();
  /** New entries since the page was drawn, by run. */
  private readonly gained = new Map<string, RunEntry[]>();
  private gathering: ReturnType<typeof setTimeout> | undefined;

  constructor(
    root: HTMLElement,
    private document: StudyDocument,
    private readonly surroundings: PageHost,
  ) {
    const { tell } = surroundings;
    this.hidden = new Set(surroundings.hidden);
    this.progress = new ProgressBars(tell && ((action, run) => tell({ do: 'batch', action, run })));
    this.matrix = new Matrix((facts, column) => this.showDetails(facts, column), 'matrix-help');
    this.details = new Details(
      tell && ((what, cell) => tell({ do: 'open', what, cell })),
      (run) => this.withTrajectories.has(run),
      () => this.hideDetails(),
    );
    this.matrixAndDetails = element(
      'div',
      { class: 'matrix-and-details' },
      this.matrix.root,
      this.details.root,
    );
    new ResizeObserver(() => this.stackDetails()).observe(this.matrixAndDetails);
    this.figures = new Figures(
      (name, content) => surroundings.save(name, content),
      (hidden) => this.hide(hidden),
      { addRepairs: tell && (() => tell({ do: 'addRepairs' })) },
    );
    this.shownChoice = choice<MatrixFilter>('Show', this.shownOptions(), 'all', (shown) => {
      this.shown = shown;
      this.drawMatrix();
    });
    this.filter.addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.applyFilter(this.filter.value), 150);
    });
    root.replaceChildren(...this.parts());
    this.take();
    const asked = document.asked.filter;
    if (asked !== undefined) {
      this.filter.value = asked.text;
      this.keep(new Set(asked.ids));
    }
  }

  private parts(): HTMLElement[] {
    return [
      this.header(),
      element(
        'section',
        { 'aria-labelledby': 'summary-title' },
        title('summary', 'Summary'),
        this.figures.summary,
        this.figures.denominators,
      ),
      this.matrixSection(),
      element(
        'section',
        { 'aria-labelledby': 'plots-title' },
        title('plots', 'Plots and studies'),
        this.figures.plots,
      ),
    ];
  }

  private header(): HTMLElement {
    const grading = choice<Grading>(
      'Grading',
      [
        ['strict', 'strict (the paper)'],
        ['harness', 'of the reference harness'],
      ],
      'strict',
      (of) => this.figures.setGrading(of),
    );
    return element(
      'header',
      {},
      // The tab has the same title.
      element('h1', {}, document.title),
      // A file travels without its editor, so it says itself what it shows.
      this.surroundings.tell === undefined &&
        element('p', { class: 'quiet-text' }, studyOrigin(this.document)),
      element(
        'div',
        { class: 'controls' },
        element('label', { class: 'field filter' }, 'Filter ', this.filter),
        this.filterNote,
        grading.field,
        this.figures.baselineField,
        this.figures.publishedField,
      ),
      this.progress.root,
      this.problems,
    );
  }

  private matrixSection(): HTMLElement {
    const order = choice<Order>(
      'Sort by',
      Object.entries(orders) as [Order, string][],
      'id',
      (by) => {
        this.order = by;
        this.drawMatrix();
      },
    );
    return element(
      'section',
      { 'aria-labelledby': 'matrix-title' },
      title('matrix', 'Instances'),
      element('div', { class: 'controls' }, this.shownChoice.field, order.field),
      this.matrixNote,
      element(
        'p',
        { id: 'matrix-help', class: 'quiet-text' },
        'Arrow keys move from cell to cell; Enter shows the details.',
      ),
      legend(),
      this.matrixAndDetails,
    );
  }

  private showDetails(facts: InstanceFacts, column: Column | undefined): void {
    this.details.show(facts, column, this.columns);
    this.stackDetails();
    this.matrix.follow(true);
    this.matrixAndDetails.scrollIntoView({ block: 'nearest' });
  }

  private hideDetails(): void {
    this.matrix.follow(false);
    this.stackDetails();
    this.matrix.focus();
  }

  /** Details below the matrix share the height of the window with it, so that both are in sight. */
  private stackDetails(): void {
    const { matrix, details, matrixAndDetails } = this;
    const isBelow = !details.root.hidden && details.root.offsetTop > matrix.root.offsetTop;
    matrixAndDetails.classList.toggle('stacked', isBelow);
  }

  /** Handles a message of the host. */
  receive(message: ToPage): void {
    switch (message.type) {
      case 'document':
        this.document = fromBytes(message.document);
        this.take();
        return;
      case 'entries':
        this.add(message.run, message.entries);
        return;
      case 'trajectories':
        this.withTrajectories = new Set(message.runs);
        return;
      case 'progress':
        this.progress.show(message.run, message.progress);
        return;
      case 'filter':
        if (message.problem !== undefined) {
          this.refuse(message.problem);
          return;
        }
        // Do not overwrite the text while the user types it.
        if (document.activeElement !== this.filter) this.filter.value = message.text;
        this.keep(message.ids === null ? undefined : new Set(message.ids));
        return;
    }
  }

  /**
   * Entries come one by one while a batch runs. They are gathered, since recounting thousands of
   * rows for each would be slow.
   */
  private add(label: string, entries: readonly RunEntry[]): void {
    this.gained.set(label, [...(this.gained.get(label) ?? []), ...entries]);
    this.gathering ??= setTimeout(() => {
      this.gathering = undefined;
      const gained = new Map(this.gained);
      this.gained.clear();
      this.document = {
        ...this.document,
        runs: this.document.runs.map((run) => {
          const later = gained.get(run.label);
          return later === undefined ? run : { ...run, entries: merged(run.entries, later) };
        }),
      };
      this.take();
    }, gatherMilliseconds);
  }

  /** Updates the page from the current runs. */
  private take(): void {
    const { runs, problems } = this.document;
    this.instances = instancesOfRuns(runs);
    this.takeColumns();
    this.details.refresh(this.columns);
    show(
      this.problems,
      problems.length > 0 &&
        element(
          'details',
          // Without a run they are all that there is to read.
          { class: 'problems', open: runs.length === 0 ? '' : undefined },
          element(
            'summary',
            {},
            problems.length === 1
              ? '1 problem while reading'
              : `${problems.length} problems while reading`,
          ),
          element('ul', {}, ...problems.slice(0, 200).map((each) => element('li', {}, each))),
        ),
    );
    this.draw();
  }

  /** Hides methods in every table and plot. The user can show them again. */
  private hide(hidden: ReadonlySet<string>): void {
    this.hidden = hidden;
    this.surroundings.keepHidden([...hidden]);
    this.takeColumns();
    this.draw();
  }

  private takeColumns(): void {
    this.columns = columnsOf(this.document.runs).filter(
      ({ run, model }) => !this.hidden.has(methodId(run, model)),
    );
    const options = this.shownOptions();
    // The selected reason may occur only in hidden methods.
    if (!options.some(([shown]) => shown === this.shown)) this.shown = 'all';
    this.shownChoice.set(options, this.shown);
  }

  private draw(): void {
    this.drawMatrix();
    this.figures.show(this.document, this.kept, this.hidden);
  }

  private drawMatrix(): void {
    const { columns, kept } = this;
    const rows = this.instances.filter(
      ({ id }) => (kept === undefined || kept.has(id)) && isShown(this.shown, id, columns),
    );
    this.matrix.show(ordered(rows, this.order, columns), columns);
    this.matrixNote.textContent = `${number(rows.length)} of ${number(this.instances.length)} instances`;
  }

  private shownOptions(): [MatrixFilter, string][] {
    const there = new Set(
      this.columns.flatMap((column) => [...column.entries.values()].map((entry) => entry.reason)),
    );
    const found = new Set(
      this.columns.flatMap((column) =>
        [...column.entries.values()].flatMap(({ findings = [] }) =>
          findings.map(({ kind }) => kind),
        ),
      ),
    );
    const warned = new Set(
      this.columns.flatMap((column) =>
        [...column.entries.values()].flatMap(({ trajectoryFindings = [] }) =>
          kindsOfSeverity(trajectoryFindings, 'warning'),
        ),
      ),
    );
    const any = found.size + warned.size > 0;
    return [
      ['all', 'all instances'],
      ['differ', 'some methods succeed'],
      ['none', 'no method succeeds'],
      ['every', 'every method succeeds'],
      ...entryReasons
        .filter((reason) => there.has(reason))
        .map((reason): [MatrixFilter, string] => [`reason ${reason}`, `any: ${reason}`]),
      ...(any ? ([['finding', 'any finding']] as [MatrixFilter, string][]) : []),
      ...findingKinds
        .filter((kind) => found.has(kind))
        .map((kind): [MatrixFilter, string] => [`finding ${kind}`, `finding: ${kind}`]),
      ...trajectoryFindingKinds
        .filter((kind) => warned.has(kind))
        .map((kind): [MatrixFilter, string] => [
          `trajectory ${kind}`,
          `finding in the trajectory: ${kind}`,
        ]),
    ];
  }

  private applyFilter(text: string): void {
    const { tell } = this.surroundings;
    if (tell !== undefined) {
      tell({ do: 'filter', text });
      return;
    }
    const asked = this.document.asked.filter;
    if (asked !== undefined && text.trim() === asked.text) {
      this.keep(new Set(asked.ids));
      return;
    }
    const filter = localFilter(text);
    if ('problem' in filter) {
      this.refuse(filter.problem);
      return;
    }
    this.keep(
      text.trim() === ''
        ? undefined
        : new Set(this.instances.filter(filter.keeps).map(({ id }) => id)),
    );
  }

  private refuse(problem: string): void {
    this.filter.setAttribute('aria-invalid', 'true');
    this.filterNote.textContent = problem;
  }

  private keep(ids: ReadonlySet<string> | undefined): void {
    this.filter.removeAttribute('aria-invalid');
    this.kept = ids;
    const count = this.instances.filter(({ id }) => ids?.has(id) ?? true).length;
    this.filterNote.textContent =
      ids === undefined ? '' : `${number(count)} of ${number(this.instances.length)} instances`;
    this.draw();
  }
}

/** Entries in which later ones replace earlier ones about the same candidate. */
function merged(before: readonly RunEntry[], later: readonly RunEntry[]): RunEntry[] {
  const keyOf = (entry: RunEntry): string =>
    JSON.stringify([entry.instance, entry.model, entry.sample]);
  const all = new Map(before.map((entry) => [keyOf(entry), entry]));
  for (const entry of later) all.set(keyOf(entry), entry);
  return [...all.values()];
}

const title = (id: string, text: string): HTMLElement => element('h2', { id: `${id}-title` }, text);

const legend = (): HTMLElement =>
  element(
    'ul',
    { class: 'legend', 'aria-label': 'Legend' },
    ...(Object.entries(kindWords) as [CellKind, string][]).map(([kind, words]) =>
      element(
        'li',
        { class: kind },
        element('span', { class: 'symbol', 'aria-hidden': 'true' }, symbols[kind]),
        words,
      ),
    ),
    element(
      'li',
      { class: 'with-finding' },
      element('span', { class: 'finding', 'aria-hidden': 'true' }, findingSymbol),
      'a finding: the verdict may be wrong, or the trajectory shows signs of cheating',
    ),
  );
