import * as l10n from '@vscode/l10n';
import { isKilled, killedByReproducing, killedInWords, killedOf } from '../../mutation/mutant';
import type { Mutant, MutantResults, TestedMutant } from '../../mutation/mutantSchema';
import { withoutControl } from '../../domain/text';
import type { HoverPart } from '../shell/draw';
import type { CoveredLine } from '../../domain/changeCoverage';
import type { LatestVerdict, Revealing } from '../instance/instanceRoles';

/** Maximum number of mutants that one hover lists. */
const mostMutants = 12;
/** Longest code of a fault on one line. */
const longestCode = 60;

/** The name of a status in every view. */
function mutantStatusName(status: TestedMutant['status']): string {
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
const mutantSymbol: Readonly<Record<TestedMutant['status'], string>> = {
  killed: '✓',
  'timed out': '✓',
  survived: '✗',
  'not covered': '–',
};

/** The fault on one line: `a < b → a <= b`. The code is untrusted plain text. */
export function faultInWords({ before, after }: Pick<Mutant, 'before' | 'after'>): string {
  return `${oneLine(before)} → ${after.trim() === '' ? l10n.t('(removed)') : oneLine(after)}`;
}

function oneLine(code: string): string {
  const line = withoutControl(code.replace(/\s+/g, ' ').trim());
  return line.length > longestCode ? `${line.slice(0, longestCode - 1)}…` : line;
}

/** What the hover of a changed line adds: its mutants, and which of them the candidate kills. */
export function mutantHoverParts(mutants: readonly TestedMutant[]): HoverPart[] {
  if (mutants.length === 0) return [];
  const { killed, all } = killedOf(mutants);
  const width = Math.max(...mutants.map(({ status }) => mutantStatusName(status).length));
  const lines = mutants
    .slice(0, mostMutants)
    .map((mutant) =>
      [
        mutantSymbol[mutant.status],
        mutantStatusName(mutant.status).padEnd(width),
        ` ${faultInWords(mutant)}`,
      ].join(' '),
    );
  const more = mutants.length - lines.length;
  if (more > 0) lines.push(l10n.t('and {0} more', more));
  return [
    { between: 'sections' },
    { plain: l10n.t('Mutants of this line that your tests kill: {0} of {1}', killed, all) },
    { code: lines.join('\n') },
  ];
}

/** The mutation score in sentences, beside ΔC. */
export function mutantSentences(
  { made, tested }: MutantResults,
  failToPass: readonly string[],
): string[] {
  const count = (status: TestedMutant['status']): number =>
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
export function mutantRows({ tested }: MutantResults): MutantRow[] {
  const groups: readonly [string, (each: TestedMutant) => boolean][] = [
    [l10n.t('Survived'), ({ status }) => status === 'survived'],
    [l10n.t('Not covered'), ({ status }) => status === 'not covered'],
    [l10n.t('Killed'), isKilled],
  ];
  return groups.flatMap(([heading, holds]) => {
    const rows = tested.filter(holds).map((mutant) => rowOf(mutant));
    return rows.length === 0 ? [] : [{ heading }, ...rows];
  });
}

function rowOf(mutant: TestedMutant): MutantRow {
  const plain = (text: string): string => text.replaceAll('$(', '\\$(');
  const { path, line, status, operator, killedBy } = mutant;
  const by = withoutControl(killedBy.join(', '));
  return {
    label: plain(`${mutantSymbol[status]} ${faultInWords(mutant)}`),
    description: plain(`${path}:${line} · ${operator}`),
    ...(by === '' ? {} : { detail: plain(by) }),
    mutant,
  };
}

/**
 * What the last verdict's candidate does with mutants. Undefined while the golden patch is hidden,
 * since mutants are made of its code.
 */
export function shownMutants(
  open: Pick<Revealing & LatestVerdict, 'revealed' | 'last'>,
): MutantResults | undefined {
  return open.revealed ? open.last?.mutants : undefined;
}

/** The mutants that begin in a changed line. */
export const mutantsAt = (
  mutants: MutantResults | undefined,
  { change, path, line }: Pick<CoveredLine, 'change' | 'path' | 'line'>,
): readonly TestedMutant[] =>
  change === 'added'
    ? (mutants?.tested.filter((each) => each.path === path && each.line === line) ?? [])
    : [];
