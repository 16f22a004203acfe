import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { commandDescriptors, type CommandName } from '../../../src/editor/manifest/commands';
import * as names from '../../../src/editor/shell/names';

/**
 * What a person sees of each command that takes long:
 * - `at once`: it never takes half a second, but for the time of a question to the person;
 * - `progress`: it shows what it does and can be cancelled, as the functions in `shows` do it.
 *
 * The author of a new command decides here.
 */
const commands: Readonly<Record<CommandName, 'at once' | 'progress'>> = {
  openBundledInstance: 'progress',
  applyBundledCandidate: 'at once',
  showIssue: 'progress',
  reproduce: 'progress',
  showChangeCoverage: 'at once',
  reveal: 'at once',
  hideGoldenPatch: 'at once',
  environment: 'progress',
  chooseDataset: 'progress',
  refresh: 'progress',
  filterInstances: 'progress',
  useFilterList: 'progress',
  clearInstanceFilter: 'progress',
  sortInstances: 'at once',
  findInstance: 'progress',
  openInstance: 'progress',
  openInstanceInNewWindow: 'progress',
  judgeInstances: 'progress',
  validateInstances: 'progress',
  copyInstanceId: 'at once',
  exportList: 'progress',
  showStatistics: 'progress',
  freeDiskSpace: 'progress',
  showLog: 'at once',
  showVerdict: 'progress',
  checkBeforeSubmitting: 'progress',
  exportReproduction: 'progress',
  compareWithGolden: 'progress',
  checkWithMutants: 'progress',
  showOutputs: 'at once',
  nextMissedLine: 'at once',
  previousMissedLine: 'at once',
  showMissedLinesOnly: 'at once',
  showGoldenReach: 'at once',
  previewCustomDiff: 'progress',
  applyCustomDiff: 'progress',
  convertCustomDiff: 'progress',
  copyChangesAsCustomDiff: 'progress',
  copyMcpConfiguration: 'at once',
  evaluatePredictions: 'progress',
  openDashboard: 'progress',
  addResults: 'progress',
  removeResults: 'progress',
  exportDashboard: 'progress',
  pauseBatch: 'at once',
  resumeBatch: 'at once',
  cancelBatch: 'at once',
  generate: 'progress',
  proposeFixes: 'progress',
  previewGenerated: 'progress',
  applyCandidate: 'progress',
  showPromptAndAnswer: 'progress',
  showTrajectory: 'progress',
  evaluateCandidate: 'progress',
  runTestsOnFixes: 'progress',
  resumeGenerating: 'progress',
  deleteGenerated: 'progress',
  manageKeys: 'at once',
};

/** Functions that show work and let a person cancel it. Runs of tests do so in the Testing view. */
const shows = new Set(['withNotification', 'afterAWhile', 'afterAWhileInView', 'createTestRun']);

const root = join(__dirname, '..', '..', '..', 'src', 'editor');
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => {
    const text = readFileSync(join(root, name), 'utf8');
    return ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  });

describe('commands', () => {
  const listed = Object.keys(commandDescriptors) as CommandName[];

  for (const command of listed) {
    it(`${command}: ${commands[command]}`, () => {
      assert.equal(showsProgress(command) ? 'progress' : 'at once', commands[command]);
    });
  }
});

// ── Following the source ────────────────────────────────────────────────────────────────────────────

interface Body {
  readonly node: ts.Node;
  /** The class of a method. */
  readonly of: string | undefined;
}

/** Functions and methods of the editor by name. */
const functions = new Map<string, Body[]>();
/** Names of the types that properties and parameters of a name have. */
const typesOf = new Map<string, Set<string>>();
/** What runs for each command, by its id. */
const handlers = new Map<string, ts.Node[]>();

const all = (node: ts.Node, visit: (each: ts.Node) => void): void => {
  visit(node);
  ts.forEachChild(node, (child) => all(child, visit));
};

for (const source of sources) {
  /** Ids of commands by the names that `const { … } = runCommandIds` gives them. */
  const locals = new Map<string, string>();
  all(source, (node) => {
    learnFunction(node);
    if (ts.isPropertyDeclaration(node) || ts.isParameter(node)) learnTypes(node);
    if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) {
      const group = groupOf(node.initializer);
      for (const { name } of group === undefined ? [] : node.name.elements) {
        const id = group?.[name.getText()];
        if (id !== undefined) locals.set(name.getText(), id);
      }
    }
  });
  all(source, (node) => learnHandler(node, locals));
}

/** Takes the types of `name: Type` and of `name = new Type(…)`. */
function learnTypes({
  name,
  type,
  initializer,
}: ts.PropertyDeclaration | ts.ParameterDeclaration): void {
  const made = initializer && ts.isNewExpression(initializer) ? initializer.expression : undefined;
  const types = typesOf.get(name.getText()) ?? new Set();
  for (const [each] of ((type ?? made)?.getText() ?? '').matchAll(/[A-Z]\w+/g)) types.add(each);
  typesOf.set(name.getText(), types);
}

function learnFunction(node: ts.Node): void {
  const isFunction = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
  const name = isFunction
    ? node.name?.getText()
    : ts.isVariableDeclaration(node) && node.initializer && ts.isArrowFunction(node.initializer)
      ? node.name.getText()
      : undefined;
  if (name === undefined) return;
  const of = ts.isClassDeclaration(node.parent) ? node.parent.name?.text : undefined;
  functions.set(name, [...(functions.get(name) ?? []), { node, of }]);
}

/** One of the objects of ids in names.ts. */
function groupOf(expression: ts.Node | undefined): Readonly<Record<string, string>> | undefined {
  const name = expression?.getText() ?? '';
  if (!name.endsWith('ommandIds')) return undefined;
  return (names as unknown as Record<string, Readonly<Record<string, string>>>)[name];
}

/** Takes what stands behind `case ID:`, `[ID]:`, `=== ID` and `registerCommand(ID, …)`. */
function learnHandler(node: ts.Node, locals: ReadonlyMap<string, string>): void {
  const learn = (expression: ts.Node | undefined, found: readonly ts.Node[]): void => {
    if (expression === undefined) return;
    const id = ts.isPropertyAccessExpression(expression)
      ? groupOf(expression.expression)?.[expression.name.text]
      : locals.get(expression.getText());
    if (id !== undefined) handlers.set(id, [...(handlers.get(id) ?? []), ...found]);
  };
  if (ts.isCaseClause(node)) {
    const { clauses } = node.parent;
    // An empty clause falls through to the next one that is not.
    const own = clauses
      .slice(clauses.indexOf(node))
      .find(({ statements }) => statements.length > 0);
    learn(node.expression, [...(own?.statements ?? [])]);
  } else if (ts.isPropertyAssignment(node) && ts.isComputedPropertyName(node.name)) {
    learn(node.name.expression, [node.initializer]);
  } else if (ts.isBinaryExpression(node)) {
    const { parent } = node;
    if (!ts.isPropertyAccessExpression(node.right)) return;
    if (ts.isIfStatement(parent)) learn(node.right, [parent.thenStatement]);
    if (ts.isConditionalExpression(parent)) learn(node.right, [parent.whenTrue, parent.whenFalse]);
  } else if (ts.isCallExpression(node) && node.expression.getText().endsWith('registerCommand')) {
    learn(node.arguments[0], node.arguments.slice(1));
  }
}

/**
 * Whether all that runs for a command calls one of `shows`. A method that several classes have
 * counts only if all of them do. What is read once for all commands of a view or of the open
 * instance (its row, its trees) shows by itself and is not followed.
 */
function showsProgress(command: string): boolean {
  return (handlers.get(`swt-bench.${command}`) ?? []).some((node) => reaches(node, new Set()));
}

function reaches(node: ts.Node, seen: Set<ts.Node>): boolean {
  if (seen.has(node)) return false;
  seen.add(node);
  let found = false;
  all(node, (each) => {
    if (!found && ts.isCallExpression(each)) found = isShown(each, seen);
  });
  return found;
}

function isShown({ expression }: ts.CallExpression, seen: Set<ts.Node>): boolean {
  const isMember = ts.isPropertyAccessExpression(expression);
  const name = isMember ? expression.name.text : expression.getText();
  if (shows.has(name)) return true;
  const named = functions.get(name) ?? [];
  const bodies = isMember
    ? methodsOf(expression.expression, named)
    : inFile(
        expression,
        named.filter(({ of }) => of === undefined),
      );
  return bodies.length > 0 && bodies.every((body) => reaches(body.node, seen));
}

function methodsOf(receiver: ts.Expression, named: readonly Body[]): readonly Body[] {
  if (receiver.kind === ts.SyntaxKind.ThisKeyword) return inFile(receiver, named);
  const last = ts.isPropertyAccessExpression(receiver) ? receiver.name : receiver;
  const types = typesOf.get(last.getText());
  const known = named.filter(({ of }) => of !== undefined && types?.has(of) === true);
  return known.length > 0 ? known : named;
}

/** Those of the file of a node, else all. */
function inFile(node: ts.Node, named: readonly Body[]): readonly Body[] {
  const own = named.filter((body) => body.node.getSourceFile() === node.getSourceFile());
  return own.length > 0 ? own : named;
}
