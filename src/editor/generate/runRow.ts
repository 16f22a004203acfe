import type { TreeRow } from '../shell/treeRow';
import { namesOf } from '../../domain/testId';
import type { Generation } from './generations';

/** The sections of the Generated view. */
export type Section = 'tests' | 'fixes';

/** A run of a method in its section. */
export interface RunNode {
  readonly kind: 'generation';
  readonly of: Section;
  readonly generation: Generation;
}

/**
 * The row of a run.
 *
 * @param words after the name of the model, such as how far it has come
 * @param more lines of its tooltip, after the model with its provider
 */
export function runRow(
  { of, generation: { id, record, state } }: RunNode,
  row: {
    readonly label: string;
    readonly isLast: boolean;
    readonly words: readonly string[];
    readonly more: readonly (string | undefined)[];
  },
): TreeRow {
  const done = of === 'tests' ? 'sparkle' : 'wrench';
  return {
    label: row.label,
    id,
    // The name alone tells runs apart in a narrow view: `openai/gpt-5` is `gpt-5`.
    description: [record.model.split('/').at(-1), ...row.words].join(' · '),
    tooltip: [record.model, ...row.more].filter(Boolean).join('\n'),
    icon: { id: state === 'running' ? 'sync~spin' : state === 'partial' ? 'debug-pause' : done },
    children: row.isLast ? 'unfolded' : 'folded',
    contextValue: `${of}.${state}`,
  };
}

/** The row above what a run does one after the other. It is unfolded while more comes. */
export const listRow = (
  { id, state }: Generation,
  name: 'steps' | 'stages',
  row: Pick<TreeRow, 'label' | 'description'>,
): TreeRow => ({
  ...row,
  id: `${id}-${name}-${state === 'running' ? 'running' : 'ended'}`,
  icon: { id: 'list-ordered' },
  children: state === 'running' ? 'unfolded' : 'folded',
});

/** The description of a test's row: its classes, which the label leaves out, then what it did. */
export const inClass = (test: string, said: string): string =>
  [...namesOf(test).slice(0, -1), said].join(' · ');
