import type { Option } from 'commander';

const offered = new WeakMap<Option, readonly string[]>();

/** Names words that shells complete for an option, which may have other values too. */
export function offer(option: Option, words: readonly string[]): Option {
  offered.set(option, words);
  return option;
}

/** The words that shells complete for an option without fixed choices. */
export const offeredFor = (option: Option): readonly string[] => offered.get(option) ?? [];
