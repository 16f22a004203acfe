import { z } from 'zod';
import type { Prompt } from '../prompts';
import { askOnce, stagesVersion, type StageWork } from './agentlessStage';
import { codeFiles, treeOfNames } from './codeFiles';
import { fittingPrompt } from './fittingPrompt';
import { readNamedPaths } from './namedPaths';
import { stagePrompt } from './stagePrompt';

/** Paths of R, the most suspicious first. */
export const suspiciousFilesSchema = z.array(z.string());

/** The files that the model suspects from the names of all files. May be empty. */
export function suspiciousFiles(work: StageWork): Promise<string[]> {
  const { steps, settings, greedy } = work;
  const most = settings.suspiciousFiles;
  const of = [stagesVersion, most, greedy, steps.contextTokens];
  return steps.stage({ stage: 'files', of, schema: suspiciousFilesSchema }, async () => {
    const paths = await codeFiles((await steps.view()).tree);
    const prompt = await fittingPrompt(work, [treeOfNames(paths)], ([tree = '']) =>
      suspiciousFilesPrompt({ ...steps.instance, tree, most }),
    );
    const { paths: named, unknown } = readNamedPaths(
      await askOnce(work, 'files', prompt),
      new Set(paths),
    );
    if (unknown.length > 0) {
      steps.tell(`files that the repository does not have are ignored: ${unknown.join(', ')}`);
    }
    if (named.length === 0) steps.tell('the model names no file of the repository');
    return named.slice(0, most);
  });
}

export const suspiciousFilesPrompt = (parts: {
  readonly repo: string;
  readonly issue: string;
  readonly tree: string;
  readonly most: number;
}): Prompt =>
  stagePrompt({
    ...parts,
    shown: shownTree(parts.tree),
    task: [
      `- Decide from the names alone which files have to be changed to solve the problem: at most ${parts.most}.`,
      '- Answer with their paths from the root of the repository, one on each line, in a fenced block, the most',
      '  important first. For example:',
      '',
      '```',
      'shapes/area.py',
      'shapes/sides.py',
      '```',
    ],
  });

/** The lines of a prompt with the tree of names. */
export const shownTree = (tree: string): readonly string[] => [
  'The Python files of the repository follow between <tree> and </tree>, without its tests. A name is ' +
    'indented below its folder.',
  '',
  '<tree>',
  tree,
  '</tree>',
];
