import { isScope, isTestId, fileOf, functionOf, namesOf, testId } from '../../domain/testId';
import * as vscode from 'vscode';
import { type TestTransition } from '../../domain/outcome';
import type { CandidateTests, ListedFile, ListedTest } from './candidateTests';
import {
  caseItemLooks,
  isTestClass,
  sortTextOf,
  testItemLabel,
  testItemSpoken,
  testTree,
  type TestNodes,
} from './testItemLook';
import { isFresh } from '../verdict/evaluated';
import type { LatestVerdict } from '../instance/instanceRoles';

/**
 * The rows of the Testing view: touched files, the classes in them, and their tests, in the order of
 * the file. Cases of parametrised tests appear below their test, once they have run.
 */
export class TestItems {
  private listed = new Map<string, ListedTest>();
  /** Whether each row's result was outdated by an edit at the last update. */
  private readonly stale = new Map<string, boolean>();
  /** With these, `@swt-bench:new` in the filter of the view shows the tests of the candidate. */
  private readonly tags = {
    added: [new vscode.TestTag('new')],
    changed: [new vscode.TestTag('changed')],
    kept: [],
  } as const satisfies Record<ListedTest['status'], readonly vscode.TestTag[]>;

  constructor(
    private readonly controller: vscode.TestController,
    private readonly open: LatestVerdict,
    private readonly tests: CandidateTests,
  ) {}

  /**
   * Updates the rows to the current tests.
   *
   * @param path the only changed file; all files when undefined
   */
  list(path?: string): void {
    const files = this.tests.list();
    const changed = path === undefined ? files : files.filter((file) => file.path === path);
    if (path === undefined) this.removeAllBut(files);
    for (const file of changed) this.listFile(file);
    this.listed = new Map(files.flatMap((file) => file.tests.map((test) => [test.id, test])));
    this.describe(changed);
  }

  private removeAllBut(files: readonly ListedFile[]): void {
    const paths = new Set(files.map((file) => file.path));
    this.controller.items.forEach(({ id }) => {
      if (!paths.has(id)) this.controller.items.delete(id);
    });
  }

  private listFile({ path, uri, tests }: ListedFile): void {
    const { items } = this.controller;
    if (tests.length === 0) {
      items.delete(path);
      return;
    }
    const row = items.get(path) ?? this.controller.createTestItem(path, path, uri);
    this.fill(row, testTree(tests));
    // `items.add` sends the whole row to the window again.
    if (items.get(path) !== row) items.add(row);
  }

  /** Updates the rows below a file or class. */
  private fill(row: vscode.TestItem, nodes: TestNodes): void {
    replace(
      row.children,
      nodes.map((node) => {
        const item =
          row.children.get(node.id) ?? this.controller.createTestItem(node.id, node.name, row.uri);
        if (isTestClass(node)) {
          item.sortText = node.sortText;
          if (node.lines !== undefined) item.range = rangeOf(node.lines);
          this.fill(item, node.children);
        } else {
          item.sortText = sortTextOf(node);
          item.range = rangeOf({ defLine: node.defLine, endLine: node.range.endLine });
          item.tags = this.tags[node.status];
        }
        return item;
      }),
    );
  }

  /** Shows the known result of each test in its row. */
  describe(files: readonly ListedFile[] = this.tests.list()): void {
    const outdated: vscode.TestItem[] = [];
    // An extension cannot know of a screen reader that VS Code found by itself.
    const isRead = vscode.workspace.getConfiguration('editor').get('accessibilitySupport') === 'on';
    for (const test of files.flatMap((file) => file.tests)) {
      const item = this.find(test.id);
      if (item === undefined) continue;
      const known = this.open.casesOf(test.id);
      const { cases } = known;
      item.label = testItemLabel(test, cases);
      item.description = isRead ? testItemSpoken(test, cases) : '';
      this.listCases(item, cases);
      const isStale = cases.length > 0 && !isFresh(known, test);
      if (isStale && this.stale.get(test.id) === false) outdated.push(item);
      if (cases.length > 0) this.stale.set(test.id, isStale);
    }
    if (outdated.length > 0) this.controller.invalidateTestResults(outdated);
  }

  /** Updates the rows of a parametrised test's cases, which are known once it has run. */
  private listCases(item: vscode.TestItem, cases: readonly TestTransition[]): void {
    const looks = caseItemLooks(item.id, cases);
    if (looks.length === 0 && item.children.size === 0) return;
    replace(
      item.children,
      looks.map(({ id, label, sortText }) => {
        const row = item.children.get(id) ?? this.controller.createTestItem(id, label, item.uri);
        row.label = label;
        row.sortText = sortText;
        if (item.range !== undefined) row.range = item.range;
        return row;
      }),
    );
  }

  /** The row of a file, class, test or case. */
  find(id: string): vscode.TestItem | undefined {
    const test = functionOf(id);
    const path = fileOf(test);
    const names = namesOf(test);
    let row = this.controller.items.get(path);
    for (let depth = 1; depth < names.length; depth++) {
      row = row?.children.get(testId(path, ...names.slice(0, depth), ''));
    }
    if (isTestId(test) && !isScope(test)) row = row?.children.get(test);
    return test === id ? row : row?.children.get(id);
  }

  /** The listed test of an id. */
  testOf(id: string): ListedTest | undefined {
    return this.listed.get(functionOf(id));
  }

  /** The requested tests and single cases, without the excluded ones. */
  requested(request: Pick<vscode.TestRunRequest, 'include' | 'exclude'>): vscode.TestItem[] {
    const found = new Map<string, vscode.TestItem>();
    const excluded = new Set(request.exclude?.map((item) => item.id));
    const walk = (item: vscode.TestItem): void => {
      if (excluded.has(item.id)) return;
      if (this.testOf(item.id) !== undefined) found.set(item.id, item);
      else item.children.forEach(walk);
    };
    if (request.include === undefined) this.controller.items.forEach(walk);
    else {
      // The rows may be newer than the request, so look them up by id.
      for (const { id } of request.include) {
        const item = this.find(id);
        if (item !== undefined) walk(item);
      }
    }
    // A case is left out when its whole test runs.
    return [...found.values()].filter(
      ({ id }) => functionOf(id) === id || !found.has(functionOf(id)),
    );
  }
}

/** From the line of the definition, without decorators. */
const rangeOf = ({ defLine, endLine }: { defLine: number; endLine: number }): vscode.Range =>
  new vscode.Range(defLine - 1, 0, endLine - 1, 0);

function replace(items: vscode.TestItemCollection, by: readonly vscode.TestItem[]): void {
  const isSame = items.size === by.length && by.every((item) => items.get(item.id) === item);
  if (!isSame) items.replace(by);
}
