import type { ForeseeableRequests, RequestSizes } from '../estimate/declaredRequests';
import { inputTokensOf } from '../models/answering';
import type { Prompt } from '../prompts';
import type { Steps } from '../steps';
import { tokenCounter } from '../tokens';
import type { AgentlessStage } from './agentlessSettings';
import { documentsOfR, retrievalQuery } from './localisation/embeddingRetrieval';
import { codeFiles } from './localisation/codeFiles';
import { linesOfCode } from './localisation/codeIntervals';
import { irrelevantFoldersRequest } from './localisation/irrelevantFolders';
import { suspiciousFilesRequest } from './localisation/suspiciousFiles';
import { isInRun, rankingOf, type StageSettings, type StageWork } from './stageWork';
import { editLocationsPrompt, relatedElementsPrompt, repairPrompt } from './stagePrompts';
import { mostShownTests, regressionPrompt } from './testing/regressionTests';
import { testFilesOfR } from './testing/reachingTestFiles';
import { reproductionRequests } from './testing/reproductionTests';

/** Tokens of the tree of names in a prompt, as an estimate. */
const treeTokens = 8000;
/** Tokens of an answer that names files, folders or tests. */
const namesTokens = 300;
/** Tokens that a number in front of a line of code adds, at most. */
const numberTokens = 3;
/** Tokens of the id of a test beside its path. */
const testNameTokens = 14;

/**
 * The requests of Agentless, by stage. Prompts of the first stages and of the scripts depend on R
 * and the issue. The others show code that answers choose: they are bounded by the largest files of
 * R, and by the limit of a prompt.
 */
export function agentlessRequests(
  of: StageSettings,
  { issueTokens, contextTokens, maxOutputTokens }: RequestSizes,
): ForeseeableRequests[] {
  const { settings } = of;
  const sets = isInRun(settings, 'locations') ? settings.locationSamples : 1;
  const code = codeBounds(of);
  const tree = Math.min(contextTokens, issueTokens + treeTokens);
  const names = Math.min(namesTokens, maxOutputTokens);
  const whole = { inputTokens: contextTokens, outputTokens: maxOutputTokens };
  const stages: Partial<Record<AgentlessStage, Omit<ForeseeableRequests, 'stage'>>> = {
    files: {
      ...{ count: 1, inputTokens: tree, outputTokens: names },
      foresee: async (steps) =>
        steps.foreseeRequest(await suspiciousFilesRequest({ ...of, steps })),
    },
    folders: {
      ...{ count: 1, inputTokens: tree, outputTokens: names },
      foresee: async (steps) =>
        steps.foreseeRequest(await irrelevantFoldersRequest({ ...of, steps })),
    },
    // Without a look at R, nobody knows what there is to embed.
    retrieval: {
      ...{ count: 1, isEmbedding: true, inputTokens: 0, outputTokens: 0 },
      foresee: foreseenVectors(of),
    },
    elements: { count: 1, ...whole, outputTokens: names, foresee: code('elements') },
    locations: { count: settings.locationSamples, ...whole, foresee: code('locations') },
    repair: { count: sets * settings.repairSamples, ...whole, foresee: code('repair') },
    regression: {
      ...{ count: 1, isAtMost: true, outputTokens: names, foresee: foreseenRegression(of) },
      inputTokens: contextTokens,
    },
    reproduction: {
      ...reproductionRequests(rankingOf(of), { issueTokens, contextTokens, maxOutputTokens }),
      isAtMost: true,
    },
  };
  return Object.entries(stages).flatMap(([name, { foresee, ...declared }]) => {
    const stage = name as AgentlessStage;
    if (!isInRun(settings, stage)) return [];
    return [
      {
        ...{ stage, ...declared },
        foresee: async (steps: Steps, sample: number) =>
          steps.isGiven(stage) ? undefined : foresee(steps, sample),
      },
    ];
  });
}

/** The vectors of all code files; fewer where folders are left out. */
const foreseenVectors =
  (of: StageSettings): ForeseeableRequests['foresee'] =>
  async (steps) => {
    if (steps.embeddingModel === undefined) return undefined;
    const work: StageWork = { ...of, steps };
    const { tree } = await steps.view();
    const documents = await documentsOfR(work, await codeFiles(tree));
    const query = await retrievalQuery(work);
    if (documents.length === 0 || query === '') return undefined;
    return steps.foreseeEmbedding([[query], ...documents.map(({ texts }) => texts)]);
  };

/** Bounds of prompts with code, for which the largest files of R are looked for once. */
function codeBounds(of: StageSettings) {
  const frames: Readonly<Record<'elements' | 'locations' | 'repair', (steps: Steps) => Prompt>> = {
    elements: (steps) => relatedElementsPrompt({ ...steps.instance, skeletons: [] }),
    locations: (steps) => editLocationsPrompt({ ...steps.instance, files: [] }),
    repair: (steps) => repairPrompt({ ...steps.instance, files: [] }),
  };
  let largest: Promise<CodeSize> | undefined;
  return (stage: keyof typeof frames): ForeseeableRequests['foresee'] =>
    async (steps, sample) => {
      const { tokens, lines } = await (largest ??= largestFiles(of, steps));
      const frame = await inputTokensOf({
        ...frames[stage](steps),
        ...{ temperature: undefined, maxOutputTokens: 0 },
      });
      const numbers = stage === 'locations' ? numberTokens * lines : 0;
      const inputTokens = Math.min(steps.contextTokens, frame + tokens + numbers);
      return steps.foreseeBound({ method: `agentless-${stage}`, sample, inputTokens });
    };
}

interface CodeSize {
  readonly tokens: number;
  readonly lines: number;
}

/** The size of as many files of R as a prompt can show, the largest; no limit where some are given. */
async function largestFiles({ settings }: StageSettings, steps: Steps): Promise<CodeSize> {
  const given = ['files', 'retrieval', 'combined', 'elements', 'locations'];
  if (given.some((stage) => steps.isGiven(stage))) return { tokens: Infinity, lines: 0 };
  const { topFiles, suspiciousFiles } = settings;
  const most = isInRun(settings, 'combined') ? topFiles : Math.max(topFiles, suspiciousFiles);
  const count = await tokenCounter();
  const { tree } = await steps.view();
  const texts: string[] = [];
  for (const path of await codeFiles(tree)) {
    const text = `### ${path}\n${(await tree.read(path)) ?? ''}\n...\n\n`;
    texts.push(text);
    // Few of the largest are kept, since a repository may have many megabytes.
    if (texts.length >= 100) shortenToLargest(texts, most);
  }
  shortenToLargest(texts, most);
  return {
    tokens: texts.reduce((sum, text) => sum + count(text), 0),
    lines: texts.reduce((sum, text) => sum + linesOfCode(text).length, 0),
  };
}

function shortenToLargest(texts: string[], most: number): void {
  texts.sort((one, other) => other.length - one.length);
  texts.length = Math.min(texts.length, most);
}

/** The names of the tests in the files that have the most of them. */
const foreseenRegression =
  ({ settings }: StageSettings): ForeseeableRequests['foresee'] =>
  async (steps, sample) => {
    const { tree } = await steps.view();
    const count = await tokenCounter();
    const sizes: { readonly tests: number; readonly tokens: number }[] = [];
    for (const path of await testFilesOfR({ tree })) {
      const text = (await tree.read(path)) ?? '';
      const tests = text.match(/^\s*(?:async\s+)?def\s+test/gm)?.length ?? 0;
      sizes.push({ tests, tokens: count(path) + testNameTokens });
    }
    sizes.sort((one, other) => other.tests * other.tokens - one.tests * one.tokens);
    let left = mostShownTests;
    let tokens = 0;
    for (const each of sizes.slice(0, settings.regressionFiles)) {
      const shown = Math.min(left, each.tests);
      tokens += shown * each.tokens;
      left -= shown;
    }
    const frame = await inputTokensOf({
      ...regressionPrompt({ ...steps.instance, tests: [] }),
      ...{ temperature: undefined, maxOutputTokens: 0 },
    });
    return steps.foreseeBound({
      ...{ method: 'agentless-regression', sample },
      inputTokens: frame + tokens,
    });
  };
