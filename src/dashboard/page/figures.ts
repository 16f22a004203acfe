import type { Summary } from '../../study/studyReportSchema';
import {
  compareWith,
  denominatorTexts,
  methodsOf,
  publishedRows,
  summariseMethod,
} from '../../study/measures';
import type { StudyDocument } from '../../study/document';
import type { Grading } from '../../study/entry';
import { number } from '../../study/numbers';
import { type ChoiceField, choice, element, show } from './elements';
import { type DrawnPlot, PlotCard } from './plotCard';
import { type PlotHost, type PlotInput, type PlottedMethod, plots } from './plots';
import type { SummaryRows } from './summaryRows';
import { drawSummaryTable } from './summaryTable';

const noMethod: DrawnPlot = { note: 'Every method is hidden.' };

/** The tables and plots of the selection. Slow parts are drawn after fast ones. */
export class Figures {
  readonly summary = element('div', { class: 'summaries' });
  /** What the shares of the summary are shares of. */
  readonly denominators = element('ul', { class: 'denominators quiet-text' });
  readonly plots: HTMLElement;
  private readonly cards: readonly PlotCard[];
  private readonly baselineChoice: ChoiceField<string>;
  private document: StudyDocument | undefined;
  /** All methods, in their order. */
  private methods: readonly PlottedMethod[] = [];
  private hidden: ReadonlySet<string> = new Set();
  private kept: ReadonlySet<string> | undefined;
  private grading: Grading = 'strict';
  private baseline = '';
  private turn = 0;
  private readonly published = element('input', { type: 'checkbox' });
  /** The field that shows or hides published rows. */
  readonly publishedField = element('label', { class: 'field' }, this.published, ' Published rows');

  /**
   * @param onHidden called when the user changes the hidden methods, with the ids of all of them
   */
  constructor(
    save: (name: string, content: Blob) => void,
    private readonly onHidden: (hidden: ReadonlySet<string>) => void,
    host: PlotHost,
  ) {
    this.baselineChoice = choice<string>('Compare with', [], '', (id) => {
      this.baseline = id;
      this.draw();
    });
    this.published.addEventListener('change', () => this.draw());
    this.cards = plots.map(
      ({ title, about, name, draw, controls }) =>
        new PlotCard(
          title,
          about,
          name,
          (width) => (this.shown().length === 0 ? noMethod : draw(this.input(), width)),
          save,
          controls?.(() => this.cards.forEach((card) => card.update()), host),
        ),
    );
    this.plots = element('div', { class: 'cards' }, ...this.cards.map((card) => card.root));
    // Plots below the visible part are not drawn yet, and paper shows all of them.
    window.addEventListener('beforeprint', () => {
      if (this.document === undefined) return;
      for (const card of this.cards) card.drawIfStale();
    });
  }

  get baselineField(): HTMLElement {
    return this.baselineChoice.field;
  }

  setGrading(grading: Grading): void {
    this.grading = grading;
    this.makeMethods();
    this.draw();
  }

  /**
   * @param kept ids that the filter keeps; undefined for all
   * @param hidden ids of methods of which only the name is shown
   */
  show(
    document: StudyDocument,
    kept: ReadonlySet<string> | undefined,
    hidden: ReadonlySet<string>,
  ): void {
    if (this.document === undefined) this.published.checked = document.published.length > 0;
    this.document = document;
    this.kept = kept;
    this.hidden = hidden;
    this.makeMethods();
    const shown = this.shown();
    const asked = document.asked.compare?.[0];
    if (!shown.some(({ id }) => id === this.baseline)) {
      const named = shown.find(({ name }) => name === asked);
      this.baseline = (named ?? shown[0])?.id ?? '';
    }
    this.baselineChoice.set(
      shown.map(({ id, name }) => [id, name]),
      this.baseline,
    );
    this.baselineChoice.field.hidden = shown.length < 2;
    this.draw();
  }

  /** Makes the methods again, since the oracle of several samples picks by the grading. */
  private makeMethods(): void {
    const { document, grading, kept } = this;
    if (document === undefined) return;
    this.methods = methodsOf(document.runs, {
      oracle: true,
      grading,
      ...(kept === undefined ? {} : { instances: kept }),
    }).map((method, turn) => ({ ...method, turn }));
  }

  private shown(): readonly PlottedMethod[] {
    return this.methods.filter(({ id }) => !this.hidden.has(id));
  }

  private hide(id: string, isHidden: boolean): void {
    const hidden = new Set(this.hidden);
    if (isHidden) hidden.add(id);
    else hidden.delete(id);
    this.onHidden(hidden);
  }

  private input(): PlotInput {
    const { document } = this;
    if (document === undefined) throw new Error('No data yet');
    return { document, methods: this.shown(), kept: this.kept, grading: this.grading };
  }

  private denominatorItems({ runs }: StudyDocument): HTMLElement[] {
    const { kept } = this;
    const texts =
      kept === undefined
        ? denominatorTexts(runs)
        : [
            `Filtered: shares of the ${kept.size === 1 ? '1 instance' : `${number(kept.size)} instances`} that match.`,
          ];
    return texts.map((text) => element('li', {}, text));
  }

  private draw(): void {
    const { grading, document } = this;
    if (document === undefined) return;
    const methods = this.shown();
    const turn = ++this.turn;
    const rows: SummaryRows & { summaries: Summary[] } = {
      methods: this.methods,
      summaries: methods.map((method) => summariseMethod(method, { grading })),
      baseline: this.baseline,
      comparisons: [],
      kept: this.kept?.size,
      published: !this.published.checked
        ? []
        : document.published.length > 0
          ? document.published
          : publishedRows,
    };
    const hide = (id: string, isHidden: boolean): void => this.hide(id, isHidden);
    drawSummaryTable(this.summary, rows, hide);
    show(this.denominators, ...this.denominatorItems(document));
    this.summary.setAttribute('aria-busy', 'true');
    for (const card of this.cards) card.update();
    // An interval takes some milliseconds for each method, so they follow one by one after the page
    // is drawn.
    let next = 0;
    const step = (): void => {
      if (turn !== this.turn) return;
      const method = methods[next];
      if (method !== undefined) {
        rows.summaries[next] = summariseMethod(method, { grading, intervals: {} });
        next += 1;
        setTimeout(step);
        return;
      }
      const baseline = methods.find(({ id }) => id === this.baseline);
      const comparisons =
        baseline === undefined
          ? []
          : compareWith(
              baseline,
              methods.filter((each) => each !== baseline),
              { grading },
            );
      drawSummaryTable(this.summary, { ...rows, comparisons }, hide);
      this.summary.removeAttribute('aria-busy');
    };
    requestAnimationFrame(() => setTimeout(step));
  }
}
