/**
 * A stable name for the subject of a diagnostic, independent of its wording. A language server
 * shows it, and tests and scripts filter by it.
 */
export type DiagnosticCode =
  // Any format
  | 'ambiguous'
  | 'binary'
  | 'counts'
  | 'does-not-apply'
  | 'duplicate'
  | 'empty'
  | 'file-exists'
  | 'html-entities'
  | 'incomplete'
  | 'low-confidence'
  | 'malformed'
  | 'mode'
  | 'no-change'
  | 'no-patch'
  | 'not-found'
  | 'outside-tests'
  | 'overlap'
  | 'placed-elsewhere'
  | 'prefixes'
  | 'rename'
  | 'several-answers'
  | 'submodule'
  | 'unknown-file'
  | 'unknown-format'
  | 'unsafe-path'
  | 'white-space'
  // The custom format
  | 'class-loses-methods'
  | 'closest-name'
  | 'loses-decorators'
  | 'moved-into-class'
  | 'name-exists'
  | 'missing-code'
  | 'missing-end'
  | 'missing-header'
  | 'no-class-here'
  | 'no-definition'
  | 'not-python'
  | 'numbered-lines'
  | 'outside-file'
  | 'python-syntax'
  | 'several-of-the-name'
  | 'unknown-function'
  | 'unknown-keyword'
  | 'unknown-place';

/** Lines `from` to `to` (1-based, `to` excluded; equal for an insertion before `from`) become `lines`. */
export interface LineReplacement {
  readonly from: number;
  readonly to: number;
  /** Without line ends. */
  readonly lines: readonly string[];
}

/** A change of the given text that repairs what a diagnostic reports. */
export interface Fix {
  /** What the change does, in the imperative: `Write "end diff" after the code`. */
  readonly title: string;
  readonly edits: readonly LineReplacement[];
}

/**
 * A report to the author of a patch.
 *
 * - `error`: git rejects the patch as written, or applies it to something else than intended.
 * - `warning`: repaired, or suspicious.
 * - `info`: worth knowing.
 */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  /** 1-based line in the given text. */
  readonly line: number;
  /** 1-based last line, included; absent if only one line is concerned. */
  readonly endLine?: number;
  /** What is wrong, with the name of the file if there is one. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  readonly code?: DiagnosticCode;
  /** Repairs of the given text, the likeliest first. */
  readonly fixes?: readonly Fix[];
}

/** Whether any diagnostic prevents the use of the patch. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** The same diagnostics after a repair: errors become warnings. */
export function mended(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.map((diagnostic) =>
    diagnostic.severity === 'error' ? { ...diagnostic, severity: 'warning' } : diagnostic,
  );
}

/**
 * A problem that the parser found in a patch. An error means that git rejects or misreads the
 * patch.
 */
export interface PatchProblem extends Diagnostic {
  /** Set if the part concerned could not be repaired and is missing from the files. */
  readonly lost?: boolean;
}
