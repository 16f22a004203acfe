import { z } from 'zod';
import { onlyRequest, stagesVersion, type StageWork } from '../stageWork';
import type { StageRequest } from '../../steps';
import { codeFiles, treeOfNames } from './codeFiles';
import { fittingPrompt } from '../fittingPrompt';
import { readNamedPaths } from './namedPaths';
import { suspiciousFilesPrompt } from '../stagePrompts';

/** Paths of R, the most suspicious first. */
export const suspiciousFilesSchema = z.array(z.string());

/** The files that the model suspects from the names of all files. May be empty. */
export function suspiciousFiles(work: StageWork): Promise<string[]> {
  const { steps, settings, greedy } = work;
  const most = settings.suspiciousFiles;
  const of = [stagesVersion, most, greedy, steps.contextTokens];
  return steps.stage({ stage: 'files', of, schema: suspiciousFilesSchema }, async () => {
    const paths = await codeFiles((await steps.view()).tree);
    const { text } = await steps.request(await suspiciousFilesRequest(work));
    const { paths: named, unknown } = readNamedPaths(text, new Set(paths));
    if (unknown.length > 0) {
      steps.tell(`files that the repository does not have are ignored: ${unknown.join(', ')}`);
    }
    if (named.length === 0) steps.tell('the model names no file of the repository');
    return named.slice(0, most);
  });
}

/** The request for the names of suspicious files. */
export async function suspiciousFilesRequest(work: StageWork): Promise<StageRequest> {
  const { steps, settings } = work;
  const paths = await codeFiles((await steps.view()).tree);
  const prompt = await fittingPrompt(work, [treeOfNames(paths)], ([tree = '']) =>
    suspiciousFilesPrompt({ ...steps.instance, tree, most: settings.suspiciousFiles }),
  );
  return onlyRequest(work, 'files', prompt);
}
