import { endsInNames, nameOf, fileOf, functionOf } from '../../domain/testId';
import * as vscode from 'vscode';
import { type TestResult } from '../../domain/outcome';
import { HumanError } from '../../domain/work';
import { tools } from '../../method/tools';
import { asShown } from '../../patch/bytes';
import { findTests, type PythonTest } from '../../python/tests';
import { workspaceTree } from '../customFormat/workspaceTree';
import { callsTools } from '../generate/editorModel';
import { pathIn } from './attached';
import { Conversation } from './conversation';
import { askedFor, explainInstructions, explainRequest } from './prompts';
import { locationOfPlace, placesOf, type PlaceOfR } from './showCandidate';
import type { Turn } from './turn';
import { callWithoutModel, withTestsOfWorkspace } from './reproduceAndImprove';

/** Lines that the prompt shows on each side of a place of a failure. */
const around = 20;
/** Maximum number of places of failures that the prompt shows. */
const mostPlaces = 4;

const readingTools = tools.filter(({ effect }) => effect === 'reads');

interface FoundTest {
  readonly test: PythonTest;
  readonly path: string;
}

/**
 * Answers `/explain`: why the named test, or the one at the cursor, fails on R. The model receives
 * the test, its outcome on R, and the code that its failure names.
 *
 * @throws HumanError when it is not clear which test is meant; ModelProblem, Cancelled
 */
export async function explain(asked: Turn): Promise<void> {
  const turn = await withTestsOfWorkspace(asked);
  const { open, view, stream, work } = turn;
  const { test } = await testMeant(turn);
  const own = new vscode.Location(
    vscode.Uri.joinPath(open.folder.uri, fileOf(test.id)),
    new vscode.Position(test.defLine - 1, test.column),
  );
  stream.progress(vscode.l10n.t('Running {0} on R', test.name));
  const candidate = await work.candidate.read();
  const { signal, timeoutSeconds, reporter } = work;
  const tests = [test.id];
  const run = await view.runOnR(candidate, { tests, signal, timeoutSeconds, reporter });
  // This call reuses the run above, which is cached, and words the result for models.
  const told = await callWithoutModel(turn, 'run_tests', { tests });
  const places = placesOfAll(run.tests);
  stream.reference(own);
  for (const place of places) stream.reference(locationOfPlace(open.folder, place));
  const { repo, issue } = view;
  const request = explainRequest({
    repo,
    issue,
    test: test.id,
    text: test.text,
    run: told.text,
    code: await codeAround(turn, places),
  });
  const conversation = new Conversation(
    turn,
    explainInstructions,
    callsTools(turn.model) ? readingTools : [],
  );
  await conversation.say(
    [request, askedFor(turn.prompt, turn.attached)].filter(Boolean).join('\n\n'),
  );
  stream.markdown(`${vscode.l10n.t('The test:')} `);
  stream.anchor(own, test.name);
  if (places.length === 0) return;
  stream.markdown(`\n\n${vscode.l10n.t('Where it goes wrong on R:')} `);
  for (const [at, place] of places.entries()) {
    if (at > 0) stream.markdown(', ');
    stream.anchor(locationOfPlace(open.folder, place), `${place.path}:${place.line}`);
  }
}

/** The places that failures name, without duplicates. */
function placesOfAll(results: readonly TestResult[]): PlaceOfR[] {
  const places = new Map<string, PlaceOfR>();
  for (const place of results.flatMap(placesOf)) places.set(`${place.path}:${place.line}`, place);
  return [...places.values()].slice(0, mostPlaces);
}

/** Lines of R around places. Skips places in files that only the candidate has. */
async function codeAround({ view }: Turn, places: readonly PlaceOfR[]): Promise<string[]> {
  const parts: string[] = [];
  for (const { path, line } of places) {
    const text = await view.tree.read(path);
    if (text === undefined) continue;
    const lines = text.split(/\r?\n/);
    const first = Math.max(1, line - around);
    const last = Math.min(lines.length, line + around);
    const shown = lines.slice(first - 1, last).map((each, at) => `${first + at}  ${each}`);
    parts.push([`${path}, lines ${first} to ${last}:`, ...shown].join('\n'));
  }
  return parts;
}

/**
 * The test that a request is about: the one it names, else the one at the cursor. Without either,
 * the only test that the workspace adds or changes.
 */
async function testMeant(turn: Turn): Promise<FoundTest> {
  const { prompt, view, work } = turn;
  const candidate = await work.candidate.read();
  const { files, ownTests } = await view.read(candidate, { signal: work.signal });
  const named = namesIn(prompt);
  if (named.length > 0) {
    const paths = new Set([...files, ...named.flatMap(({ path }) => path ?? [])]);
    for (const { name } of named) {
      if (/^test\w+$/.test(name)) for (const path of await definedIn(turn, name)) paths.add(path);
    }
    const all = (await Promise.all([...paths].map((path) => testsOf(turn, files, path)))).flat();
    for (const { id, name } of named) {
      const found =
        all.find(({ test }) => test.id === id) ??
        all.find(({ test }) => endsInNames(test.id, id) || test.name === name);
      if (found !== undefined) return found;
    }
  }
  const atCursor = await testAtCursor(turn, files);
  if (atCursor !== undefined && named.length === 0) return atCursor;
  const [only] = ownTests;
  if (only !== undefined && ownTests.length === 1 && named.length === 0) {
    const found = (await testsOf(turn, files, fileOf(only))).find(({ test }) => test.id === only);
    if (found !== undefined) return found;
  }
  throw new HumanError(
    named.length > 0
      ? vscode.l10n.t('No test {0}', named.map(({ id }) => id).join(', '))
      : vscode.l10n.t('Several tests match'),
    ownTests.length > 0
      ? vscode.l10n.t('Place the cursor in a test, or name one of {0}', ownTests.join(', '))
      : vscode.l10n.t('Place the cursor in a test, or name one'),
  );
}

interface Named {
  /** As written in the request, without parameters. */
  readonly id: string;
  readonly path: string | undefined;
  readonly name: string;
}

/**
 * The words of a request that are names of tests: `test_x`, `Class::test_x`,
 * `tests/test_a.py::test_x`.
 */
function namesIn(prompt: string): Named[] {
  const words = prompt.match(/[\w./-]+(?:::[\w]+)+(?:\[\S*\])?|\btest_\w+\b/g) ?? [];
  return words.map((word) => {
    const id = functionOf(word);
    const path = fileOf(id).endsWith('.py') ? fileOf(id) : undefined;
    return { id, path, name: nameOf(id) };
  });
}

/** Files of R that define a function of that name. */
async function definedIn({ view, work }: Turn, name: string): Promise<readonly string[]> {
  const lines = await view.tree.search({ pattern: `def ${name}(`, ending: '.py' }, work.signal);
  return [...new Set(lines.map(({ path }) => path))].slice(0, 20);
}

/** Tests of a file: as editors show it when the candidate has it, else as in R. */
async function testsOf(
  { open, view }: Turn,
  ofCandidate: readonly string[],
  path: string,
): Promise<FoundTest[]> {
  const workspace = ofCandidate.includes(path) ? await workspaceTree(open.folder) : undefined;
  const now = await workspace?.read(path);
  const source = now === undefined ? await view.tree.read(path) : asShown(now);
  if (source === undefined) return [];
  return findTests(view.python, source, { path }).map((test) => ({ test, path }));
}

async function testAtCursor(
  turn: Turn,
  ofCandidate: readonly string[],
): Promise<FoundTest | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return undefined;
  const path = pathIn(turn.open.folder, editor.document.uri);
  if (path === undefined || !path.endsWith('.py')) return undefined;
  const line = editor.selection.active.line + 1;
  return (await testsOf(turn, ofCandidate, path)).find(
    ({ test: { range } }) => range.startLine <= line && line <= range.endLine,
  );
}
