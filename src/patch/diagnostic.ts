/**
 * What a diagnostic is about, as a stable name that does not change with its words: a language server
 * shows it, a test or a script filters by it.
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

/** A change of the text that was given which mends what a diagnostic reports. */
export interface Fix {
  /** What the change does, in the imperative: `Write "end diff" behind the code`. */
  readonly title: string;
  readonly edits: readonly LineReplacement[];
}

/**
 * Something to tell the author of a patch. `error`: git refuses the patch as written, or applies it to
 * something else than meant. `warning`: mended, or suspicious. `info`: worth knowing.
 */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  /** 1-based line in the text that was given. */
  readonly line: number;
  /** 1-based last line, included; absent for the one line. */
  readonly endLine?: number;
  /** What is wrong, naming the file where there is one. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  readonly code?: DiagnosticCode;
  /** What mends it in the text that was given, the likeliest first. */
  readonly fixes?: readonly Fix[];
}

/** Whether any diagnostic forbids the use of the patch. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** The same diagnostics once what they report has been mended: errors become warnings. */
export function mended(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.map((diagnostic) =>
    diagnostic.severity === 'error' ? { ...diagnostic, severity: 'warning' } : diagnostic,
  );
}

/** What a parsed patch has to say about itself; an error means that git refuses or misreads it. */
export interface PatchProblem extends Diagnostic {
  /** Set when what is reported could not be mended and is missing from the files. */
  readonly lost?: boolean;
}
