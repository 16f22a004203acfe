import {
  CompletionItemKind,
  InsertTextFormat,
  InsertTextMode,
  type CompletionItem,
} from 'vscode-languageserver';
import { asShown } from '../../patch/bytes';
import type { Definition } from '../../python/definitions';
import { blockLine } from './blocks';
import { definitionsOf } from './completePlace';
import type { Completing } from './completing';
import { rangeIn } from '../customDiffs';

/** Maximum number of names of a file that are offered, those nearest to the place of the block. */
const mostNames = 200;
/** Most whole functions and classes that are offered, and most lines of each. */
const mostTexts = 20;
const longestText = 200;

/**
 * After `def` and `class`, the names of the file. At the start of a rewritten function, its present
 * code.
 */
export async function completeCode(completing: Completing): Promise<CompletionItem[]> {
  const { before, action } = completing;
  const heading = /^\s*((?:async\s+)?def|class)\s+([\p{L}\p{N}_]*)$/u.exec(before);
  if (heading !== null) {
    const [, word = '', typed = ''] = heading;
    return nameItems(completing, word === 'class', typed);
  }
  const begins = /^\s*[@\w]*$/.test(before) && completing.before === completing.whole;
  return action === 'rewrite' && begins && isOnly(completing) ? textItems(completing) : [];
}

async function nameItems(
  completing: Completing,
  isClass: boolean,
  typed: string,
): Promise<CompletionItem[]> {
  const { diff, line, before, whole } = completing;
  const from = before.length - typed.length;
  const rest = /^[\p{L}\p{N}_]*/u.exec(whole.slice(before.length))?.[0] ?? '';
  const range = rangeIn(diff, line, from, before.length + rest.length);
  const seen = new Set<string>();
  return (await nearest(completing))
    .filter((each) => (each.kind === 'class') === isClass)
    .slice(0, mostNames)
    .flatMap((each, i): CompletionItem[] => {
      if (seen.has(each.name)) return [];
      seen.add(each.name);
      return [
        {
          label: each.name,
          kind: kindOf(each),
          detail: each.qualifiedName,
          labelDetails: { description: `line ${each.defLine}` },
          sortText: String(i).padStart(4, '0'),
          textEdit: { range, newText: each.name },
        },
      ];
    });
}

async function textItems(completing: Completing): Promise<CompletionItem[]> {
  const { diff, line, before, whole, path, surroundings } = completing;
  const lines = ((await surroundings.tree.read(path ?? '')) ?? '').split(/\r?\n/);
  const range = rangeIn(diff, line, 0, whole.length);
  return (await nearest(completing))
    .filter((each) => each.range.endLine - each.range.startLine < longestText)
    .slice(0, mostTexts)
    .map((each, i): CompletionItem => {
      const word = each.kind === 'class' ? 'class' : each.isAsync ? 'async def' : 'def';
      const own = lines.slice(each.range.startLine - 1, each.range.endLine);
      return {
        label: `${word} ${each.name}`,
        kind: CompletionItemKind.Snippet,
        detail: `${each.qualifiedName}, line ${each.defLine}: its current code`,
        filterText: `${before.slice(0, before.length - before.trimStart().length)}${word} ${each.name}`,
        sortText: String(i).padStart(4, '0'),
        insertTextFormat: InsertTextFormat.PlainText,
        insertTextMode: InsertTextMode.asIs,
        textEdit: { range, newText: asShown(own.join('\n')).replaceAll('\n', `\n${diff.indent}`) },
      };
    });
}

/** Whether the line is the only one of the block with code. */
const isOnly = ({ diff, block, line }: Completing): boolean =>
  diff.lines
    .slice(block.code.from - 1, block.code.to - 1)
    .every((text, i) => text.trim() === '' || block.code.from + i === line);

const kindOf = (each: Definition): CompletionItemKind =>
  ({
    class: CompletionItemKind.Class,
    method: CompletionItemKind.Method,
    function: CompletionItemKind.Function,
  })[each.kind];

/** The definitions of the file, the nearest to the block's place first. */
async function nearest(completing: Completing): Promise<Definition[]> {
  const definitions = await definitionsOf(completing);
  const place = completing.block.place?.value.toUpperCase();
  const line = blockLine(completing.block) ?? (place === 'EOF' ? Number.MAX_SAFE_INTEGER : 1);
  const away = ({ range }: Definition): number =>
    Math.max(0, range.startLine - line, line - range.endLine);
  // The innermost of those around the line begins last.
  return definitions.sort((a, b) => away(a) - away(b) || b.range.startLine - a.range.startLine);
}
