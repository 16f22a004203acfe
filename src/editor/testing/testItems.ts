import { isTestId, fileOf, functionOf } from '../../domain/testId';
import * as vscode from 'vscode';
import { type TestTransition } from '../../domain/outcome';
import type { CandidateTests, ListedFile, ListedTest } from './candidateTests';
import {
  caseItemLooks,
  sortTextOfTest,
  sortTextOfUnchangedTests,
  testItemLabel,
  testItemSpoken,
  unchangedTestsLabel,
} from './testItemLook';
import { isFresh } from '../verdict/evaluated';
import type { LatestVerdict } from '../instance/instanceRoles';

/**
 * The rows of the Testing view. Tests of the candidate are at the top, each in its own row. The
 * other tests of a touched file are folded below them, under the file's name. Cases of parametrised
 * tests appear below their test, once they have run.
 */
export class TestItems {
  /** Ids of the tests at the top, by file. */
  private readonly own = new Map<string, readonly string[]>();
  private listed = new Map<string, ListedTest>();
  /** Whether each row's result was outdated by an edit at the last update. */
  private readonly stale = new Map<string, boolean>();

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
    for (const [path, ids] of this.own) {
      if (paths.has(path)) continue;
      for (const id of ids) this.controller.items.delete(id);
      this.controller.items.delete(path);
      this.own.delete(path);
    }
  }

  private listFile(file: ListedFile): void {
    const { items } = this.controller;
    const own = file.tests.filter((test) => test.status !== 'kept');
    const kept = file.tests.filter((test) => test.status === 'kept');
    const ids = new Set(own.map((test) => test.id));
    for (const id of this.own.get(file.path) ?? []) if (!ids.has(id)) items.delete(id);
    this.own.set(file.path, [...ids]);
    for (const test of own) add(items, this.itemOf(items, file, test));
    if (kept.length === 0) {
      items.delete(file.path);
      return;
    }
    const label = unchangedTestsLabel(file.path);
    const row = items.get(file.path) ?? this.controller.createTestItem(file.path, label, file.uri);
    row.sortText = sortTextOfUnchangedTests(file.path);
    replace(
      row.children,
      kept.map((test) => this.itemOf(row.children, file, test)),
    );
    add(items, row);
  }

  private itemOf(
    siblings: vscode.TestItemCollection,
    file: ListedFile,
    test: ListedTest,
  ): vscode.TestItem {
    const item =
      siblings.get(test.id) ?? this.controller.createTestItem(test.id, test.name, file.uri);
    item.sortText = sortTextOfTest(file.path, test);
    item.range = new vscode.Range(test.defLine - 1, 0, test.range.endLine - 1, 0);
    return item;
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

  /** The row of a test or case. */
  find(id: string): vscode.TestItem | undefined {
    const test = functionOf(id);
    const { items } = this.controller;
    const item = items.get(test) ?? items.get(fileOf(test))?.children.get(test);
    return test === id ? item : item?.children.get(id);
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
      if (isTestId(item.id)) found.set(item.id, item);
      else item.children.forEach(walk);
    };
    if (request.include === undefined) this.controller.items.forEach(walk);
    else {
      // The rows may be newer than the request, so look them up by id.
      for (const { id } of request.include) {
        const item = isTestId(id) ? this.find(id) : this.controller.items.get(id);
        if (item !== undefined) walk(item);
      }
    }
    // A case is left out when its whole test runs.
    return [...found.values()].filter(
      ({ id }) => functionOf(id) === id || !found.has(functionOf(id)),
    );
  }
}

/** Adds a row unless it is there already, since `items.add` sends each row to the window again. */
function add(items: vscode.TestItemCollection, item: vscode.TestItem): void {
  if (items.get(item.id) !== item) items.add(item);
}

function replace(items: vscode.TestItemCollection, by: readonly vscode.TestItem[]): void {
  const isSame = items.size === by.length && by.every((item) => items.get(item.id) === item);
  if (!isSame) items.replace(by);
}
