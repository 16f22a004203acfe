import { percent, number } from '../../study/numbers';
import { deltaOf } from '../../study/entry';
import { trajectoryFindingSentences } from '../../domain/finding';
import { diffSize } from '../../trajectory/stepRows';
import { diffSoFar } from '../../trajectory/trajectory';
import type { FinalVerdict, ShownTrajectory } from '../../trajectory/trajectoryPages';
import { cellState, findingSymbol } from '../page/cellState';
import { boundedText, button, element, show } from '../page/elements';
import { CostChart } from './costChart';

/** Lines of a diff that are drawn. */
const mostLines = 2000;
/** Below this width the panel is above the steps, and its diff begins folded. */
const wide = '(min-width: 900px)';

/** What is beside the steps: verdict, findings, cost over time, and the difference to R. */
export class SidePanel {
  readonly root: HTMLElement;
  private readonly chart: CostChart;
  private readonly diffTitle = element('summary');
  private readonly diff = element('pre', {
    class: 'diff',
    tabindex: '0',
    role: 'group',
    'aria-label': 'Diff lines',
  });
  private readonly folded: HTMLElement;
  /** Stands in place of the difference where there is none: nothing unfolds then. */
  private readonly without = element('p', { class: 'quiet-text' });
  private drawn: string | undefined;

  /** @param goTo shows a step by its number */
  constructor(
    private readonly shown: ShownTrajectory,
    private readonly goTo: (step: number) => void,
  ) {
    this.chart = new CostChart(shown.trajectory);
    const isWide = window.matchMedia(wide).matches;
    this.folded = element(
      'details',
      { 'aria-labelledby': 'difference-title', ...(isWide ? { open: '' } : {}) },
      this.diffTitle,
      this.diff,
    );
    this.root = element(
      'aside',
      { class: 'side', 'aria-label': 'Verdict, findings, cost and diff' },
      this.verdict(),
      this.findings(),
      element('section', {}, element('h2', {}, 'Cost over time'), this.chart.root),
      element(
        'section',
        {},
        element('h2', { id: 'difference-title' }, 'Diff against R'),
        this.folded,
        this.without,
      ),
    );
  }

  /** Shows the difference to R and the cost up to a step, by its index. */
  showStep(at: number): void {
    const { steps, submission } = this.shown.trajectory;
    const isLast = at >= steps.length - 1;
    const diff = (isLast ? submission : undefined) ?? diffSoFar(steps, at);
    const place = isLast ? 'at the end' : `after step ${number(at + 1)}`;
    const said = `${place}: ${diff === undefined ? this.withoutDiff(isLast) : diffSize(diff)}`;
    const isThere = diff !== undefined && diff.trim() !== '';
    this.diffTitle.textContent = isThere ? said : '';
    this.without.textContent = isThere ? '' : said;
    if (diff !== this.drawn) {
      this.drawn = diff;
      show(this.diff, ...diffLines(diff ?? ''));
    }
    this.folded.hidden = !isThere;
    this.without.hidden = isThere;
    this.chart.showStep(at);
  }

  /** Why there is no difference to show. */
  private withoutDiff(isLast: boolean): string {
    if (isLast) return 'nothing was submitted';
    const isKnown = this.shown.trajectory.steps.some(({ diff }) => diff !== undefined);
    return isKnown ? 'nothing changed yet' : 'not recorded in the file';
  }

  private verdict(): HTMLElement {
    const { verdict, withoutVerdict } = this.shown;
    return element(
      'section',
      {},
      element('h2', {}, 'Verdict'),
      ...(verdict === undefined
        ? [element('p', { class: 'quiet-text' }, withoutVerdict ?? 'Not graded.')]
        : verdictParts(verdict)),
    );
  }

  private findings(): HTMLElement {
    const { findings } = this.shown;
    return element(
      'section',
      {},
      element('h2', {}, 'Findings'),
      findings.length === 0
        ? element('p', { class: 'quiet-text' }, 'The scan found no signs of cheating.')
        : element(
            'ul',
            { class: 'finding-list' },
            ...findings.map(({ kind, severity, step, text, why }) =>
              element(
                'li',
                { class: severity === 'warning' ? 'grave' : '' },
                step > 0
                  ? button(`Step ${number(step)}`, () => this.goTo(step), { class: 'quiet' })
                  : 'Submission',
                ` ${severity === 'warning' ? findingSymbol : 'noted:'} ${trajectoryFindingSentences[kind]} `,
                element('code', {}, text.length > 120 ? `${text.slice(0, 119)}…` : text),
                why === undefined ? '' : ` (${why})`,
              ),
            ),
          ),
    );
  }
}

function verdictParts({ run, entry }: FinalVerdict): HTMLElement[] {
  const { kind, symbol, words } = cellState(entry);
  const delta = deltaOf(entry.delta);
  return [
    element(
      'p',
      { class: `verdict ${kind}` },
      element('span', { class: 'symbol', 'aria-hidden': 'true' }, symbol),
      words,
    ),
    element(
      'p',
      { class: 'quiet-text' },
      [`run ${run}`, ...(delta === undefined ? [] : [`ΔC ${percent(delta)}`])].join(' · '),
    ),
    ...(entry.explanation === ''
      ? []
      : [element('p', { class: 'explanation' }, boundedText(entry.explanation))]),
  ];
}

/** The lines of a diff, told apart by their signs and by colour. */
function diffLines(diff: string): HTMLElement[] {
  const lines = diff.replace(/\n$/, '').split('\n');
  const shown = lines.slice(0, mostLines).map((line) => {
    const kind = /^(?:\+\+\+|---|diff |index )/.test(line)
      ? 'file'
      : line.startsWith('@@')
        ? 'place'
        : line.startsWith('+')
          ? 'added'
          : line.startsWith('-')
            ? 'removed'
            : '';
    return element('span', kind === '' ? {} : { class: kind }, `${line}\n`);
  });
  const more = lines.length - mostLines;
  return more > 0 ? [...shown, element('span', {}, `… ${number(more)} more lines`)] : shown;
}
