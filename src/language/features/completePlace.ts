import { CompletionItemKind, type CompletionItem } from 'vscode-languageserver';
import type { Definition } from '../../python/definitions';
import { moduleOfPath } from './check';
import { overField, type Completing } from './completing';

/** Maximum number of definitions that are offered. More are no use as a choice. */
const mostNames = 300;

/** The ends of the file, and the lines where its functions and classes begin or end. */
export async function completePlace(completing: Completing): Promise<CompletionItem[]> {
  const { action, block } = completing;
  const isInsert = action !== 'rewrite';
  const ends = (
    [
      ['EOF', 'The end of the file'],
      ['BOF', 'The beginning of the file, after the imports'],
    ] as const
  ).map(([label, detail]): CompletionItem => ({
    label,
    detail,
    kind: CompletionItemKind.Keyword,
    sortText: isInsert ? `0${label === 'EOF' ? 0 : 1}` : `9${label}`,
    textEdit: overField(completing, label),
  }));
  const definitions = await definitionsOf(completing);
  const seen = new Set<number>();
  const lines = definitions.slice(0, mostNames).flatMap((each): CompletionItem[] => {
    const line = isInsert ? lineBehind(each) : each.defLine;
    if (isInsert && seen.has(line)) return [];
    seen.add(line);
    const where = each.kind === 'class' ? 'At the end of class' : 'After';
    return [
      {
        label: String(line),
        labelDetails: { description: each.qualifiedName },
        detail: isInsert ? `${where} ${each.qualifiedName}` : each.qualifiedName,
        kind: each.kind === 'class' ? CompletionItemKind.Class : CompletionItemKind.Function,
        // Typing a name finds its line.
        filterText: `${line} ${each.qualifiedName}`,
        sortText: `5${String(line).padStart(8, '0')}`,
        textEdit: overField(completing, String(line)),
      },
    ];
  });
  return block.path === undefined ? ends : [...ends, ...lines];
}

/** The line of an insertion after a definition, or at the end of a class. */
const lineBehind = ({ range }: Definition): number =>
  range.endLine > range.startLine ? range.endLine : range.endLine + 1;

/** Functions and classes of a block's file, without those inside functions. */
export async function definitionsOf({ path, surroundings }: Completing): Promise<Definition[]> {
  if (path === undefined || !/\.pyi?$/.test(path)) return [];
  const source = await surroundings.tree.read(path);
  if (source === undefined) return [];
  return moduleOfPath(surroundings, path, source).definitions.filter((each) => !each.local);
}
