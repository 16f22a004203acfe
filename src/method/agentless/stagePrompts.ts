import { issueInPrompt, type Prompt } from '../prompt/prompts';

/** Which files have to be changed, from the names of all. */
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
      `- Decide from the names alone which files need to be changed to resolve the issue: at most ${parts.most}.`,
      '- Answer with their full paths in a fenced block, one per line, the most important first. For example:',
      '',
      '```',
      'shapes/area.py',
      'shapes/sides.py',
      '```',
    ],
  });

/** The lines of a prompt with the tree of names. */
const shownTree = (tree: string): readonly string[] => [
  "The repository's Python files, without its tests, are between <tree> and </tree>. Names " +
    'are indented below their folder.',
  '',
  '<tree>',
  tree,
  '</tree>',
];

/** Which folders need not be searched. */
export const irrelevantFoldersPrompt = (parts: {
  readonly repo: string;
  readonly issue: string;
  readonly tree: string;
}): Prompt =>
  stagePrompt({
    ...parts,
    shown: shownTree(parts.tree),
    task: [
      '- Decide which folders are irrelevant: no file in them or in their subfolders needs to be read or',
      '  changed to resolve the issue. If you are unsure about a folder, do not name it.',
      '- Answer with their full paths in a fenced block, one per line, with / at the end. For example:',
      '',
      '```',
      'docs/',
      'shapes/drawing/',
      '```',
    ],
  });

/** Which elements matter, from skeletons. */
export const relatedElementsPrompt = (parts: {
  readonly repo: string;
  readonly issue: string;
  readonly skeletons: readonly string[];
}): Prompt =>
  stagePrompt({
    ...parts,
    shown: [
      'Skeletons of some files are between <code> and </code>: the headers of their classes ' +
        'and functions, and their variables and comments. `...` stands for omitted code.',
      '',
      '<code>',
      parts.skeletons.join('\n\n'),
      '</code>',
    ],
    task: [
      '- Decide which classes, functions and variables need to be read or changed to resolve the issue,',
      '  including those that are only possibly related.',
      '- Name a class only if all of it is relevant; otherwise name its relevant methods.',
      '- Answer in a fenced block, with the path of each file on its own line and its elements below it, one',
      '  per line. For example:',
      '',
      '```',
      'shapes/area.py',
      'function: Square.area',
      'variable: UNITS',
      '',
      'shapes/sides.py',
      'class: Polygon',
      '```',
    ],
  });

/** Which lines, functions or classes have to be changed. */
export const editLocationsPrompt = (parts: {
  readonly repo: string;
  readonly issue: string;
  readonly files: readonly string[];
}): Prompt =>
  stagePrompt({
    ...parts,
    shown: [
      'Code that may be relevant is between <code> and </code>. Each line starts with its line ' +
        'number. `...` stands for omitted code.',
      '',
      '<code>',
      parts.files.join('\n\n'),
      '</code>',
    ],
    task: [
      '- Decide which lines, functions or classes need to be changed to resolve the issue, including places',
      '  where new code belongs. Explain your choice in a few sentences.',
      '- End with a fenced block, with the path of each file on its own line and its places below it, one per',
      '  line. For example:',
      '',
      '```',
      'shapes/area.py',
      'line: 12',
      'lines: 30-34',
      'function: Square.area',
      '',
      'shapes/sides.py',
      'class: Polygon',
      '```',
    ],
  });

/** The change itself, as search/replace edits. */
export const repairPrompt = (parts: {
  readonly repo: string;
  readonly issue: string;
  readonly files: readonly string[];
}): Prompt =>
  stagePrompt({
    ...parts,
    shown: [
      'The code to change is between <code> and </code>. `...` stands for omitted code.',
      '',
      '<code>',
      parts.files.join('\n\n'),
      '</code>',
    ],
    task: [
      '- First locate the cause of the issue, and explain which small change resolves it.',
      '- Then write the change as search/replace edits, each in its own fenced block: the path of the file,',
      '  the lines to search for, and the lines that replace them.',
      '- Copy the lines to search for exactly from the file, with their indentation and without gaps. Include',
      '  enough lines that they occur only once. Indent the lines that replace them in full.',
      '- Do not change tests.',
      '',
      'An example of an edit:',
      '',
      ...repairExample,
    ],
  });

/** The edits that the prompt shows as an example. */
const repairExample = [
  '```python',
  '### shapes/area.py',
  '<<<<<<< SEARCH',
  '    def area(self):',
  '        return self.width * self.width',
  '=======',
  '    def area(self):',
  '        return self.width * self.height',
  '>>>>>>> REPLACE',
  '```',
];

/**
 * The prompt of a stage, in our own words: the issue, what the stage shows, and the task. The same
 * parts come first in all of them, so that a provider can cache them.
 *
 * @param parts.shown what the stage shows of R, with its heading
 * @param parts.task the lines of the task
 */
function stagePrompt(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly shown: readonly string[];
  readonly task: readonly string[];
}): Prompt {
  const { repo, issue, shown, task } = parts;
  const content = [...issueInPrompt({ repo, issue }), ...shown, '', 'Your task:', ...task].join(
    '\n',
  );
  return { system, messages: [{ role: 'user', content }] };
}

const system =
  'You are an experienced Python developer who finds the code behind reported issues and ' +
  'resolves them with small changes.';
