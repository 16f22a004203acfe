import { z } from 'zod';
import { stage } from '../../steps/stages';
import { askOnce, stagesVersion, type StageWork } from '../stageWork';
import { fittingPrompt } from '../fittingPrompt';
import { suspiciousFilesPrompt } from '../stagePrompts';
import { codeFiles, largestFiles, treeOfNames } from './codeFiles';
import { readNamedPaths } from './namedPaths';

/** Paths of R, the most suspicious first. */
export const suspiciousFilesSchema = z.array(z.string());

/** The files that the model suspects from the names of all files. May be empty. */
export function suspiciousFiles(work: StageWork): Promise<string[]> {
  const { steps, settings, greedy } = work;
  const most = settings.suspiciousFiles;
  const of = [stagesVersion, most, greedy, steps.contextTokens];
  return stage(steps, { stage: 'files', of, schema: suspiciousFilesSchema }, async () => {
    const { tree } = await steps.view();
    const paths = await codeFiles(tree);
    const prompt = await fittingPrompt(work, [treeOfNames(paths)], ([names = '']) =>
      suspiciousFilesPrompt({ ...steps.instance, tree: names, most }),
    );
    const text = await askOnce(work, 'files', prompt);
    if (steps.supposes(text)) return largestFiles(tree, most);
    const { paths: named, unknown } = readNamedPaths(text, new Set(paths));
    if (unknown.length > 0) {
      steps.tell(`ignored files that do not exist: ${unknown.join(', ')}`);
    }
    if (named.length === 0) steps.tell('the model names no file of the repository');
    return named.slice(0, most);
  });
}
