import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentlessSettings } from '../../method/agentless/agentlessSettings';
import { codeFiles } from '../../method/agentless/localisation/codeFiles';

/** Bytes of Python code that make a token, about. */
const bytesOfToken = 4;

/**
 * About how many tokens embedding retrieval turns into vectors at most: all code of R, in chunks that
 * overlap. Files are not read, since a person waits for the estimate.
 *
 * @param folder of R
 * @param paths of its files
 */
export async function embeddedTokens(
  folder: string,
  paths: readonly string[],
  { chunkTokens, chunkOverlap }: Pick<AgentlessSettings, 'chunkTokens' | 'chunkOverlap'>,
): Promise<number> {
  const files = await codeFiles({ paths: () => Promise.resolve(paths) });
  const sizes = await Promise.all(
    files.map((path) =>
      stat(join(folder, path)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  const tokens = sizes.reduce((sum, size) => sum + size, 0) / bytesOfToken;
  const overlap = Math.min(chunkOverlap, chunkTokens - 1);
  return Math.ceil((tokens * chunkTokens) / (chunkTokens - overlap));
}
