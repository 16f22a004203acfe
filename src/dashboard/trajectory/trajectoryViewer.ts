import { number, seconds } from '../../study/numbers';
import { keptSteps, spendingFacts } from '../../trajectory/stepRows';
import {
  kindSentences,
  stepKinds,
  totalsOf,
  type StepKind,
  type TrajectoryStep,
} from '../../trajectory/trajectory';
import type { ShownTrajectory } from '../../trajectory/trajectoryPages';
import { button, element, show } from '../page/elements';
import { SidePanel } from './sidePanel';
import { StepList } from './stepList';

/** Milliseconds between a key in the search field and the search. */
const typingPause = 150;

/** One trajectory: head, filter, steps, and beside them verdict, findings, cost and difference to R. */
export class TrajectoryViewer {
  readonly root: HTMLElement;
  private readonly list: StepList;
  private readonly side: SidePanel;
  private readonly search = element('input', {
    type: 'search',
    spellcheck: 'false',
    'aria-describedby': 'search-note',
  });
  private readonly note = element('span', {
    id: 'search-note',
    role: 'status',
    class: 'quiet-text',
  });
  private readonly kinds: Set<StepKind>;
  private readonly kindBoxes = new Map<StepKind, HTMLInputElement>();
  private readonly onlyFindings = element('input', { type: 'checkbox' });
  private readonly found: ReadonlySet<number>;
  private typing: ReturnType<typeof setTimeout> | undefined;

  /** @param back returns to the index; undefined where there is none */
  constructor(
    private readonly shown: ShownTrajectory,
    private readonly back: (() => void) | undefined,
  ) {
    const { trajectory, findings } = shown;
    this.found = new Set(findings.map(({ step }) => step));
    this.kinds = new Set(stepKinds);
    this.side = new SidePanel(shown, (step) => this.goTo(step));
    this.list = new StepList(trajectory.steps, findings, (at) => this.side.showStep(at));
    this.root = element(
      'div',
      { class: 'trajectory' },
      this.head(),
      this.controls(),
      element(
        'div',
        { class: 'columns' },
        this.side.root,
        element(
          'section',
          { class: 'steps-section', 'aria-labelledby': 'steps-title' },
          element('h2', { id: 'steps-title' }, 'Steps'),
          element(
            'p',
            { class: 'quiet-text', id: 'steps-help' },
            'Arrow keys move from step to step; Enter expands one; / moves to the search box.',
          ),
          this.list.root,
        ),
      ),
    );
    this.search.addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.filter(), typingPause);
    });
    this.search.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      // The key would otherwise also press the step that gets the focus.
      event.preventDefault();
      clearTimeout(this.typing);
      this.filter();
      this.list.focus();
    });
    this.onlyFindings.addEventListener('change', () => this.filter());
    this.root.addEventListener('keydown', (event) => this.onKey(event));
    this.filter();
    this.side.showStep(trajectory.steps.length - 1);
  }

  /** Moves the keyboard focus to the head. */
  focus(): void {
    this.root.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }

  private head(): HTMLElement {
    const { trajectory } = this.shown;
    const { instance, agent, model, ending, format } = trajectory;
    const totals = totalsOf(trajectory);
    const facts = [
      totals.steps === 1 ? '1 step' : `${number(totals.steps)} steps`,
      totals.turns === 1 ? '1 turn' : `${number(totals.turns)} turns`,
      ...spendingFacts(totals),
      ...(totals.seconds > 0 ? [seconds(totals.seconds)] : []),
    ];
    const file = format === 'atif' ? 'ATIF file' : `file of ${format}`;
    const about = [agent, model, file].filter((each) => each !== undefined);
    return element(
      'header',
      {},
      this.back !== undefined && button('← All trajectories', this.back, { class: 'quiet' }),
      element('h1', { tabindex: '-1' }, instance),
      element('p', {}, about.join(' · ')),
      element('p', { class: 'quiet-text' }, facts.join(' · ')),
      ending !== undefined && element('p', { class: 'quiet-text ending' }, `Ended: ${ending}`),
      totals.restarts > 0 &&
        element(
          'p',
          { class: 'restarts' },
          totals.restarts === 1
            ? 'The run continued in a new workspace once, after the old one was killed or lost.'
            : `The run continued in a new workspace ${totals.restarts} times, after the old one was killed or lost.`,
        ),
    );
  }

  private controls(): HTMLElement {
    const { steps } = this.shown.trajectory;
    const there = stepKinds.filter((kind) => steps.some((step) => step.kind === kind));
    return element(
      'div',
      { class: 'controls', role: 'search' },
      element('label', { class: 'field filter' }, 'Search ', this.search),
      element(
        'fieldset',
        { class: 'kinds' },
        element('legend', { class: 'spoken' }, 'Step kinds'),
        ...there.map((kind) => this.kindBox(kind, steps)),
      ),
      this.found.size > 0 &&
        element('label', { class: 'check' }, this.onlyFindings, ' with findings only'),
      element(
        'span',
        { class: 'links' },
        button('Unfold', () => this.list.unfold(), {
          title: 'Expand shown steps (at most 200)',
        }),
        button('Fold', () => this.list.fold(), { title: 'Collapse all steps' }),
      ),
      this.note,
    );
  }

  private kindBox(kind: StepKind, steps: readonly TrajectoryStep[]): HTMLElement {
    const box = element('input', { type: 'checkbox', checked: '' });
    box.addEventListener('change', () => {
      if (box.checked) this.kinds.add(kind);
      else this.kinds.delete(kind);
      this.filter();
    });
    this.kindBoxes.set(kind, box);
    const count = steps.filter((step) => step.kind === kind).length;
    return element(
      'label',
      { class: `check of-${kind}`, title: kindSentences[kind] },
      box,
      ` ${kind} `,
      element('span', { class: 'quiet-text' }, number(count)),
    );
  }

  private filter(): void {
    const { steps } = this.shown.trajectory;
    const words = this.search.value;
    const kept = keptSteps(steps, {
      kinds: this.kinds,
      words,
      only: this.onlyFindings.checked ? this.found : undefined,
    });
    this.list.show(kept, words);
    const count = kept.filter((each) => each).length;
    show(this.note, count < steps.length && `${number(count)} of ${number(steps.length)} steps`);
  }

  /** Shows a step, also if the filter leaves it out. */
  private goTo(step: number): void {
    if (!this.list.isShown(step - 1)) {
      this.search.value = '';
      this.onlyFindings.checked = false;
      for (const [kind, box] of this.kindBoxes) {
        box.checked = true;
        this.kinds.add(kind);
      }
      this.filter();
    }
    this.list.open(step - 1);
  }

  private onKey(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'search';
    if (event.key !== '/' || isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.search.focus();
  }
}
