import { reportInPrompt, type Prompt } from '../prompt/prompts';

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
const shownTree = (tree: string): readonly string[] => [
  'The Python files of the repository follow between <tree> and </tree>, without its tests. A name is ' +
    'indented below its folder.',
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
      '- Decide which folders have nothing to do with the problem, so that nobody has to read their files to',
      '  solve it. All folders below such a folder are left out with it.',
      '- Answer with their paths from the root of the repository, one on each line and with / at the end, in a',
      '  fenced block. For example:',
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
      'Skeletons of some files follow between <code> and </code>: the headers of their classes and functions, ' +
        'and their variables and comments. `...` stands for code that is left out.',
      '',
      '<code>',
      parts.skeletons.join('\n\n'),
      '</code>',
    ],
    task: [
      '- Decide which classes, functions and variables have to be read or changed to solve the problem.',
      '- Name a class only if all of it matters, and its methods one by one otherwise.',
      '- Answer in a fenced block. Write the path of a file on a line of its own, and its elements below it, one',
      '  on each line. For example:',
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
      'Code that may matter follows between <code> and </code>. The number at the beginning of each line is ' +
        'its number in the file. `...` stands for code that is left out.',
      '',
      '<code>',
      parts.files.join('\n\n'),
      '</code>',
    ],
    task: [
      '- Decide which places have to be changed to solve the problem: lines, functions or classes. New code',
      '  comes at such a place too.',
      '- Think about it first, in a few sentences.',
      '- End with a fenced block. Write the path of a file on a line of its own, and its places below it, one on',
      '  each line. For example:',
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
      'The code to change follows between <code> and </code>. `...` stands for code that is left out.',
      '',
      '<code>',
      parts.files.join('\n\n'),
      '</code>',
    ],
    task: [
      '- Think step by step first: where the problem comes from, and which small change solves it.',
      '- Then write the change as search/replace edits, each in a fenced block of its own: the path of the file,',
      '  the lines to find, and the lines in their place.',
      '- The lines to find stand in the file exactly so, with their indentation and without a gap. Take as many',
      '  as it needs for them to be there only once.',
      '- Change the code only, and leave the tests as they are. For example:',
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
 * The prompt of a stage, in our own words: the report, what the stage shows, and what is to be
 * done. The same parts come first in all of them, so that a provider can cache them.
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
  const content = [...reportInPrompt({ repo, issue }), ...shown, '', 'Your task:', ...task].join(
    '\n',
  );
  return { system, messages: [{ role: 'user', content }] };
}

const system =
  'You are an experienced Python developer. You find the code that a reported problem comes from, and solve ' +
  'it with small changes.';
