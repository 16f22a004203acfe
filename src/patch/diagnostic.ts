/**
 * Something to tell the author of a patch. `error`: git refuses the patch as written, or applies it to
 * something else than meant. `warning`: mended, or suspicious. `info`: worth knowing.
 */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  /** 1-based line in the text that was given. */
  readonly line: number;
  /** What is wrong, naming the file where there is one. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
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
