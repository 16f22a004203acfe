import { z } from 'zod';
import { stage } from '../../steps/stages';
import { askOnce, stagesVersion, type StageWork } from '../stageWork';
import { codeFiles, foldersOf, treeOfNames } from './codeFiles';
import { fittingPrompt } from '../fittingPrompt';
import { readNamedPaths } from './namedPaths';
import { irrelevantFoldersPrompt } from '../stagePrompts';

/** Paths of folders of R, without `/` at their ends. */
const irrelevantFoldersSchema = z.array(z.string());

/** The folders whose files need not be searched. May be empty. */
export function irrelevantFolders(work: StageWork): Promise<string[]> {
  const { steps, greedy } = work;
  const of = [stagesVersion, greedy, steps.contextTokens];
  return stage(steps, { stage: 'folders', of, schema: irrelevantFoldersSchema }, async () => {
    const paths = await codeFiles((await steps.view()).tree);
    const prompt = await fittingPrompt(work, [treeOfNames(paths)], ([tree = '']) =>
      irrelevantFoldersPrompt({ ...steps.instance, tree }),
    );
    const text = await askOnce(work, 'folders', prompt);
    const { paths: named, unknown } = readNamedPaths(text, foldersOf(paths));
    if (unknown.length > 0) {
      steps.tell(`ignored folders that do not exist: ${unknown.join(', ')}`);
    }
    return [...named];
  });
}

/** The files outside of folders; all of them, where the folders hold every file. */
export function withoutFolders(
  paths: readonly string[],
  folders: readonly string[],
): readonly string[] {
  const left = paths.filter((path) => !folders.some((folder) => path.startsWith(`${folder}/`)));
  return left.length === 0 ? paths : left;
}
