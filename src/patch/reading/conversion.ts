import type { Diagnostic } from '../diagnostic';

/** The result of applying a text in one of the formats to a tree. */
export interface Conversion {
  /** A unified diff that `git apply` accepts on the tree; empty when there is an error. */
  readonly patch: string;
  /** The name of the format that was found; `empty` or `unknown` where there is none. */
  readonly format: string;
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
