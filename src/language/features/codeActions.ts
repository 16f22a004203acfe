import {
  CodeActionKind,
  type CodeAction,
  type CodeActionContext,
  type Diagnostic as Shown,
  type Range,
} from 'vscode-languageserver';
import { asShown } from '../../patch/bytes';
import type { CheckedDiff } from './check';
import type { CustomDiff } from '../customDiffs';
import { shown } from './diagnostics';
import { textEdits } from './edits';

/** Kind of the actions that use a whole custom diff. */
const useKind = `${CodeActionKind.Refactor}.customDiff`;

/**
 * The argument of the editor's commands: a document, with the lines of the fence if it is Markdown.
 */
interface CommandTarget {
  readonly uri: string;
  /** 0-based, `end` excluded; absent for the whole document. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** The argument of the editor's commands for a custom diff. */
const commandTarget = (uri: string, diff: CustomDiff): CommandTarget => ({
  uri,
  ...(diff.fenced && { range: { start: diff.start, end: diff.start + diff.lines.length } }),
});

const uses = [
  ['Apply to workspace', 'swt-bench.applyCustomDiff'],
  ['Preview', 'swt-bench.previewCustomDiff'],
  ['Convert to unified diff', 'swt-bench.convertCustomDiff'],
] as const;

/**
 * The actions at a range of the document: fixes for what the engine reports there, and uses of the
 * custom diff.
 *
 * @param document its URI and its text
 */
export function codeActions(
  document: { readonly uri: string; readonly text: string },
  checked: CheckedDiff,
  range: Range,
  context: CodeActionContext,
): CodeAction[] {
  const wanted = (kind: string): boolean =>
    context.only === undefined ||
    context.only.some((only) => only === '' || kind === only || kind.startsWith(`${only}.`));
  return [
    ...(wanted(CodeActionKind.QuickFix) ? quickFixes(document, checked, range) : []),
    ...(wanted(useKind) ? useActions(document.uri, checked) : []),
  ];
}

function quickFixes(
  { uri, text }: { readonly uri: string; readonly text: string },
  { diff, diagnostics }: CheckedDiff,
  range: Range,
): CodeAction[] {
  return diagnostics.flatMap((told) => {
    const { fixes = [] } = told;
    if (fixes.length === 0) return [];
    const diagnostic = shown(diff, told);
    if (!touches(diagnostic, range)) return [];
    return fixes.map((fix, i): CodeAction => ({
      title: asShown(fix.title),
      kind: CodeActionKind.QuickFix,
      diagnostics: [diagnostic],
      isPreferred: i === 0 && fixes.length === 1,
      edit: { changes: { [uri]: textEdits(text, diff, fix.edits) } },
    }));
  });
}

const touches = (diagnostic: Shown, range: Range): boolean =>
  diagnostic.range.start.line <= range.end.line && range.start.line <= diagnostic.range.end.line;

function useActions(uri: string, { diff, diagnostics }: CheckedDiff): CodeAction[] {
  if (diff.blocks.length === 0) return [];
  const error = diagnostics.find((each) => each.severity === 'error');
  return uses.map(([title, command]): CodeAction => ({
    title,
    kind: useKind,
    ...(error === undefined
      ? { command: { title, command, arguments: [commandTarget(uri, diff)] } }
      : { disabled: { reason: asShown(`Line ${diff.start + error.line}: ${error.message}`) } }),
  }));
}
