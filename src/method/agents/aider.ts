import { asShown } from '../../patch/bytes';
import { furtherFormats } from '../../patch/patchFormats';
import { toUnified } from '../../patch/toUnified';
import { turnsOf } from '../../domain/work';
import { syntaxErrorsOf, type SyntaxErrorOfCandidate } from '../steps/syntaxErrorsOf';
import type { ChatMessage } from '../models/chatModel';
import { tokenCounter } from '../prompt/tokens';
import type { AgentObservation, AgentTurn, FilesAgent, FilesTask, FilesWork } from './agent';
import type { FilesState } from '../traces/traceSteps';
import { fencedBlocks } from './fencedBlocks';
import { mentionedFiles } from './mentionedFiles';
import { repoMap } from './repoMap';
import { repoTags } from './repoTags';

/** Tokens of the map while files are in the chat. */
const mapTokens = 2048;
/** How much larger the map is while none are. */
const mapFactor = 8;
/** Tokens of the answers and of what was said to them. */
const historyTokens = 8000;
/** Problems of a diff that are named. */
const mostProblems = 10;

/**
 * Aider 0.38 (`coders/base_coder.py`, `coders/udiff_coder.py`, `repomap.py`): a map of the repository, files
 * that the model mentions, diffs without line numbers, and reflections. The prompts are our own.
 */
export const aider: FilesAgent = {
  needs: 'files',
  name: 'aider',
  title: 'Aider',
  description: 'a map of the repository, files that the model asks for, and corrected diffs',
  version: 1,
  limits: {
    // A round is the first request, or a reflection. Three calls are left for answers without a text.
    paper: { calls: 7, rounds: 4, dollars: 3, contextTokens: 128_000 },
    modern: { calls: 14, rounds: 11, dollars: 3, contextTokens: 400_000 },
  },
  temperature: 0,
  topP: 0.95,
  formatErrors: 3,
  submitsAtEnd: true,
  async begin(work) {
    const files = mentionedFiles(work.task.issue, await work.workspace.paths());
    return shownIn({ stage: 'edit', round: 1, tries: 0, files }, work);
  },
  system: () => `You are a software engineer who adds tests to a code base.

You see a map of the repository and the full text of some of its files. To see another file, mention its path, and it is shown next. Change existing files only after you have seen them in full.

Write changes as one unified diff in a fenced block that starts with \`\`\`diff:

\`\`\`diff
--- tests/test_cat.py
+++ tests/test_cat.py
@@ ... @@
 class CatTest(TestCase):
     def test_meow(self):
         self.assertEqual(Cat().meow(), "meow")
 
+    def test_purr(self):
+        self.assertEqual(Cat().purr(), "purr")
+
\`\`\`

Rules of the diff:
- Do not write line numbers: a line @@ ... @@ starts each hunk. Write one hunk for each place that changes.
- Copy lines that start with - or a space exactly from the file, with their indentation.
- Include enough lines around each change that the hunk matches only one place.
- For a new file, write --- /dev/null, then +++ and its path, and then only lines that start with +.`,
  messages,
  parse(answer) {
    const text = answer.trim();
    return text === ''
      ? { problem: 'Your answer was empty. Answer again.' }
      : { thought: '', action: text };
  },
  act,
};

const firstMessage = ({ repo, issue }: FilesTask): string => `<issue>
${issue}
</issue>

This issue was reported for the repository ${repo}. The repository is in the state of that time, so its files may differ from those that you know. Add tests to its test suite that reproduce the issue: they fail now, and they pass once the issue is resolved.

- Change only tests, in the style and with the tools of the existing tests. Do not resolve the issue itself.
- The repository's test runner must find the tests.
- Each test must fail for the reason in the issue, not because of a wrong import or name.`;

async function messages(
  task: FilesTask,
  turns: readonly AgentTurn<FilesState>[],
  { shown = '' }: FilesState,
): Promise<ChatMessage[]> {
  return [
    { role: 'user', content: shown },
    { role: 'assistant', content: 'OK.' },
    { role: 'user', content: firstMessage(task) },
    ...(await historyOf(turns)),
  ];
}

/** The last exchanges, as many as the history holds. */
async function historyOf(turns: readonly AgentTurn<FilesState>[]): Promise<ChatMessage[]> {
  const count = await tokenCounter();
  const messages: ChatMessage[] = [];
  let left = historyTokens;
  for (const { answer, observation } of turns.toReversed()) {
    left -= count(answer) + count(observation);
    // The last answer is what the model has to fix.
    if (left < 0 && messages.length > 0) break;
    messages.unshift(
      { role: 'assistant', content: answer },
      { role: 'user', content: observation },
    );
  }
  return messages;
}

/** Edits, and says what the model has to fix or is shown next. Without either, the work is done. */
async function act(action: string, work: FilesWork): Promise<AgentObservation<FilesState>> {
  const { workspace, task, state } = work;
  const made = await edit(action, work);
  const known = [...new Set([...(state.files ?? []), ...made.paths])];
  const paths = await workspace.paths();
  const added = mentionedFiles(action, paths).filter((path) => !known.includes(path));
  const reflections = [
    ...made.problems,
    ...(added.length === 0 ? [] : [`You now see these files: ${added.join(', ')}. Continue.`]),
  ];
  const isDone = reflections.length === 0;
  const isGivenUp = !isDone && state.round >= task.limits.rounds;
  const files = [...known, ...added].filter((path) => paths.includes(path));
  const next = { ...state, files, round: state.round + 1 };
  return {
    text: isDone ? 'Nothing is left to correct.' : reflections.join('\n\n'),
    state: isDone || isGivenUp ? { ...next, shown: undefined } : await shownIn(next, work),
    isSubmission: isDone,
    isGivenUp,
  };
}

/** The outcome of the diff of an answer. */
interface Edit {
  readonly paths: readonly string[];
  /** What the model has to fix. */
  readonly problems: readonly string[];
}

async function edit(answer: string, { workspace, signal }: FilesWork): Promise<Edit> {
  const diffs = fencedBlocks(answer).filter(({ language }) => language === 'diff');
  const begun = answer.match(/^[ \t]*```diff[ \t]*$/gm)?.length ?? 0;
  if (diffs.length < begun) return refused(['The block of a diff has no end']);
  if (diffs.length === 0) return { paths: [], problems: [] };
  const { python, tree } = workspace;
  const text = diffs.map((block) => `${block.text}\n`).join('');
  const { files, diagnostics } = await toUnified(text, {
    ...{ format: 'fuzzy', formats: furtherFormats, tree: workspace, python, signal },
  });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    return refused(
      errors.map(({ message, hint }) => (hint === undefined ? message : `${message}. ${hint}`)),
    );
  }
  for (const [path, after] of files) workspace.write(path, after);
  const readFileOfR = (path: string) => tree.read(path);
  const faults = await syntaxErrorsOf(files, { python, readFileOfR }, turnsOf(signal));
  return { paths: [...files.keys()], problems: faults.map(syntaxErrorRequest) };
}

const refused = (problems: readonly string[]): Edit => ({
  paths: [],
  problems: [
    `Your diff could not be applied, and no file was changed:\n${problems
      .slice(0, mostProblems)
      .map((each) => `- ${each}`)
      .join('\n')}\nWrite the whole diff again.`,
  ],
});

const syntaxErrorRequest = ({ path, line, problem, lines }: SyntaxErrorOfCandidate): string =>
  `Your diff was applied, but ${path} is no longer valid Python. There is a syntax error in line ${line}${problem === undefined ? '' : `: ${problem}`}:\n\n${fenced(lines.join('\n'))}\n\nFix it with another diff.`;

/** The state with what the next request shows: the map, and the files in the chat as they are now. */
async function shownIn(
  state: FilesState,
  { workspace, task, signal }: Omit<FilesWork, 'state'>,
): Promise<FilesState> {
  const { files = [] } = state;
  const map = await repoMap({
    tags: await repoTags(workspace, signal),
    paths: await workspace.paths(),
    issue: task.issue,
    inChat: new Set(files),
    budgetTokens: files.length === 0 ? mapFactor * mapTokens : mapTokens,
    count: await tokenCounter(),
  });
  const parts = [`A map of the repository with some of its definitions:\n\n${map}`];
  for (const path of files) {
    const text = asShown((await workspace.read(path)) ?? '');
    parts.push(`${path} is now:\n\n${text.includes('\0') ? '(no text)' : fenced(text)}`);
  }
  return { ...state, shown: parts.join('\n\n') };
}

/** A text in a fence that it does not hold. */
function fenced(text: string): string {
  let fence = '```';
  while (text.includes(fence)) fence += '`';
  return `${fence}\n${text.endsWith('\n') ? text : `${text}\n`}${fence}`;
}
