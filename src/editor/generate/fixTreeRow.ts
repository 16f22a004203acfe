import { nameOf } from '../../domain/testId';
import * as l10n from '@vscode/l10n';
import type { Standing } from '../../domain/outcome';
import type { AgentlessStage } from '../../method/agentless';
import type { MethodCandidate } from '../../method/method';
import { methodNamed } from '../../method/methods';
import { told } from '../../method/models';
import type { StepOf } from '../../method/trace';
import type { Generation } from './generations';
import { inClass, listRow, runRow, type RunNode } from './runRow';
import { generatedCommandIds, internalCommandIds, settingKeys } from '../shell/names';
import type { TreeRow } from '../shell/treeRow';
import { staleText } from '../testing/transitionTexts';
import { z } from 'zod';
import type { StandingsOnRepair } from '../../repair/testOnRepairs';

/** What a row about fixes is about. */
export type FixNode =
  | RunNode
  | { readonly kind: 'fix'; readonly generation: Generation; readonly fix: MethodCandidate }
  | { readonly kind: 'testOnFix'; readonly test: TestOnFix; readonly isCurrent: boolean }
  | { readonly kind: 'stages'; readonly generation: Generation }
  | { readonly kind: 'stage'; readonly generation: Generation; readonly stage: StepOf<'stage'> }
  | { readonly kind: 'place'; readonly place: FoundPlace };

/** What the Generated view shows of fixes. */
export interface ShownFixes {
  /** The latest run first. */
  readonly generations: readonly Generation[];
  /** The author's tests on a fix; undefined when they have not run there. */
  readonly testsOn: (patch: string) => KnownTestsOnFix | undefined;
}

/** The rows below a row. */
export function fixNodes({ testsOn }: ShownFixes, node: FixNode): FixNode[] {
  switch (node.kind) {
    case 'generation': {
      const { generation } = node;
      const fixes = distinctFixes(generation).map((fix): FixNode => ({
        kind: 'fix',
        generation,
        fix,
      }));
      return generation.stages.length > 0 ? [...fixes, { kind: 'stages', generation }] : fixes;
    }
    case 'fix': {
      const { found, isCurrent = false } = testsOn(node.fix.patch.patch) ?? {};
      return found === undefined || 'problem' in found
        ? []
        : found.tests.map((test) => ({ kind: 'testOnFix', test, isCurrent }));
    }
    case 'stages':
      return node.generation.stages.map((stage) => ({ ...node, kind: 'stage', stage }));
    case 'stage':
      return placesOfStage(node.stage.output).map((place) => ({ kind: 'place', place }));
    case 'testOnFix':
    case 'place':
      return [];
  }
}

/** The different fixes that apply, best first; without a ranking in the order of their samples. */
export function distinctFixes({ candidates }: Pick<Generation, 'candidates'>): MethodCandidate[] {
  const seen = new Set<string>();
  const placeOf = ({ ranking, sample }: MethodCandidate): number => ranking?.rank ?? 1e6 + sample;
  return [...candidates.values()]
    .filter(({ patch }) => patch.applies)
    .sort((one, other) => placeOf(one) - placeOf(other))
    .filter(({ patch: { patch } }) => !seen.has(patch) && seen.add(patch));
}

/** A row of the view. All texts are plain, since models and tested code wrote them. */
export function fixTreeRow(shown: ShownFixes, node: FixNode): TreeRow {
  switch (node.kind) {
    case 'generation':
      return generationRow(shown, node);
    case 'fix':
      return fixRow(shown, node);
    case 'testOnFix':
      return testRow(node);
    case 'stages':
      return stagesRow(node.generation);
    case 'stage':
      return stageRow(node.generation, node.stage);
    case 'place':
      return placeRow(node.place);
  }
}

function generationRow(shown: ShownFixes, node: RunNode): TreeRow {
  const { generation } = node;
  const { record, state, failure, chosen } = generation;
  const method = methodNamed(record.method);
  const fixes = distinctFixes(generation).length;
  const count = fixes === 1 ? l10n.t('1 fix') : l10n.t('{0} fixes', fixes);
  const fixesInWords = state === 'partial' ? l10n.t('interrupted, {0}', count) : count;
  return runRow(node, {
    label: method.title,
    isLast: generation === shown.generations[0],
    words: [fixesInWords, ...passedInWords(shown, generation)],
    more: [method.description, failure ?? chosen?.why, ...costOfRun(generation)],
  });
}

/** On how many fixes of a run all of the author's tests pass, once they have run on several. */
function passedInWords({ testsOn }: ShownFixes, generation: Generation): string[] {
  const ran = distinctFixes(generation).flatMap(({ patch }) => {
    const known = testsOn(patch.patch);
    return known?.isCurrent === true && 'tests' in known.found ? [known.found.tests] : [];
  });
  if (ran.length < 2) return [];
  const passed = ran.filter((tests) => tests.every(({ fixed }) => fixed === 'passes')).length;
  return [l10n.t('all your tests pass with {0} of {1}', passed, ran.length)];
}

/** What a run has cost, and what was paid for vectors. */
function costOfRun({ record, cost }: Generation): string[] {
  if (cost === undefined) return [];
  const { requests, inputTokens, outputTokens, dollars = 0, embeddedTokens } = cost;
  const spent = told({ tokens: inputTokens + outputTokens, dollars });
  return [
    requests === 1 ? l10n.t('1 request, {0}', spent) : l10n.t('{0} requests, {1}', requests, spent),
    ...(record.embedding === undefined
      ? []
      : [l10n.t('{0} of the tokens are embeddings by {1}', embeddedTokens, record.embedding.name)]),
  ];
}

function fixRow(
  { testsOn }: ShownFixes,
  { generation, fix }: Extract<FixNode, { kind: 'fix' }>,
): TreeRow {
  const place = distinctFixes(generation).indexOf(fix) + 1;
  const isChosen = generation.chosen?.sample === fix.sample;
  const known = testsOn(fix.patch.patch);
  const found = known?.found;
  const mine = known === undefined ? [] : [testsInWords(known)];
  const why = whyInWords(fix, generation.candidates.size);
  const description = [...mine, ...why].join(' · ');
  return {
    label: l10n.t('Fix {0}', place),
    // What runs on it changes the id, since VS Code remembers by id whether a row is open.
    id: `${generation.id}-${fix.sample}-${found === undefined ? 'untested' : 'tested'}`,
    description,
    tooltip: [
      ...(isChosen ? [l10n.t('Chosen: {0}', generation.chosen?.why ?? '')] : []),
      ...mine,
      ...why,
      ...(fix.ranking?.regressions ?? []).map((test) => l10n.t('fails with it: {0}', test)),
      ...(found !== undefined && 'problem' in found ? [found.problem] : []),
    ].join('\n'),
    icon: { id: isChosen ? 'star-full' : 'git-pull-request-draft' },
    ...(found !== undefined && 'tests' in found ? { children: 'unfolded' as const } : {}),
    contextValue: 'fix',
    command: {
      command: generatedCommandIds.preview,
      title: l10n.t('Preview Fix'),
      arguments: [{ kind: 'fix', generation, fix } satisfies FixNode],
    },
    spoken: `${l10n.t('Fix {0}', place)}. ${isChosen ? `${l10n.t('chosen')}. ` : ''}${description}`,
  };
}

/** Why a fix has its place: regressions, the reproduction script, and votes. */
function whyInWords({ ranking }: MethodCandidate, of: number): string[] {
  if (ranking === undefined) return [];
  const { regressions, reproduction, votes } = ranking;
  return [
    ...(of > 1 ? [l10n.t('{0} of {1} alike', votes, of)] : []),
    ...(regressions === undefined
      ? []
      : [
          regressions.length === 0
            ? l10n.t('no regression')
            : regressions.length === 1
              ? l10n.t('1 regression')
              : l10n.t('{0} regressions', regressions.length),
        ]),
    ...(reproduction === undefined ? [] : [l10n.t('its script reports: {0}', reproduction)]),
  ];
}

function testsInWords({ found, isCurrent }: KnownTestsOnFix): string {
  const said = (): string => {
    if ('problem' in found) return l10n.t('your tests could not run');
    const passing = found.tests.filter(({ fixed }) => fixed === 'passes').length;
    return l10n.t('{0} of {1} of your tests pass', passing, found.tests.length);
  };
  return isCurrent ? said() : staleText(said());
}

function testRow({
  test: { test, base, fixed },
  isCurrent,
}: Extract<FixNode, { kind: 'testOnFix' }>): TreeRow {
  const words: Readonly<Record<Standing, string>> = {
    passes: l10n.t('passes'),
    fails: l10n.t('fails'),
    neither: l10n.t('neither passes nor fails'),
  };
  const said = (standing: Standing | undefined): string =>
    standing === undefined ? l10n.t('did not run') : words[standing];
  const now = l10n.t('with the fix: {0}; on R: {1}', said(fixed), said(base));
  const description = inClass(test, isCurrent ? now : staleText(now));
  const label = nameOf(test);
  return {
    label,
    description,
    tooltip: test,
    icon: isCurrent ? iconOf(fixed) : { id: 'history' },
    spoken: `${label}. ${description}`,
  };
}

function iconOf(standing: Standing | undefined): NonNullable<TreeRow['icon']> {
  if (standing === 'passes') return { id: 'pass', colour: 'testing.iconPassed' };
  if (standing === 'fails') return { id: 'error', colour: 'testing.iconFailed' };
  return { id: 'circle-slash' };
}

function stagesRow(generation: Generation): TreeRow {
  const { length } = generation.stages;
  const label = length === 1 ? l10n.t('1 stage') : l10n.t('{0} stages', length);
  return listRow(generation, 'stages', { label });
}

/** The stage that needs an embedding model. */
const retrieval: AgentlessStage = 'retrieval';

/** Maximum number of characters of an output in its row. */
const shownOfOutput = 120;

/** What the row of a stage says that has found nothing. */
const nothingFound = (): Readonly<Record<string, string>> => ({
  files: l10n.t('no files'),
  folders: l10n.t('no folders'),
  retrieval: l10n.t('no retrieved files'),
  combined: l10n.t('no combined files'),
  elements: l10n.t('no elements'),
  locations: l10n.t('no locations'),
});

/**
 * The output of a stage in one line: texts as they are, lists by their length, and the parts of an
 * object by their names.
 */
function outputInWords(output: unknown): string {
  if (Array.isArray(output)) {
    return output.length === 1 ? l10n.t('1 entry') : l10n.t('{0} entries', output.length);
  }
  if (typeof output !== 'object' || output === null) {
    return typeof output === 'string' ? oneLine(output) : (JSON.stringify(output) ?? '');
  }
  return Object.entries(output)
    .map(([name, value]: [string, unknown]) => {
      const said = Array.isArray(value) ? String(value.length) : outputInWords(value);
      return `${oneLine(name)} ${said}`;
    })
    .join(' · ');
}

const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');

function stageRow(
  { id, record }: Generation,
  { key, stage, output, isGiven }: StepOf<'stage'>,
): TreeRow {
  if (stage === retrieval && record.embedding === undefined && isGiven !== true) {
    return {
      label: stage,
      id: `${id}-${key}`,
      description: l10n.t('skipped: no embedding model is set'),
      tooltip: l10n.t('Click to open the setting {0}', settingKeys.embeddingModel),
      icon: { id: 'debug-step-over' },
      command: {
        command: internalCommandIds.openSetting,
        title: l10n.t('Open Settings'),
        arguments: [settingKeys.embeddingModel],
      },
    };
  }
  const places = placesOfStage(output);
  const text = JSON.stringify(output) ?? '';
  const isEmpty = Array.isArray(output) && output.length === 0;
  const nothing = isEmpty ? nothingFound()[stage] : undefined;
  return {
    label: nothing ?? stage,
    id: `${id}-${key}`,
    description: [
      ...(isGiven === true ? [l10n.t('given')] : []),
      isEmpty
        ? nothing === undefined
          ? l10n.t('none')
          : ''
        : places.length === 0
          ? outputInWords(output).slice(0, shownOfOutput)
          : places.length === 1
            ? l10n.t('1 place')
            : l10n.t('{0} places', places.length),
    ]
      .filter((part) => part !== '')
      .join(' · '),
    tooltip: text.slice(0, 10 * shownOfOutput),
    icon: { id: 'circle-small' },
    ...(places.length > 0 ? { children: 'folded' as const } : {}),
  };
}

function placeRow(place: FoundPlace): TreeRow {
  const { path, lines, name } = place;
  const [from, to] = lines ?? [];
  const at =
    from === undefined || to === undefined
      ? name
      : from === to
        ? l10n.t('line {0}', from)
        : l10n.t('lines {0}–{1}', from, to);
  return {
    label: path,
    ...(at !== undefined && { description: at }),
    icon: { id: 'go-to-file' },
    command: {
      command: generatedCommandIds.openPlace,
      title: l10n.t('Open Place'),
      arguments: [{ kind: 'place', place } satisfies FixNode],
    },
  };
}

/** A file of R that a stage has found, and what it is about there. */
export interface FoundPlace {
  readonly path: string;
  /** First and last line, from 1; absent for a whole file. */
  readonly lines?: readonly [number, number];
  /** A class, function or variable. */
  readonly name?: string;
}

const line = z.int().min(1);
const placeSchema = z.union([
  z.string().transform((path): FoundPlace[] => [{ path }]),
  z
    .object({ path: z.string(), intervals: z.array(z.tuple([line, line])) })
    .transform(({ path, intervals }): FoundPlace[] => intervals.map((lines) => ({ path, lines }))),
  z
    .object({ path: z.string(), name: z.string().exactOptional() })
    .transform(({ path, name }): FoundPlace[] => [{ path, ...(name !== undefined && { name }) }]),
]);

/** Maximum number of places that a stage shows. */
const mostPlaces = 200;

/**
 * The files and lines in the output of a stage, as far as it lists any, each once. An output comes
 * from a model, so a path need not exist.
 */
export function placesOfStage(output: unknown): readonly FoundPlace[] {
  if (!Array.isArray(output)) return [];
  const found = output.flatMap((each: unknown): readonly FoundPlace[] => {
    if (Array.isArray(each)) return placesOfStage(each);
    return placeSchema.safeParse(each).data ?? [];
  });
  const different = new Map(found.map((place) => [JSON.stringify(place), place]));
  return [...different.values()].slice(0, mostPlaces);
}

/** One of the author's tests: on R, and on R with a fix. */
interface TestOnFix {
  readonly test: string;
  /** Undefined when it did not run there. */
  readonly base: Standing | undefined;
  readonly fixed: Standing | undefined;
}

/** The author's tests on a fix, or why they did not run. */
export type TestsOnFix = { readonly tests: readonly TestOnFix[] } | { readonly problem: string };

/** The last result of the author's tests on a fix. */
export interface KnownTestsOnFix {
  readonly found: TestsOnFix;
  /** Whether it is about the author's changes as they are saved now. */
  readonly isCurrent: boolean;
}

/** What a view shows of the author's tests on a fix. */
export function testsOnFix({ base = {}, standings, failure }: StandingsOnRepair): TestsOnFix {
  const names = Object.keys({ ...base, ...standings });
  if (standings === undefined || names.length === 0) {
    return { problem: failure ?? l10n.t('no test ran') };
  }
  return {
    tests: names.map((test) => ({ test, base: base[test], fixed: standings[test] })),
  };
}

/** The last result of the author's tests on each fix. */
export class FixResults {
  private readonly last = new Map<string, { readonly edits: string; readonly found: TestsOnFix }>();
  private now = '';

  /**
   * @param fix a code patch
   * @param edits digest of the author's changes that ran
   */
  keep(fix: string, edits: string, found: TestsOnFix): void {
    // Edits are followed only while there are results.
    if (this.isEmpty) this.now = edits;
    this.last.set(fix, { edits, found });
  }

  /**
   * Says what the author's changes are now.
   *
   * @param edits their digest
   * @returns whether other results are current than before
   */
  follow(edits: string): boolean {
    const isOther = edits !== this.now && this.last.size > 0;
    this.now = edits;
    return isOther;
  }

  get isEmpty(): boolean {
    return this.last.size === 0;
  }

  of(fix: string): KnownTestsOnFix | undefined {
    const known = this.last.get(fix);
    return known && { found: known.found, isCurrent: known.edits === this.now };
  }
}
