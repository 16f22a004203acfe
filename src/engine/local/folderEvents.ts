import { randomUUID } from 'node:crypto';
import { readFileSync, watch, type FSWatcher } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { setImmediate as otherWork, setTimeout as delay } from 'node:timers/promises';

/** Folders after which other work has a turn; some hundred are watched in a millisecond. */
const atOnce = 200;

/** Milliseconds to wait for a notice of our own, which usually comes within one. */
const noticeTimeout = 2000;

/**
 * Notices of the kernel about what changes in folders. All of them are in one queue, so that a
 * notice of our own means that the earlier ones have come, which only Linux promises (inotify(7)).
 * They tell nothing of writes through a mapping, through a link in another folder, or by another
 * machine.
 */
export class FolderEvents {
  private readonly watchers = new Map<string, FSWatcher>();
  private changed = new Set<string>();
  /** Paths at which something else may be now. */
  private moved = new Set<string>();
  /** Notices since the last call of `take`: a full queue drops what comes then. */
  private count = 0;
  private isBroken = false;
  private onOwn: { readonly name: string; readonly told: () => void } | undefined;

  private constructor(
    private readonly place: string,
    private readonly limit: number,
  ) {}

  /**
   * Begins to watch folders.
   *
   * @param place folder that this may write into
   * @returns undefined where the system cannot, or where it would take too many of its watches
   */
  static async of(folders: ReadonlySet<string>, place: string): Promise<FolderEvents | undefined> {
    if (process.platform !== 'linux') return undefined;
    // Other programs of the user share them, such as the editor.
    if (folders.size > inotifyLimit('max_user_watches') / 4) return undefined;
    const notices = new FolderEvents(place, inotifyLimit('max_queued_events'));
    let added = 0;
    for (const folder of [place, ...folders]) {
      if (notices.isBroken) return undefined;
      notices.add(folder);
      if (++added % atOnce === 0) await otherWork();
    }
    return notices.isBroken ? undefined : notices;
  }

  /**
   * The paths that have changed since the last call, and folders in which any came or went.
   * Undefined where that is not known.
   */
  async take(): Promise<readonly string[] | undefined> {
    await this.waitForOwn();
    const { changed, moved, count } = this;
    this.changed = new Set();
    this.moved = new Set();
    this.count = 0;
    if (this.isBroken || count >= this.limit) return undefined;
    for (const path of moved) if (this.watchers.has(path)) this.renew(path, changed);
    return [...changed];
  }

  /** Watches exactly these folders. Those that are new count as changed until they are read again. */
  follow(folders: ReadonlySet<string>): void {
    if (this.isBroken) return;
    for (const [path, watcher] of this.watchers) {
      if (folders.has(path) || path === this.place) continue;
      watcher.close();
      this.watchers.delete(path);
    }
    for (const path of folders) {
      if (this.watchers.has(path)) continue;
      this.add(path);
      this.changed.add(path);
    }
  }

  dispose(): void {
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
    this.isBroken = true;
  }

  private add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (kind, name) =>
        this.note(folder, kind, name),
      );
      watcher.on('error', () => this.dispose());
      this.watchers.set(folder, watcher);
    } catch (error) {
      // One that is gone has changed the folder above it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.dispose();
    }
  }

  private note(folder: string, kind: string, name: string | null): void {
    if (folder === this.place) {
      if (name === this.onOwn?.name) this.onOwn?.told();
      return;
    }
    this.count += 1;
    const path = name === null ? folder : join(folder, name);
    this.changed.add(path);
    if (kind !== 'rename') return;
    this.changed.add(folder);
    this.moved.add(path);
    // What happens to the folder itself has its own name.
    if (name === basename(folder)) this.moved.add(folder);
  }

  /** Watches what is now at the path of a folder, and of those below it. */
  private renew(path: string, changed: Set<string>): void {
    for (const [each, watcher] of [...this.watchers]) {
      if (each !== path && !each.startsWith(path + sep)) continue;
      watcher.close();
      this.watchers.delete(each);
      this.add(each);
      changed.add(each);
    }
  }

  /** Waits for a notice that comes after all earlier ones. */
  private async waitForOwn(): Promise<void> {
    if (this.isBroken) return;
    const path = join(this.place, `.${randomUUID()}`);
    const over = new AbortController();
    const told = new Promise<true>((resolve) => {
      this.onOwn = { name: basename(path), told: () => resolve(true) };
    });
    try {
      await writeFile(path, '');
      const late = delay(noticeTimeout, false, { signal: over.signal }).catch(() => false);
      if (!(await Promise.race([told, late]))) this.dispose();
    } catch {
      this.dispose();
    } finally {
      over.abort();
      this.onOwn = undefined;
      await rm(path, { force: true });
    }
  }
}

const inotifyLimit = (name: string): number => {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, 'latin1')) || 0;
  } catch {
    return 0;
  }
};
