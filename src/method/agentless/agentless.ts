import { temperatureOf, type Method, type MethodOptions, type MethodResult } from '../method';
import {
  agentlessSettings,
  agentlessStages,
  type AgentlessSettings,
  type AgentlessStage,
} from './agentlessSettings';
import { givenRepairs, type UnrankedRepairs } from './givenRepairs';
import { isInRun, rankingOf, type StageSettings, type StageWork } from './stageWork';
import { combinedFiles } from './localisation/combinedFiles';
import {
  editLocations,
  linesOfElements,
  setsToRepair,
  type EditLocations,
} from './localisation/editLocations';
import { embeddingRetrieval } from './localisation/embeddingRetrieval';
import { irrelevantFolders } from './localisation/irrelevantFolders';
import { rankRepairs } from './rankRepairs';
import { relatedElements } from './localisation/relatedElements';
import { sampledRepairs } from './sampledRepairs';
import { regressionTests } from './testing/regressionTests';
import { suspiciousFiles } from './localisation/suspiciousFiles';
import { isGiven } from '../steps/stages';

/**
 * Agentless (https://arxiv.org/abs/2407.01489): from the issue to files, elements and lines, and from
 * those to patches, of which one is chosen.
 */
export function agentless(settings: AgentlessSettings = agentlessSettings()): Method {
  const settingsWith = (options: Pick<MethodOptions, 'temperature'>): StageSettings => ({
    settings,
    greedy: temperatureOf(method, options),
    sampled: (temperature) => (options.temperature === null ? undefined : temperature),
  });
  const method: Method = {
    name: 'agentless',
    title: 'Agentless',
    description:
      'localizes files, elements and lines, then samples code patches and selects one by tests and votes',
    runs: runsTests(settings) ? 'R' : 'nothing',
    samples: settings.locationSamples * settings.repairSamples,
    temperature: 0,
    embeds: isInRun(settings, 'retrieval'),
    async produce(steps, options) {
      const work: StageWork = { ...settingsWith(options), steps };
      const ended = { candidates: [], chosen: undefined, why: '', until: settings.until };
      const repaired = await repairs(work, options.onCandidate);
      if (repaired === undefined || settings.until === 'repair') return ended;
      const { files, patches } = repaired;
      if (patches.length === 0) {
        return nothing(
          isGiven(steps, 'repair')
            ? 'no patch is given'
            : 'no stage names a file of the repository',
        );
      }
      const ranking = rankingOf(work);
      if (settings.until === 'regression') {
        await regressionTests(steps, files, ranking);
        return ended;
      }
      const { candidates, why } = await rankRepairs(steps, patches, files, ranking);
      for (const each of candidates) options.onCandidate?.(each);
      return { candidates, why, chosen: candidates.find((each) => each.ranking?.rank === 1) };
    },
  };
  return method;
}

/**
 * The patches that tests choose from: given to the run, or sampled after the stages before them.
 *
 * @returns undefined when the run ends before
 */
async function repairs(
  work: StageWork,
  onCandidate: MethodOptions['onCandidate'],
): Promise<UnrankedRepairs | undefined> {
  const { steps, settings } = work;
  const order = agentlessStages.indexOf(settings.until);
  const endsBefore = order < agentlessStages.indexOf('repair');
  if (isGiven(steps, 'repair') && !endsBefore) return givenRepairs(work, onCandidate);
  const found = await localised(work);
  if (found === undefined) return undefined;
  const { files, sets } = found;
  return { files, patches: sets.length === 0 ? [] : await sampledRepairs(work, sets, onCandidate) };
}

/** Whether a stage is part of the run that runs tests on R. */
const runsTests = (settings: AgentlessSettings): boolean =>
  isInRun(settings, 'regression') || isInRun(settings, 'reproduction');

const isSkipped = ({ skip }: AgentlessSettings, stage: AgentlessStage): boolean =>
  skip.includes(stage);

const nothing = (why: string): MethodResult => ({ candidates: [], chosen: undefined, why });

interface Localised {
  /** Paths of the files that a solution may change. */
  readonly files: readonly string[];
  /** The sets of locations that there is a place in. */
  readonly sets: readonly EditLocations[];
}

/**
 * The stages before the repair.
 *
 * @returns undefined when the run ends before
 */
async function localised(work: StageWork): Promise<Localised | undefined> {
  const { steps, settings } = work;
  const endsAt = (stage: AgentlessStage): boolean => settings.until === stage;
  const named = isSkipped(settings, 'files') ? [] : await suspiciousFiles(work);
  if (endsAt('files')) return undefined;
  const folders = isSkipped(settings, 'folders') ? [] : await irrelevantFolders(work);
  if (endsAt('folders')) return undefined;
  const near = isSkipped(settings, 'retrieval') ? [] : await embeddingRetrieval(work, folders);
  if (endsAt('retrieval')) return undefined;
  const files = isSkipped(settings, 'combined')
    ? named.length > 0
      ? named
      : near.slice(0, settings.topFiles).map(({ path }) => path)
    : await combinedFiles(work, named, near);
  if (endsAt('combined')) return undefined;
  const elements = isSkipped(settings, 'elements') ? [] : await relatedElements(work, files);
  if (endsAt('elements')) return undefined;
  const code = await linesOfElements(work, files, elements);
  const sets = isSkipped(settings, 'locations') ? [] : await editLocations(work, code);
  if (endsAt('locations')) return undefined;
  if (sets.length > 0 && sets.every((set) => set.length === 0)) {
    steps.tell('no sample names a location; continuing with the code of the elements');
  }
  return { files, sets: setsToRepair(sets, code) };
}
