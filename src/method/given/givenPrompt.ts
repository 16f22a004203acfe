import { HumanError } from '../../domain/work';
import { isTestPath } from '../../patch/testFiles';
import { findTests } from '../../python/tests';
import type { ModelView } from '../modelView';
import { packFiles, shownFile, wholeWithin, type Packed } from '../prompt/pack';
import {
  candidatePrompt,
  continuedPrompt,
  type CandidateFormat,
  type Exchange,
  type Prompt,
} from '../prompt/prompts';
import type { CountTokens } from '../prompt/tokens';
import type { GivenContext } from './givenContext';

/** A test file that a prompt names. */
interface NamedTestFile {
  readonly path: string;
  /** Whether R has no such file. */
  readonly isNew: boolean;
  /** Its text with line numbers; undefined where it has no room. */
  readonly shown?: string;
}

/** The lines of a prompt with the given patch and test files, and where the tests belong. */
function givenLines({
  patch,
  testFiles = [],
}: {
  readonly patch?: string | undefined;
  readonly testFiles?: readonly NamedTestFile[];
}): { readonly lines: readonly string[]; readonly place: string | undefined } {
  const proposed = [
    // The words are the same for a golden and a wrong patch, so that they do not give it away.
    'A patch that was proposed to resolve the issue is between <patch> and </patch>. It is not ' +
      'applied to the repository. It may hint at what to test, but do not assume that it is ' +
      'correct: your tests should show whether it resolves the issue.',
    '',
    '<patch>',
    patch?.trimEnd() ?? '',
    '</patch>',
    '',
  ];
  const files = testFiles.flatMap(({ path, isNew, shown }) => {
    if (isNew) return [];
    if (shown === undefined) return [`The test file ${path} is too long to show here.`, ''];
    const about = `The test file ${path} is between <tests> and </tests>.`;
    return [about, '', '<tests>', shown, '</tests>', ''];
  });
  const paths = testFiles.map(({ path, isNew }) => (isNew ? `the new file ${path}` : path));
  return {
    lines: [...(patch === undefined ? [] : proposed), ...files],
    place: paths.length === 0 ? undefined : `in ${paths.join(' and ')}`,
  };
}

/** What a prompt of a setting is written from. */
interface GivenPromptParts {
  readonly instance: Pick<ModelView, 'repo' | 'issue'>;
  readonly view: Pick<ModelView, 'tree' | 'python'>;
  /** Paths of files of R, best first. */
  readonly ranked: readonly string[];
  readonly given: GivenContext;
  readonly format: CandidateFormat;
  /** The answer before, which the prompt continues after. */
  readonly after?: Exchange | undefined;
  /** Tokens of the whole prompt. */
  readonly contextTokens: number;
  readonly count: CountTokens;
  readonly tokensOf: (prompt: Prompt) => Promise<number>;
}

/**
 * The prompt of a setting of Table 5. The test files come first, then the given files, each whole if
 * it has room. Retrieved files fill the rest as they do without a setting.
 *
 * @throws HumanError when there is no room for the patch, or R has no test file to retrieve
 */
export async function givenPrompt(
  parts: GivenPromptParts,
): Promise<{ readonly prompt: Prompt; readonly files: readonly string[] }> {
  const { instance, view, ranked, given, format, after, contextTokens, count, tokensOf } = parts;
  const { tree } = view;
  const { patch, files } = given;
  const paths =
    given.testFiles === 'retrieved' ? [await bestTestFile(view, ranked)] : (given.testFiles ?? []);
  const write = (testFiles: readonly NamedTestFile[], text: string): Prompt => {
    const of = givenLines({ patch, testFiles });
    const prompt = candidatePrompt({ ...instance, files: text, format, given: of });
    return after === undefined ? prompt : continuedPrompt(prompt, after);
  };
  const unshown = await Promise.all(
    paths.map(async (path) => ({ path, isNew: (await tree.read(path)) === undefined })),
  );
  // The line is no file: it stands for the words around files.
  const least = await tokensOf(write(unshown, '\n'));
  if (least > contextTokens) {
    throw new HumanError(
      `The prompt needs ${least} tokens without any files`,
      `Raise --context-tokens above ${contextTokens}`,
    );
  }
  let room = contextTokens - least;
  const named: NamedTestFile[] = [];
  for (const each of unshown) {
    const text = await tree.read(each.path);
    const shown = text === undefined ? '' : shownFile(each.path, text);
    const size = count(shown) + tagTokens;
    const fits = !each.isNew && size <= room;
    if (fits) room -= size;
    named.push(fits ? { ...each, shown } : each);
  }
  const others = (files ?? ranked).filter((path) => !paths.includes(path));
  const packed =
    files === undefined
      ? await packFiles({ ...view, issue: instance.issue, isForTests: false }, others, room, count)
      : await wholeFiles(tree, others, room, count);
  const shown = named.filter((each) => each.shown !== undefined).map(({ path }) => path);
  return { prompt: write(named, packed.text), files: [...shown, ...packed.paths] };
}

/** Tokens of the lines around a test file, at most. */
const tagTokens = 32;

/** The best ranked file of R that has tests. */
async function bestTestFile(
  { tree, python }: GivenPromptParts['view'],
  ranked: readonly string[],
): Promise<string> {
  for (const path of ranked.filter(isTestPath)) {
    const text = (await tree.read(path)) ?? '';
    if (findTests(python, text, { path }).length > 0) return path;
  }
  throw new HumanError(
    'No test file of R has a word in common with the issue, so none can be retrieved',
    'Remove test-file from --given for this instance',
  );
}

/** The files that have room, however large one of them is. */
async function wholeFiles(
  tree: GivenPromptParts['view']['tree'],
  paths: readonly string[],
  room: number,
  count: CountTokens,
): Promise<Pick<Packed, 'paths' | 'text'>> {
  const packed: { path: string; text: string }[] = [];
  let left = room;
  for (const path of paths) {
    const text = await tree.read(path);
    const whole = text === undefined ? undefined : wholeWithin(path, text, left, count);
    if (whole === undefined) continue;
    left -= whole.tokens;
    packed.push({ path, text: whole.text });
  }
  return { paths: packed.map(({ path }) => path), text: packed.map(({ text }) => text).join('\n') };
}
