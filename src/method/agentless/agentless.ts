import { temperatureOf, type Method, type MethodResult } from '../method';
import {
  agentlessSettings,
  type AgentlessSettings,
  type AgentlessStage,
} from './agentlessSettings';
import type { StageWork } from './agentlessStage';
import { combinedFiles } from './localisation/combinedFiles';
import { editLocations, linesOfElements, type EditLocations } from './localisation/editLocations';
import { embeddingRetrieval } from './localisation/embeddingRetrieval';
import { irrelevantFolders } from './localisation/irrelevantFolders';
import { rankRepairs } from './rankRepairs';
import { relatedElements } from './localisation/relatedElements';
import { sampledRepairs } from './sampledRepairs';
import { suspiciousFiles } from './localisation/suspiciousFiles';

/**
 * Agentless (https://arxiv.org/abs/2407.01489): from the issue to files, elements and lines, and from
 * those to patches, of which one is chosen.
 */
export function agentless(settings: AgentlessSettings = agentlessSettings()): Method {
  const method: Method = {
    name: 'agentless',
    title: 'Agentless',
    description: 'files, elements and lines to change, then many code patches and a vote',
    runs: 'nothing',
    samples: settings.locationSamples * settings.repairSamples,
    temperature: 0,
    async produce(steps, options) {
      const work: StageWork = {
        ...{ steps, settings },
        greedy: temperatureOf(method, options),
        sampled: (temperature) => (options.temperature === null ? undefined : temperature),
      };
      const found = await localised(work);
      if (found === undefined) {
        return { candidates: [], chosen: undefined, why: '', until: settings.until };
      }
      if (found.length === 0) return nothing('no stage names a file of the repository');
      return rankRepairs(await sampledRepairs(work, found, options.onCandidate));
    },
  };
  return method;
}

const nothing = (why: string): MethodResult => ({ candidates: [], chosen: undefined, why });

/**
 * The stages before the repair.
 *
 * @returns the sets of locations that there is a place in; undefined when the run ends before
 */
async function localised(work: StageWork): Promise<EditLocations[] | undefined> {
  const { steps, settings } = work;
  const isSkipped = (stage: AgentlessStage): boolean => settings.skip.includes(stage);
  const endsAt = (stage: AgentlessStage): boolean => settings.until === stage;
  const named = isSkipped('files') ? [] : await suspiciousFiles(work);
  if (endsAt('files')) return undefined;
  const folders = isSkipped('folders') ? [] : await irrelevantFolders(work);
  if (endsAt('folders')) return undefined;
  const near = isSkipped('retrieval') ? [] : await embeddingRetrieval(work, folders);
  if (endsAt('retrieval')) return undefined;
  const files = isSkipped('combined')
    ? named.length > 0
      ? named
      : near.slice(0, settings.topFiles).map(({ path }) => path)
    : await combinedFiles(work, named, near);
  if (endsAt('combined')) return undefined;
  const elements = isSkipped('elements') ? [] : await relatedElements(work, files);
  if (endsAt('elements')) return undefined;
  const code = await linesOfElements(work, files, elements);
  const sets = isSkipped('locations') ? [] : await editLocations(work, code);
  if (endsAt('locations')) return undefined;
  // A sample without a location goes on with the code that it was shown.
  if (sets.length > 0 && sets.every((set) => set.length === 0)) {
    steps.tell('no sample names a location, so the code of the elements goes on');
  }
  return (sets.length > 0 ? sets : [code])
    .map((set) => (set.length > 0 ? set : code))
    .filter((set) => set.length > 0);
}
