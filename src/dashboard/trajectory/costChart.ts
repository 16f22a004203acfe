import { number, seconds } from '../../study/numbers';
import { costOverTime, type CostOverTime } from '../../trajectory/costOverTime';
import { inDollars } from '../../trajectory/stepRows';
import type { Trajectory } from '../../trajectory/trajectory';
import { element } from '../page/elements';

/** Units of the drawing; it is scaled to the width of its place. */
const size = { width: 320, height: 110, left: 4, right: 4, top: 8, bottom: 18 };

/** The cost of a trajectory as a line that grows, with a mark at the chosen step. */
export class CostChart {
  readonly root: HTMLElement;
  private readonly cost: CostOverTime | undefined;
  private readonly mark = vector('circle', { r: '3.5', class: 'cost-mark' });
  private readonly told = element('p', { class: 'quiet-text' });

  constructor(trajectory: Trajectory) {
    this.cost = costOverTime(trajectory);
    this.root = element('div', { class: 'cost' });
    if (this.cost === undefined) {
      this.root.append(element('p', { class: 'quiet-text' }, 'The steps have no cost data.'));
      return;
    }
    this.root.append(this.drawing(this.cost), this.told);
  }

  /** Marks the cost up to a step, by its index. */
  showStep(at: number): void {
    const { cost } = this;
    const point = cost?.points.findLast(({ step }) => step <= at + 1);
    this.mark.toggleAttribute('hidden', point === undefined);
    if (cost === undefined || point === undefined) {
      this.told.textContent = '';
      return;
    }
    const { x, y } = placeOf(cost, point);
    this.mark.setAttribute('cx', String(x));
    this.mark.setAttribute('cy', String(y));
    this.told.textContent = `${inUnit(cost, point.cost)} up to step ${number(at + 1)}`;
  }

  private drawing(cost: CostOverTime): SVGElement {
    const last = cost.points.at(-1) ?? { at: 0, cost: 0 };
    const bottom = size.height - size.bottom;
    const path = cost.points.map((point) => {
      const { x, y } = placeOf(cost, point);
      return `${x},${y}`;
    });
    const end = cost.axis === 'turns' ? `turn ${last.at.toFixed(0)}` : seconds(last.at * 60);
    const drawn = vector('svg', {
      viewBox: `0 0 ${size.width} ${size.height}`,
      role: 'img',
      'aria-label': `The cost grows to ${inUnit(cost, last.cost)} at ${end}.`,
    });
    drawn.append(
      vector('line', { x1: '0', x2: String(size.width), y1: String(bottom), y2: String(bottom) }),
      vector('polyline', { points: path.join(' ') }),
      this.mark,
      words(inUnit(cost, last.cost), size.left, size.top + 6, 'start'),
      words('0', size.left, size.height - 4, 'start'),
      words(end, size.width - size.right, size.height - 4, 'end'),
    );
    return drawn;
  }
}

/** The place of a point in the drawing. */
function placeOf(
  { points }: CostOverTime,
  { at, cost }: { readonly at: number; readonly cost: number },
): { readonly x: number; readonly y: number } {
  const last = points.at(-1) ?? { at: 1, cost: 1 };
  const across = size.width - size.left - size.right;
  const up = size.height - size.top - size.bottom - 6;
  const x = size.left + (last.at === 0 ? 0 : at / last.at) * across;
  const y = size.height - size.bottom - (last.cost === 0 ? 0 : cost / last.cost) * up;
  return { x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 };
}

const inUnit = ({ unit }: CostOverTime, cost: number): string =>
  unit === 'dollars' ? inDollars(cost) : `${number(cost)} tokens`;

function words(text: string, x: number, y: number, anchor: 'start' | 'end'): SVGElement {
  const made = vector('text', { x: String(x), y: String(y), 'text-anchor': anchor });
  made.textContent = text;
  return made;
}

function vector(tag: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
