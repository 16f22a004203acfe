import { z } from 'zod';
import { parseForeignJson } from '../../files/json';
import type { ChatMessage } from '../models/chatModel';
import type {
  AgentObservation,
  AgentTurn,
  FilesAgent,
  FilesTask,
  FilesWork,
  ParsedAnswer,
} from './agent';
import type { FilesState } from '../traces/traceSteps';
import { snippetEditsOf, makeSnippetEdits } from './autoCodeRoverEdits';
import {
  codeOfLocation,
  parseSearchCall,
  runSearchCall,
  searchCallText,
  searchDocs,
  type SearchCall,
} from './autoCodeRoverSearches';

/**
 * What a request is for. Each round names searches in prose, has them translated into JSON, and analyses
 * their results. The last stage writes.
 */
type Stage = 'search' | 'translate' | 'analyse' | 'write';

/** Tries at the translation of one answer; the reference has five, and a model that fails twice goes on failing. */
const translations = 2;
/** Tries at edits that can be made. */
const writings = 3;
/** Calls and locations of one answer. */
const mostNamed = 15;

/** The most calls that the rounds and tries can take. */
const callsOf = (rounds: number): number => rounds * (2 + translations) + writings;

/**
 * AutoCodeRover 1.0.0 (`app/inference.py`, `app/search`, `app/api`) with the additions of the SWT-Bench
 * paper for tests: new files, and the beginning of a file. The prompts are our own.
 */
export const autoCodeRover: FilesAgent = {
  needs: 'files',
  name: 'autocoderover',
  title: 'AutoCodeRover',
  description: 'an agent that searches classes, methods and code in rounds, and then writes edits',
  version: 2,
  limits: {
    paper: { calls: callsOf(10), rounds: 10, dollars: 3, contextTokens: 128_000 },
    modern: { calls: callsOf(20), rounds: 20, dollars: 3, contextTokens: 400_000 },
  },
  temperature: 0,
  topP: 0.95,
  formatErrors: 3,
  submitsAtEnd: true,
  begin: () => Promise.resolve(at('search')),
  system: (_, { stage }) => systems[stage as Stage],
  messages: (task, turns, { stage }) =>
    stage === 'translate' ? translation(turns) : thread(task, turns),
  answerSchema: ({ stage }) => (stage === 'translate' ? translationSchema : undefined),
  parse,
  act: (action, work) => acts[work.state.stage as Stage](action, work),
};

const at = (stage: Stage, round = 1, tries = 0): FilesState => ({ stage, round, tries });

const engineer = 'You are a software engineer who writes tests that reproduce reported issues.';

const systems: Readonly<Record<Stage, string>> = {
  search: engineer,
  analyse: engineer,
  write: engineer,
  translate: `You convert a text into JSON. The text says which search calls to make next, or which locations in the code are relevant to an issue. Answer with one JSON object and nothing else:

{"API_calls": ["search_method(\\"name\\")"], "relevant_locations": [{"file": "path/of/file.py", "class": "Name", "method": "name"}]}

The search calls are:
${searchDocs}

Rules:
- Write each call as a string, like code, with all of its arguments as quoted strings.
- Leave a list empty if the text has nothing for it.
- Omit the parts of a location that the text does not give.
- Add nothing that is not in the text.`,
};

const firstMessage = ({ repo, issue }: FilesTask): string => `<issue>
${issue}
</issue>

This issue was reported for the repository ${repo}. Your task is to write tests for its test suite that reproduce the issue: they fail now, and they pass once the issue is resolved. Before you write them, search for the code and the existing tests that matter.

You can search the repository with these calls:
${searchDocs}

Analyze which classes, methods, files and pieces of code the issue is about, and which tests cover them. Then say which search calls you want to make first, with their arguments, and why. You can make several calls at once.`;

const analyseRequest = 'First analyze what these results say about the issue and about its tests.';

const nextRequest = `Now answer two questions based on your analysis:
- Which further search calls do you need? Make none if you have seen enough.
- Which locations are relevant? Once you know them, give the file, class and method of the code that the issue is about, and of the tests next to which new tests belong.

Relevant locations without search calls end the search, and you write the tests next.`;

const writeRequest = `Now write the tests that reproduce the issue. Write one or more edits in this form:

<file>path/of/the/file.py</file>
<original>
lines of the file to replace, copied exactly
</original>
<patched>
the lines that replace them
</patched>

Rules:
- Original lines must be consecutive lines of the file, and enough of them that they occur only once. To add a test, replace the lines next to it with these lines and the test.
- For a new file, leave the original part empty. The repository's test runner must find the file.
- Write only tests, in the style and with the tools of the existing tests. Do not resolve the issue itself.
- Each test must fail for the reason in the issue, not because of a wrong import or name. Import what it needs.
- Indent the new lines as they must stand in the file.`;

/** The conversation with the model that searches, analyses and writes. */
function thread(task: FilesTask, turns: readonly AgentTurn<FilesState>[]): ChatMessage[] {
  const messages: ChatMessage[] = [{ role: 'user', content: firstMessage(task) }];
  for (const [index, { answer, observation, state }] of turns.entries()) {
    const isTranslation = turns[index - 1]?.state.stage === 'translate';
    if (!isTranslation) messages.push({ role: 'assistant', content: answer });
    if (state.stage !== 'translate') messages.push({ role: 'user', content: observation });
  }
  return messages;
}

/** The translation of the last answer that names searches, with its failed tries. */
function translation(turns: readonly AgentTurn<FilesState>[]): ChatMessage[] {
  const first = turns.findLastIndex(
    ({ state }) => state.stage === 'translate' && state.tries === 0,
  );
  const [named, ...tries] = turns.slice(first);
  return [
    { role: 'user', content: `Convert this text into JSON:\n\n${named?.answer ?? ''}` },
    ...tries.flatMap(({ answer, observation }): ChatMessage[] => [
      { role: 'assistant', content: answer },
      { role: 'user', content: observation },
    ]),
  ];
}

function parse(answer: string, { stage }: FilesState): ParsedAnswer {
  const text = answer.trim();
  if (text === '') return { problem: 'Your answer was empty. Answer again.' };
  return stage === 'translate' || stage === 'write'
    ? { thought: '', action: text }
    : { thought: text, action: stage };
}

type Observed = AgentObservation<FilesState>;

const acts: Readonly<Record<Stage, (action: string, work: FilesWork) => Promise<Observed>>> = {
  search: (_, { state }) => Promise.resolve({ text: '', state: at('translate', state.round) }),
  translate,
  analyse: (_, work) => Promise.resolve(nextRound('', work)),
  write,
};

/** The request for the next round of searches, or for edits where no round is left. */
function nextRound(before: string, { task, state }: FilesWork): Observed {
  const { round } = state;
  return round < task.limits.rounds
    ? { text: before + nextRequest, state: at('search', round + 1) }
    : { text: before + writeRequest, state: at('write', round) };
}

async function translate(action: string, work: FilesWork): Promise<Observed> {
  const { workspace: files, state, signal } = work;
  const named = parseNamed(action);
  if ('problem' in named) {
    const tries = state.tries + 1;
    return tries < translations
      ? {
          text: `This is not valid: ${named.problem}. Answer with only the JSON object.`,
          state: at('translate', state.round, tries),
        }
      : nextRound(
          'Your search calls could not be parsed. Write each one again, with all of its arguments.\n\n',
          work,
        );
  }
  const { calls, locations } = named;
  if (calls.length === 0 && locations.length === 0) {
    return nextRound('You gave neither search calls nor locations.\n\n', work);
  }
  const results: string[] = [];
  if (calls.length === 0) {
    for (const location of locations) {
      results.push(await codeOfLocation(location, { files, signal }));
    }
    const text = `The code of the relevant locations:\n\n${results.join('\n\n')}\n\n${writeRequest}`;
    return { text, state: at('write', state.round) };
  }
  for (const call of calls) {
    const result = await runSearchCall(call, { files, signal });
    results.push(`Result of ${searchCallText(call)}:\n\n${result}`);
  }
  return { text: [...results, analyseRequest].join('\n\n'), state: at('analyse', state.round) };
}

/** Made when it is needed, since the list of methods in `--help` imports this file. */
function namedSchema() {
  const name = z
    .string()
    .trim()
    .max(500)
    .nullish()
    .transform((text) => (text === null || text === '' ? undefined : text));
  const location = z
    .object({ file: name, class: name, method: name })
    .refine(
      (each) => Object.values(each).some((part) => part !== undefined),
      'a location is empty',
    );
  return z.object({
    API_calls: z.array(z.string()).max(mostNamed).nullish(),
    relevant_locations: z.array(location).max(mostNamed).nullish(),
  });
}
type NamedLocation = NonNullable<
  z.infer<ReturnType<typeof namedSchema>>['relevant_locations']
>[number];

/** What a server that can be held to a schema answers with. */
const translationSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['API_calls', 'relevant_locations'],
  properties: {
    API_calls: { type: 'array', items: { type: 'string' } },
    relevant_locations: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['file', 'class', 'method'],
        properties: Object.fromEntries(
          ['file', 'class', 'method'].map((each) => [each, { type: ['string', 'null'] }]),
        ),
      },
    },
  },
};

/** What a translation names, or what is wrong with it. */
function parseNamed(
  text: string,
):
  | { readonly calls: SearchCall[]; readonly locations: NamedLocation[] }
  | { readonly problem: string } {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  let data: unknown;
  try {
    data = parseForeignJson(json);
  } catch {
    return { problem: 'it is not JSON' };
  }
  const read = namedSchema().safeParse(data);
  if (!read.success) {
    const [issue] = read.error.issues;
    return { problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` };
  }
  const calls: SearchCall[] = [];
  for (const call of read.data.API_calls ?? []) {
    const parsed = parseSearchCall(call);
    if ('problem' in parsed) return parsed;
    calls.push(parsed);
  }
  return { calls, locations: read.data.relevant_locations ?? [] };
}

async function write(action: string, { workspace, state }: FilesWork): Promise<Observed> {
  const edits = snippetEditsOf(action);
  const problem =
    edits.length === 0
      ? 'Your answer has no edit in the required form.'
      : await makeSnippetEdits(edits, workspace);
  if (problem === undefined) {
    const paths = [...new Set(edits.map(({ path }) => path))].join(', ');
    return { text: `Edited ${paths}.`, state, isSubmission: true };
  }
  const tries = state.tries + 1;
  return {
    text: `Your edits could not be applied, and no file was changed:\n${problem}\n\nWrite all of them again.`,
    state: at('write', state.round, tries),
    isGivenUp: tries >= writings,
  };
}
