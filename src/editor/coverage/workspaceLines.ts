import type * as vscode from 'vscode';
import type { FilesOfR } from '../instance/instanceRoles';
import { workspacePath } from '../shell/workspacePath';
import { diffArrays } from 'diff';

interface Known {
  readonly version: number;
  readonly map: ReadonlyMap<number, number>;
}

/** Maps lines of R to the files of the workspace, which may be edited. */
export class WorkspaceLines {
  /** Lines of R by path; undefined while they are being read, and when R has no such file. */
  private readonly ofR = new Map<string, readonly string[] | undefined>();
  private readonly maps = new WeakMap<vscode.TextDocument, Known>();

  /** @param onRead called when a requested file of R has been read */
  constructor(
    private readonly open: FilesOfR,
    private readonly onRead: () => void,
  ) {}

  /** Path of a document in R, if it is a file of the workspace. */
  pathOf({ uri }: vscode.TextDocument): string | undefined {
    return workspacePath(this.open.folder, uri);
  }

  /** Lines of the document by lines of R, 1-based; undefined while that is unknown. */
  mapOf(document: vscode.TextDocument, path: string): ReadonlyMap<number, number> | undefined {
    const before = this.linesOfR(path);
    if (before === undefined) return undefined;
    const known = this.maps.get(document);
    if (known?.version === document.version) return known.map;
    const map = lineMap(before, document.getText().split(/\r?\n/));
    this.maps.set(document, { version: document.version, map });
    return map;
  }

  private linesOfR(path: string): readonly string[] | undefined {
    if (this.ofR.has(path)) return this.ofR.get(path);
    this.ofR.set(path, undefined);
    void this.open.fileOfR(path).then(
      (text) => {
        if (text === undefined) return;
        this.ofR.set(path, text.replace(/^\ufeff/, '').split(/\r?\n/));
        this.onRead();
      },
      () => this.ofR.delete(path),
    );
    return undefined;
  }
}

/**
 * Maps the lines of a text to a later version of it.
 *
 * @returns 1-based lines of `now` by 1-based lines of `before`, without those that are gone or
 * changed
 */
export function lineMap(before: readonly string[], now: readonly string[]): Map<number, number> {
  const map = new Map<number, number>();
  const shorter = Math.min(before.length, now.length);
  let head = 0;
  while (head < shorter && before[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === now.at(-1 - tail)) tail++;
  for (let i = 0; i < head; i++) map.set(i + 1, i + 1);
  for (let i = 0; i < tail; i++) map.set(before.length - i, now.length - i);
  // Beyond this many edits the middle counts as replaced: finding what is left of it takes too
  // long.
  const parts = diffArrays(
    before.slice(head, before.length - tail),
    now.slice(head, now.length - tail),
    { maxEditLength: 2000 },
  );
  let [from, to] = [head, head];
  for (const { value, added, removed } of parts ?? []) {
    if (!added && !removed) {
      for (let i = 1; i <= value.length; i++) map.set(from + i, to + i);
    }
    if (!added) from += value.length;
    if (!removed) to += value.length;
  }
  return map;
}
