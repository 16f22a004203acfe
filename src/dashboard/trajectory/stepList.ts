import { markedPieces, stepFacts, stepLine, timeInWords } from '../../trajectory/stepRows';
import { trajectoryFindingSentences, type TrajectoryFinding } from '../../domain/finding';
import type { TrajectoryStep } from '../../trajectory/trajectory';
import { findingSymbol } from '../page/cellState';
import { button, element } from '../page/elements';

/** UTF-16 units of a text that are drawn at first; a step may have megabytes. */
const drawnAtFirst = 20_000;
/** Maximum number of steps that are unfolded at once. */
const mostUnfolded = 200;
/** Steps that Page Up and Page Down move by. */
const pageLength = 15;

interface Row {
  readonly item: HTMLLIElement;
  readonly line: HTMLButtonElement;
  body: HTMLElement | undefined;
}

/** The steps, folded. The text of a step is drawn when the user unfolds it. */
export class StepList {
  readonly root = element('ol', { class: 'steps', 'aria-describedby': 'steps-help' });
  private readonly rows: readonly Row[];
  private readonly findings = new Map<number, TrajectoryFinding[]>();
  private kept: readonly boolean[] = [];
  private words = '';
  /** Index of the step in the tab order. */
  private at = 0;

  /** @param onStep called with the index of the step that gets the focus */
  constructor(
    private readonly steps: readonly TrajectoryStep[],
    findings: readonly TrajectoryFinding[],
    private readonly onStep: (at: number) => void,
  ) {
    for (const finding of findings) {
      const at = finding.step - 1;
      this.findings.set(at, [...(this.findings.get(at) ?? []), finding]);
    }
    this.rows = steps.map((step, index) => this.row(step, index));
    this.root.append(...this.rows.map(({ item }) => item));
    this.root.addEventListener('keydown', (event) => this.onKey(event));
    this.root.addEventListener('focusin', (event) => {
      const at = indexOf(event.target);
      if (at !== undefined) this.mark(at);
    });
    this.root.addEventListener('click', (event) => {
      const line = event.target instanceof Element ? event.target.closest('.step-line') : null;
      const at = indexOf(line);
      if (at === undefined) return;
      this.mark(at);
      this.toggle(at, this.rows[at]?.body === undefined);
    });
  }

  private row(step: TrajectoryStep, index: number): Row {
    const findings = this.findings.get(index) ?? [];
    const isGrave = findings.some(({ severity }) => severity === 'warning');
    const facts = stepFacts(step).join(' · ');
    const text = stepLine(step);
    const spoken = [
      `Step ${index + 1}, ${step.kind}: ${text}`,
      facts,
      ...findings.map(({ kind }) => `finding: ${kind}`),
    ];
    const line = element(
      'button',
      {
        type: 'button',
        class: 'step-line',
        'aria-expanded': 'false',
        'aria-label': spoken.filter((each) => each !== '').join('. '),
        tabindex: index === 0 ? '0' : '-1',
      },
      element('span', { class: 'step-number' }, String(index + 1)),
      element('span', { class: 'step-kind' }, step.kind),
      element('span', { class: 'step-text' }, text),
      findings.length > 0 &&
        element(
          'span',
          { class: isGrave ? 'step-finding grave' : 'step-finding' },
          `${isGrave ? findingSymbol : 'noted:'} ${[...new Set(findings.map(({ kind }) => kind))].join(', ')}`,
        ),
      facts !== '' && element('span', { class: 'step-facts' }, facts),
    );
    const isFirst = index > 0 && step.turn !== this.steps[index - 1]?.turn;
    const item = element(
      'li',
      { class: `step of-${step.kind}${isFirst ? ' new-turn' : ''}`, 'data-at': String(index) },
      line,
    );
    return { item, line, body: undefined };
  }

  /** Shows the kept steps, and marks the words in unfolded ones. */
  show(kept: readonly boolean[], words: string): void {
    this.kept = kept;
    const isOther = words !== this.words;
    this.words = words;
    for (const [index, { item, body }] of this.rows.entries()) {
      item.hidden = kept[index] !== true;
      if (isOther && body !== undefined) {
        this.toggle(index, false);
        this.toggle(index, true);
      }
    }
    if (kept[this.at] !== true) this.mark(Math.max(0, kept.indexOf(true)), false);
  }

  isShown(at: number): boolean {
    return this.kept[at] === true;
  }

  /** Unfolds a step and moves the keyboard focus there. */
  open(at: number): void {
    this.toggle(at, true);
    this.moveTo(at);
    this.rows[at]?.item.scrollIntoView({ block: 'center' });
  }

  /** Moves the keyboard focus to the step that last had it. */
  focus(): void {
    this.moveTo(this.at);
  }

  /** Unfolds the first of the shown steps. */
  unfold(): void {
    const shown = this.rows.flatMap((_, index) => (this.isShown(index) ? [index] : []));
    for (const index of shown.slice(0, mostUnfolded)) this.toggle(index, true);
  }

  fold(): void {
    for (const index of this.rows.keys()) this.toggle(index, false);
  }

  private toggle(at: number, isOpen: boolean): void {
    const row = this.rows[at];
    const step = this.steps[at];
    if (row === undefined || step === undefined || isOpen === (row.body !== undefined)) return;
    row.line.setAttribute('aria-expanded', String(isOpen));
    row.body?.remove();
    row.body = isOpen ? this.body(step, at) : undefined;
    if (row.body !== undefined) row.item.append(row.body);
  }

  private body(step: TrajectoryStep, at: number): HTMLElement {
    const { text, label, folder, at: when } = step;
    const facts = [
      label,
      folder === undefined ? undefined : `in ${folder}`,
      when === undefined ? undefined : timeInWords(when),
    ];
    const about = facts.filter((each) => each !== undefined).join(' · ');
    const place = element('pre', { class: 'step-whole' });
    const draw = (part: string): void =>
      place.replaceChildren(
        ...markedPieces(part, this.words).map(({ text: piece, isMatch }) =>
          isMatch ? element('mark', {}, piece) : document.createTextNode(piece),
        ),
      );
    draw(text.slice(0, drawnAtFirst));
    const more =
      text.length > drawnAtFirst &&
      button(`Show all ${text.length} characters`, () => {
        draw(text);
        if (more !== false) more.remove();
      });
    return element(
      'div',
      // As regions, the texts of 200 steps would be 200 landmarks.
      { class: 'step-body', role: 'group', 'aria-label': `Text of step ${at + 1}` },
      ...(this.findings.get(at) ?? []).map(findingNote),
      about !== '' && element('p', { class: 'quiet-text' }, about),
      place,
      more,
    );
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const isLine = event.target instanceof Element && event.target.classList.contains('step-line');
    if (!isLine) return;
    const shown = this.rows.flatMap((_, index) => (this.isShown(index) ? [index] : []));
    const place = shown.indexOf(this.at);
    const to = ((): number | undefined => {
      switch (event.key) {
        case 'ArrowDown':
          return place + 1;
        case 'ArrowUp':
          return place - 1;
        case 'PageDown':
          return place + pageLength;
        case 'PageUp':
          return place - pageLength;
        case 'Home':
          return 0;
        case 'End':
          return shown.length - 1;
        default:
          return undefined;
      }
    })();
    if (to !== undefined) {
      this.moveTo(shown[Math.min(Math.max(to, 0), shown.length - 1)] ?? this.at);
    } else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      this.toggle(this.at, event.key === 'ArrowRight');
    } else {
      return;
    }
    event.preventDefault();
  }

  private moveTo(at: number): void {
    this.mark(at);
    this.rows[at]?.line.focus();
  }

  /** Moves the tab order to another step. */
  private mark(at: number, isChosen = true): void {
    this.rows[this.at]?.line.setAttribute('tabindex', '-1');
    this.at = at;
    this.rows[at]?.line.setAttribute('tabindex', '0');
    if (isChosen) this.onStep(at);
  }
}

/** A finding of a step, above its text. */
const findingNote = ({ kind, text, why, severity }: TrajectoryFinding): HTMLElement =>
  element(
    'p',
    { class: severity === 'warning' ? 'finding-note grave' : 'finding-note' },
    element('strong', {}, trajectoryFindingSentences[kind]),
    ' ',
    element('code', {}, text),
    why === undefined ? '' : ` (${why})`,
  );

function indexOf(target: EventTarget | null): number | undefined {
  const item = target instanceof Element ? target.closest('[data-at]') : null;
  const at = item?.getAttribute('data-at');
  return at === null || at === undefined ? undefined : Number(at);
}
