import type { Diagnostic } from './diagnostic';

/** The formats a patch may be written in, in the order in which they are named to people. */
export const patchFormats = ['unified', 'fuzzy', 'custom', 'search-replace'] as const;

export type PatchFormat = (typeof patchFormats)[number];

/** The formats that may be asked for: one of them, or that it be found out. */
export const askedFormats = ['auto', ...patchFormats] as const;

export type AskedFormat = (typeof askedFormats)[number];

/** What a text in one of the formats makes of a tree. */
export interface Conversion {
  /** A unified diff that `git apply` accepts on the tree; empty when there is an error. */
  readonly patch: string;
  readonly format: PatchFormat | 'empty' | 'unknown';
  readonly diagnostics: readonly Diagnostic[];
  /** Contents after, by path, of every file that changes; undefined where one is deleted. */
  readonly files: ReadonlyMap<string, string | undefined>;
  /** Paths of the edits that were left out since they are outside the tests. */
  readonly left: readonly string[];
}

/** The conversion of a text that comes to nothing. */
export function failed(
  format: Conversion['format'],
  diagnostics: readonly Diagnostic[],
  left: readonly string[] = [],
): Conversion {
  return { patch: '', format, diagnostics, files: new Map(), left };
}
