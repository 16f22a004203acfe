import { z } from 'zod';
import { HumanError } from '../../../domain/work';
import { embedDocuments, tokensToEmbed } from '../../models/embedDocuments';
import type { Steps } from '../../steps/steps';
import { stage } from '../../steps/stages';
import { tokenCounter } from '../../prompt/tokens';
import { stagesVersion, type StageWork } from '../stageWork';
import { chunksOf } from './chunks';
import { codeFiles, largestFiles } from './codeFiles';
import { withoutFolders } from './irrelevantFolders';
import { nearestFiles, type NearFile } from './nearestFiles';

/** Files of R by their best chunk, the best first. */
export const embeddingRetrievalSchema = z.array(z.object({ path: z.string(), score: z.number() }));

/** Tokens of the issue that are compared with the code: as many as embedding models take. */
const issueTokens = 8000;

/**
 * The files whose chunks are nearest to the issue. Empty, and said in the log, where the run has no
 * embedding model.
 *
 * @param folders that are left out
 */
export function embeddingRetrieval(
  work: StageWork,
  folders: readonly string[],
): Promise<NearFile[]> {
  const { steps, settings } = work;
  const { size, overlap } = chunking(settings);
  const { topChunks } = settings;
  const model = steps.parts.embedding?.name;
  const of = [stagesVersion, model, folders, size, overlap, topChunks];
  return stage(steps, { stage: 'retrieval', of, schema: embeddingRetrievalSchema }, async () => {
    if (model === undefined) {
      steps.tell('skipped embedding retrieval: no embedding model is set');
      return [];
    }
    const { tree } = await steps.view();
    const all = await codeFiles(tree);
    const paths = withoutFolders(all, folders);
    if (folders.length > 0 && paths.length === all.length) {
      steps.tell('the irrelevant folders contain all files or none; searching all files');
    }
    const documents = await documentsOfR(work, paths);
    const query = await retrievalQuery(work);
    if (query === '' || documents.length === 0) return [];
    const found = await embed(steps, [[query], ...documents.map(({ texts }) => texts)]);
    if (found === undefined) {
      const largest = await largestFiles(tree, settings.topFiles);
      return largest.map((path) => ({ path, score: 0 }));
    }
    const [[issue] = [], ...vectors] = found;
    if (issue === undefined) throw new Error('the issue has no embedding');
    const chunks = new Map(documents.map(({ path }, at) => [path, vectors[at] ?? []]));
    return nearestFiles(issue, chunks, topChunks);
  });
}

const chunking = ({ chunkTokens: size, chunkOverlap }: StageWork['settings']) => ({
  size,
  overlap: Math.min(chunkOverlap, size - 1),
});

/**
 * The vectors of texts, for each document in the order of its texts. They are stored by content and
 * model, so that nothing is paid twice.
 *
 * @returns undefined in a walk, which counts them
 * @throws HumanError when the run has no embedding model
 */
async function embed(steps: Steps, documents: readonly (readonly string[])[]) {
  const { live, embedding, walk, ...parts } = steps.parts;
  if (walk !== undefined && embedding !== undefined) {
    const { storage } = parts;
    walk.countVectors(walk.isBlind ? 0 : await tokensToEmbed(documents, { ...embedding, storage }));
    walk.suppose();
    return undefined;
  }
  if (live?.embedding === undefined || embedding === undefined) {
    throw new HumanError('There is no embedding model', 'Specify one with --embedding-model');
  }
  return embedDocuments(documents, {
    ...parts,
    ...embedding,
    model: live.embedding,
    inTurn: live.inEmbedding,
    onEmbedding: (step) => {
      parts.onEmbedding?.(step);
      steps.addOrigin(step.key);
    },
  });
}

/** The chunks of files of R, without files that have none. */
async function documentsOfR(
  { steps, settings }: Pick<StageWork, 'steps' | 'settings'>,
  paths: readonly string[],
): Promise<{ readonly path: string; readonly texts: readonly string[] }[]> {
  const { tree } = await steps.view();
  const count = await tokenCounter();
  const documents: { readonly path: string; readonly texts: readonly string[] }[] = [];
  for (const path of paths) {
    const texts = chunksOf((await tree.read(path)) ?? '', chunking(settings), count);
    if (texts.length > 0) documents.push({ path, texts });
  }
  return documents;
}

/** As much of the issue as is compared with the code. */
async function retrievalQuery({ steps }: Pick<StageWork, 'steps'>): Promise<string> {
  const size = { size: issueTokens, overlap: 0 };
  const [query = ''] = chunksOf(steps.instance.issue, size, await tokenCounter());
  return query;
}
