import type * as vscode from 'vscode';
import {
  isKilled,
  killedByReproducing,
  killedInWords,
  killedOf,
  type Mutant,
  type MutantResults,
  type MutantStatus,
  type TestedMutant,
} from '../../mutation/mutant';
import { withoutControl } from '../../domain/text';
import type { HoverPart } from '../shell/hovers/hoverPart';

/** Most mutants that one hover lists. */
const mostMutants = 12;
/** Longest code of a fault on one line. */
const longestCode = 60;

/** The name of a status in every view. */
export function mutantStatusName(l10n: typeof vscode.l10n, status: MutantStatus): string {
  switch (status) {
    case 'killed':
      return l10n.t('killed');
    case 'timed out':
      return l10n.t('killed: timed out');
    case 'survived':
      return l10n.t('survived');
    case 'not covered':
      return l10n.t('not covered');
  }
}

/** Symbols beside the names, so that colour alone never tells. */
export const mutantSymbol: Readonly<Record<MutantStatus, string>> = {
  killed: '✓',
  'timed out': '✓',
  survived: '✗',
  'not covered': '–',
};

/** The fault on one line: `a < b → a <= b`. The code is untrusted plain text. */
export function faultInWords(
  l10n: typeof vscode.l10n,
  { before, after }: Pick<Mutant, 'before' | 'after'>,
): string {
  return `${oneLine(before)} → ${after.trim() === '' ? l10n.t('(removed)') : oneLine(after)}`;
}

function oneLine(code: string): string {
  const line = withoutControl(code.replace(/\s+/g, ' ').trim());
  return line.length > longestCode ? `${line.slice(0, longestCode - 1)}…` : line;
}

/** What the hover of a changed line adds: its mutants, and which of them the candidate kills. */
export function mutantHoverParts(
  l10n: typeof vscode.l10n,
  mutants: readonly TestedMutant[],
): HoverPart[] {
  if (mutants.length === 0) return [];
  const { killed, all } = killedOf(mutants);
  const width = Math.max(...mutants.map(({ status }) => mutantStatusName(l10n, status).length));
  const lines = mutants
    .slice(0, mostMutants)
    .map((mutant) =>
      [
        mutantSymbol[mutant.status],
        mutantStatusName(l10n, mutant.status).padEnd(width),
        ` ${faultInWords(l10n, mutant)}`,
      ].join(' '),
    );
  const more = mutants.length - lines.length;
  if (more > 0) lines.push(l10n.t('and {0} more', more));
  return [
    { between: 'sections' },
    { plain: l10n.t('Mutants of this line that the candidate kills: {0} of {1}', killed, all) },
    { code: lines.join('\n') },
  ];
}

/** The mutation score in sentences, beside ΔC. */
export function mutantSentences(
  l10n: typeof vscode.l10n,
  { made, tested }: MutantResults,
  failToPass: readonly string[],
): string[] {
  const count = (status: MutantStatus): number =>
    tested.filter((each) => each.status === status).length;
  return [
    l10n.t(
      'Mutants killed {0}, by F→P tests {1}; survived {2}, not covered {3}.',
      killedInWords(killedOf(tested)),
      killedByReproducing(tested, new Set(failToPass)),
      count('survived'),
      count('not covered'),
    ),
    ...(tested.length < made
      ? [l10n.t('These are a sample of {0} of {1} mutants.', tested.length, made)]
      : []),
  ];
}

/** A row of the list of mutants: a heading, or a mutant that opens as a diff. */
export type MutantRow =
  | { readonly heading: string }
  | {
      readonly label: string;
      readonly description: string;
      readonly detail?: string;
      readonly mutant: TestedMutant;
    };

/** All mutants, those that live first. Labels show code as plain text, never as icons. */
export function mutantRows(l10n: typeof vscode.l10n, { tested }: MutantResults): MutantRow[] {
  const groups: readonly [string, (each: TestedMutant) => boolean][] = [
    [l10n.t('Survived'), ({ status }) => status === 'survived'],
    [l10n.t('Not covered'), ({ status }) => status === 'not covered'],
    [l10n.t('Killed'), isKilled],
  ];
  return groups.flatMap(([heading, holds]) => {
    const rows = tested.filter(holds).map((mutant) => rowOf(l10n, mutant));
    return rows.length === 0 ? [] : [{ heading }, ...rows];
  });
}

function rowOf(l10n: typeof vscode.l10n, mutant: TestedMutant): MutantRow {
  const plain = (text: string): string => text.replaceAll('$(', '\\$(');
  const { path, line, status, operator, killedBy } = mutant;
  const by = withoutControl(killedBy.join(', '));
  return {
    label: plain(`${mutantSymbol[status]} ${faultInWords(l10n, mutant)}`),
    description: plain(`${path}:${line} · ${operator}`),
    ...(by === '' ? {} : { detail: plain(by) }),
    mutant,
  };
}
