import {
  CompletionItemKind,
  InsertTextFormat,
  type CompletionItem,
  type CompletionList,
  type Position,
} from 'vscode-languageserver';
import { blockAction, blockPath, blockRole } from './blocks';
import type { CheckContext } from './check';
import { completeCode } from './completeCode';
import { overField, type Completing } from './completing';
import { completePath } from './completePath';
import { completePlace } from './completePlace';
import { positionInDiff, type CustomDiff } from '../customDiffs';

/** Abilities of the editor's completion. */
interface CompletionAbilities {
  readonly snippets: boolean;
}

const nothing: CompletionList = { isIncomplete: false, items: [] };

/** The completions at a position of a custom diff, which may be half-written around it. */
export async function completion(
  diff: CustomDiff,
  position: Position,
  surroundings: CheckContext,
  { snippets }: CompletionAbilities,
): Promise<CompletionList> {
  const { line, column } = positionInDiff(diff, position);
  const { role, block } = blockRole(diff.lines, diff.blocks, line);
  const whole = diff.lines[line - 1] ?? '';
  const before = whole.slice(0, column);
  if (role === 'outside' || role === 'start') {
    return list(blockItems(diff, line, whole, before, snippets));
  }
  if (role === 'end' || block === undefined) return nothing;
  const completing: Completing = {
    diff,
    block,
    path: blockPath(block),
    action: blockAction(block),
    line,
    before,
    whole,
    surroundings,
  };
  switch (role) {
    case 'path':
      return completePath(completing);
    case 'keyword':
      return list(keywordItems(completing));
    case 'place':
      return list(await completePlace(completing));
    case 'code':
      return list([...(await completeCode(completing)), ...endItems(completing)]);
  }
}

const list = (items: CompletionItem[]): CompletionList => ({ isIncomplete: false, items });

function blockItems(
  diff: CustomDiff,
  line: number,
  whole: string,
  before: string,
  snippets: boolean,
): CompletionItem[] {
  // There may be prose between blocks.
  if (!/^\w*$/.test(before) || !'diff'.startsWith(before.toLowerCase())) return [];
  const at = { diff, line, whole };
  const word: CompletionItem = {
    label: 'diff',
    kind: CompletionItemKind.Keyword,
    detail: 'Begins a block',
    sortText: '2',
    textEdit: overField(at, 'diff'),
  };
  if (!snippets) return [word];
  const block = (action: string, place: string, detail: string, rank: string): CompletionItem => ({
    label: `diff … ${action}`,
    kind: CompletionItemKind.Snippet,
    detail,
    filterText: `diff ${action}`,
    sortText: rank,
    insertTextFormat: InsertTextFormat.Snippet,
    textEdit: overField(at, `diff\n\${1:tests/test_name.py}\n${action}\n${place}\n$0\nend diff`),
  });
  return [
    block('rewrite', '${2:1}', 'Replaces a whole function or class', '0'),
    block('insert', '${2|EOF,BOF|}', 'Adds functions, classes or a new file', '1'),
    word,
  ];
}

function keywordItems(completing: Completing): CompletionItem[] {
  return (
    [
      ['rewrite', 'Replaces the function or class of that name'],
      ['insert', 'Adds code, or a new file'],
    ] as const
  ).map(([label, detail]) => ({
    label,
    detail,
    kind: CompletionItemKind.Keyword,
    textEdit: overField(completing, label),
  }));
}

function endItems(completing: Completing): CompletionItem[] {
  const { block, before } = completing;
  if (block.end !== undefined || !'end diff'.startsWith(before.toLowerCase())) return [];
  return [
    {
      label: 'end diff',
      kind: CompletionItemKind.Keyword,
      detail: 'Ends the block',
      sortText: '~',
      textEdit: overField(completing, 'end diff'),
    },
  ];
}
