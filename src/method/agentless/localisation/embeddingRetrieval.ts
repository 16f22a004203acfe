import { z } from 'zod';
import { tokenCounter } from '../../tokens';
import { stagesVersion, type StageWork } from '../stageWork';
import { chunksOf } from './chunks';
import { codeFiles } from './codeFiles';
import { withoutFolders } from './irrelevantFolders';
import { nearestFiles, type NearFile } from './nearestFiles';

/** Files of R by their best chunk, the best first. */
const embeddingRetrievalSchema = z.array(z.object({ path: z.string(), score: z.number() }));

/** Tokens of the issue that are compared with the code: as many as embedding models take. */
const issueTokens = 8000;

/**
 * The files whose chunks are nearest to the issue. Empty, and said in the log, where the run has no
 * embedding model.
 *
 * @param folders that are left out
 */
export function embeddingRetrieval(
  { steps, settings }: StageWork,
  folders: readonly string[],
): Promise<NearFile[]> {
  const { chunkTokens: size, chunkOverlap, topChunks } = settings;
  const overlap = Math.min(chunkOverlap, size - 1);
  const of = [stagesVersion, steps.embeddingModel, folders, size, overlap, topChunks];
  return steps.stage({ stage: 'retrieval', of, schema: embeddingRetrievalSchema }, async () => {
    if (steps.embeddingModel === undefined) {
      steps.tell('embedding retrieval is skipped, since there is no --embedding-model');
      return [];
    }
    const { tree } = await steps.view();
    const all = await codeFiles(tree);
    const paths = withoutFolders(all, folders);
    if (folders.length > 0 && paths.length === all.length) {
      steps.tell('the folders to leave out hold every file or none, so all files are searched');
    }
    const count = await tokenCounter();
    const documents: { readonly path: string; readonly texts: readonly string[] }[] = [];
    for (const path of paths) {
      const texts = chunksOf((await tree.read(path)) ?? '', { size, overlap }, count);
      if (texts.length > 0) documents.push({ path, texts });
    }
    const [query = ''] = chunksOf(steps.instance.issue, { size: issueTokens, overlap: 0 }, count);
    if (query === '' || documents.length === 0) return [];
    const [[issue] = [], ...vectors] = await steps.embed([
      [query],
      ...documents.map(({ texts }) => texts),
    ]);
    if (issue === undefined) throw new Error('the issue has no vector');
    const chunks = new Map(documents.map(({ path }, at) => [path, vectors[at] ?? []]));
    return nearestFiles(issue, chunks, topChunks);
  });
}
