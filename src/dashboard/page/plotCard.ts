import type { TextTable } from '../../study/tables';
import { button, element, show, wideBox, captionOf } from './elements';
import { pngOf, svgText } from './exportPlot';

/** A plot, and its figures as a table for readers who cannot see the plot. */
export interface DrawnPlot {
  /**
   * Undefined for a table alone, and where there is nothing to draw; `note` then gives the reason.
   */
  readonly svg?: SVGSVGElement;
  readonly note?: string;
  readonly table?: TextTable;
}

/**
 * One plot of the page. It is drawn when it becomes visible, and redrawn when its data or its width
 * have changed, since its text would otherwise be scaled with it.
 */
export class PlotCard {
  readonly root: HTMLElement;
  private readonly place = element('div', { class: 'plot' });
  private readonly figures = element('div');
  /**
   * They are there before the plot, and a new plot leaves them. Else the Tab key would miss
   * those out of sight, and a redrawn plot would lose the focus and fold its table.
   */
  private readonly actions: HTMLElement;
  private svg: SVGSVGElement | undefined;
  private isInSight = false;
  private isStale = true;
  /** As last drawn, in CSS pixels. */
  private width = 0;

  /**
   * @param draw makes the plot, as wide as the card in CSS pixels
   * @param save saves a file
   */
  constructor(
    private readonly title: string,
    describedAs: string,
    private readonly name: string,
    private readonly draw: (width: number) => DrawnPlot,
    private readonly save: (name: string, content: Blob) => void,
    controls: readonly HTMLElement[] = [],
  ) {
    const saving = (kind: string, contentOf: (svg: SVGSVGElement) => Blob | Promise<Blob>) =>
      button(`Save as ${kind}`, () => void this.saveAs(kind, contentOf), {
        class: 'quiet',
        'aria-label': `Save ${title} as ${kind}`,
      });
    this.actions = element(
      'div',
      {},
      element('div', { class: 'plot-actions' }, saving('SVG', svgBlob), saving('PNG', pngOf)),
      element('details', {}, element('summary', {}, 'Data table'), this.figures),
    );
    this.root = element(
      'section',
      { class: 'card' },
      element('h3', {}, title),
      element('p', { class: 'quiet-text' }, describedAs),
      ...controls,
      this.place,
      this.actions,
    );
    const observer = new IntersectionObserver(
      (entries) => {
        this.isInSight = entries.some((entry) => entry.isIntersecting);
        this.drawIfNeeded();
      },
      { rootMargin: '200px' },
    );
    observer.observe(this.root);
    new ResizeObserver(() => {
      if (this.place.clientWidth !== this.width) this.update();
    }).observe(this.place);
  }

  /** Redraws the plot after a change of its data. */
  update(): void {
    this.isStale = true;
    this.drawIfNeeded();
  }

  private drawIfNeeded(): void {
    if (this.isInSight) this.drawIfStale();
  }

  /** Draws the plot wherever it is, unless it shows its data already. */
  drawIfStale(): void {
    if (!this.isStale) return;
    this.isStale = false;
    this.width = this.place.clientWidth;
    const { svg, note, table: figures } = this.draw(Math.max(320, this.width));
    const text = note !== undefined && element('p', { class: 'quiet-text' }, note);
    const table = figures !== undefined && tableOf(this.title, figures);
    this.svg = svg;
    this.actions.hidden = svg === undefined;
    this.root.classList.toggle('empty', svg === undefined);
    if (svg === undefined) {
      show(this.place, text, table);
      return;
    }
    // The page's style sheet has these rules, since the policy forbids inline styles here.
    for (const style of svg.querySelectorAll('style')) style.remove();
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', `${this.title}; the data is in the table below`);
    show(this.place, svg, text);
    show(this.figures, table);
  }

  private async saveAs(
    kind: string,
    contentOf: (svg: SVGSVGElement) => Blob | Promise<Blob>,
  ): Promise<void> {
    this.drawIfStale();
    if (this.svg === undefined) return;
    this.save(`${this.name}.${kind.toLowerCase()}`, await contentOf(this.svg));
  }
}

const svgBlob = (svg: SVGSVGElement): Blob => new Blob([svgText(svg)], { type: 'image/svg+xml' });

function tableOf(caption: string, { rows: [head = [], ...rows] }: TextTable): HTMLElement {
  return wideBox(
    element(
      'table',
      {},
      captionOf(caption),
      element(
        'thead',
        {},
        element('tr', {}, ...head.map((each) => element('th', { scope: 'col' }, each))),
      ),
      element(
        'tbody',
        {},
        ...rows.map(([first, ...rest]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, first ?? ''),
            ...rest.map((each) => element('td', {}, each)),
          ),
        ),
      ),
    ),
  );
}
