import { settingKeys } from '../names';
import { optionsAndSettings } from './settingOfOption';

/** The first setting of this extension that a text names, by its id; undefined for none. */
export function settingNamedIn(text: string): string | undefined {
  // A sentence may end after the id, and a path may contain it.
  const found = [...text.matchAll(/(?<![\w./-])swt-bench(?:\.[A-Za-z]+)+/g)];
  const ids = new Set<string>([
    ...Object.values(settingKeys),
    ...optionsAndSettings().map(([, setting]) => setting),
  ]);
  return found.map(([id]) => id).find((id) => ids.has(id));
}
