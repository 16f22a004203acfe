import { button, element } from '../page/elements';

/** What replaces trajectories that cannot be read. */
export function trajectoryProblem(
  { what, next }: { readonly what: string; readonly next: string },
  again: () => void,
): HTMLElement {
  return element(
    'div',
    { class: 'problem', role: 'alert' },
    element('p', {}, what),
    element('p', { class: 'quiet-text' }, next),
    button('Try Again', again),
  );
}
