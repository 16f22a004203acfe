import type { Diagnostic } from '../diagnostic';

/** The formats of a patch, in the order in which messages list them. */
export const patchFormats = ['unified', 'fuzzy', 'custom', 'search-replace'] as const;

export type PatchFormat = (typeof patchFormats)[number];

/** The formats that a caller may request; `auto` detects the format. */
export const askedFormats = ['auto', ...patchFormats] as const;

export type AskedFormat = (typeof askedFormats)[number];

/** The result of applying a text in one of the formats to a tree. */
export interface Conversion {
  /** A unified diff that `git apply` accepts on the tree; empty when there is an error. */
  readonly patch: string;
  readonly format: PatchFormat | 'empty' | 'unknown';
  readonly diagnostics: readonly Diagnostic[];
  /** New contents by path of every file that changes; undefined for a deleted file. */
  readonly files: ReadonlyMap<string, string | undefined>;
  /** Paths outside the tests whose edits were left out. */
  readonly left: readonly string[];
}

/** The result of a failed conversion. */
export function failed(
  format: Conversion['format'],
  diagnostics: readonly Diagnostic[],
  left: readonly string[] = [],
): Conversion {
  return { patch: '', format, diagnostics, files: new Map(), left };
}
