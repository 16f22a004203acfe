import { readFile, rm } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../files/digest';
import { HumanError } from '../../domain/work';
import { makeFolder, writeWholeFile } from '../../files/wholeFile';
import { EnvironmentChanged, type LatestEnvironment } from '../engine';
import { stampAt } from '../../repository/treeFiles';
import { compile } from './compilePristine';
import { fileMoment, isNotAfter, type FileMoment } from './fileClock';
import { FolderEvents } from './folderEvents';
import {
  changesSince,
  differing,
  newerEntries,
  type InstalledChanges,
  type InstalledFiles,
} from './installedFiles';
import { findPython, type LocalEnvironment } from './python';

/**
 * The interpreter of the local engine. It can change while the engine is open, as when people
 * install packages.
 */
export interface EnvironmentWatch {
  /** The state at the latest check. */
  readonly environment: LocalEnvironment;
  /**
   * The present state.
   *
   * @throws HumanError when tests have changed it and nobody has repaired it yet
   */
  current(): Promise<LocalEnvironment>;
  /**
   * The state at the last check, if that found nothing; otherwise as `current`. Only for a run that
   * follows, since the check after it finds what has changed meanwhile.
   */
  latest(): Promise<LatestEnvironment>;
  /**
   * Runs tests, and checks whether they changed the environment. Compiled files that they wrote are
   * removed, and compiled again from the packages' own sources.
   *
   * @param folder of the run, whose disk tells what was changed before it
   * @throws EnvironmentChanged when the environment was already another when the run began;
   * HumanError when the tests changed anything else, because their results then prove nothing
   */
  during<T>(folder: string, run: () => Promise<T>): Promise<T>;
  /** Stops a check that is under way. */
  dispose(): void;
}

/** Files that tests changed, with the state that they left; `gone` for a removed file. */
const spoiltSchema = z.object({
  interpreter: z.string(),
  files: z.record(z.string(), z.string()),
});

/**
 * Watches the environment of an engine.
 *
 * @param storage holds records that must outlive this process
 * @throws HumanError when there is no interpreter
 */
export async function watchEnvironment(
  named: string | undefined,
  tracer: string,
  storage: string,
): Promise<EnvironmentWatch> {
  const moment = beginLook();
  const find = () => findPython(named, tracer);
  return new Watch(find, storage, moment, await find());
}

/** Milliseconds by which times of files are coarse. */
const coarseness = 50;

/** The beginning of a check. */
interface LookMoment {
  /** Milliseconds since 1970. Changes just before it may carry its time. */
  readonly at: number;
  /** How far the machine's clock is ahead of one that is never set. */
  readonly ahead: number;
}

const beginLook = (): LookMoment => ({
  at: Date.now() - coarseness,
  ahead: Date.now() - performance.now(),
});

/** Milliseconds after a search for which kept runs may be used without a further one. */
const searchLasts = 1000;

class Watch implements EnvironmentWatch {
  environment: LocalEnvironment;
  private installed: InstalledFiles;
  /** The beginnings of the runs under way; undefined where the disk does not tell. */
  private readonly underWay = new Set<{ readonly began: FileMoment | undefined }>();
  /** When the last check ended, as `performance.now()`; undefined if it found changes. */
  private lastClean: number | undefined = performance.now();
  /** How often the environment turned out to have changed before the runs under way began. */
  private replacements = 0;
  /** How often tests changed the environment, and the files that they changed last. */
  private spoils = 0;
  private lastSpoilt: readonly string[] = [];
  private ended: Promise<unknown> = Promise.resolve();
  private next: Promise<void> | undefined;
  private readonly over = new AbortController();
  private preparing: Promise<void> | undefined;
  /** Tell what changes from when they are there; undefined where nothing does. */
  private notices: FolderEvents | undefined;
  /** Whether a search has found what had changed before the notices began. */
  private areNoticesWhole = false;
  /** The file that records which files tests changed. */
  private readonly marker: string;

  /** @param moment when the last check began */
  constructor(
    private readonly find: () => ReturnType<typeof findPython>,
    storage: string,
    private moment: LookMoment,
    { installed, ...environment }: Awaited<ReturnType<typeof findPython>>,
  ) {
    this.environment = environment;
    this.installed = installed;
    const name = sha256(environment.interpreter).slice(0, 16);
    this.marker = join(storage, 'environments', `${name}.json`);
  }

  async current(): Promise<LocalEnvironment> {
    await this.look();
    await this.mustNotBeSpoilt();
    return this.environment;
  }

  async latest(): Promise<LatestEnvironment> {
    // A run does not wait for a check: the one after it also finds what changed before.
    const isUnknown = this.lastClean === undefined;
    if (isUnknown) await this.look();
    const isRecent = performance.now() - (this.lastClean ?? 0) <= searchLasts;
    // With notices a check takes no search, so kept runs have one of their own.
    const isPresent = isUnknown || (isRecent && !this.areNoticesWhole);
    await this.mustNotBeSpoilt();
    return { environment: this.environment, isPresent };
  }

  async during<T>(folder: string, run: () => Promise<T>): Promise<T> {
    const { spoils, replacements } = this;
    const entry = { began: await fileMoment(folder) };
    this.underWay.add(entry);
    try {
      const running = run();
      this.beginNotices();
      const result = await running;
      await this.look();
      await this.mustNotBeSpoilt();
      // Throws even if another run changed the environment at this moment, such as the tests of the
      // other side.
      if (this.spoils !== spoils) throw this.wasChanged(this.lastSpoilt);
      if (this.replacements !== replacements) {
        throw new EnvironmentChanged(
          `The environment of ${this.environment.interpreter} changed just before the tests ran`,
          'Run the tests again',
        );
      }
      return result;
    } finally {
      this.underWay.delete(entry);
    }
  }

  /**
   * Whether paths were last changed before any of the runs under way began. A run that has ended
   * since the last check has had a check of its own, so it did not change them.
   */
  private areOlder(paths: readonly string[]): boolean {
    return [...this.underWay].every(
      ({ began }) => began !== undefined && paths.every((path) => isNotAfter(path, began)),
    );
  }

  dispose(): void {
    this.over.abort();
    this.notices?.dispose();
  }

  /** Lets the system report changes; prepared while the first tests run. */
  private beginNotices(): void {
    const prepare = async (): Promise<void> => {
      const place = dirname(this.marker);
      await makeFolder(place);
      this.notices = await FolderEvents.of(this.installed.listed, place);
      if (this.over.signal.aborted) this.notices?.dispose();
    };
    // Without notices the environment is searched.
    this.preparing ??= prepare().catch(() => undefined);
  }

  /** @param moment of the last check; undefined to compare everything */
  private async changesSince(moment: number | undefined): Promise<InstalledChanges> {
    const { installed } = this;
    const { folders } = this.environment;
    const noticed = await this.notices?.take();
    if (noticed === undefined && this.notices !== undefined) {
      // A folder that replaced another unnoticed is not watched: the next run begins again.
      this.notices.dispose();
      this.notices = this.preparing = undefined;
    }
    const search = async () =>
      moment === undefined ? undefined : newerEntries(folders, installed, moment);
    const newer = this.areNoticesWhole && noticed !== undefined ? noticed : await search();
    this.areNoticesWhole = noticed !== undefined;
    const changes = await changesSince(folders, installed, newer);
    this.notices?.follow(changes.now.listed);
    return changes;
  }

  /** Starts a check after the present one; all callers who wait share it. */
  private look(): Promise<void> {
    if (this.next === undefined) {
      const lookNow = async (): Promise<void> => {
        this.next = undefined;
        await this.lookNow();
      };
      this.next = this.ended.then(lookNow, lookNow);
      this.ended = this.next.catch(() => undefined);
    }
    return this.next;
  }

  private async lookNow(): Promise<void> {
    const started = beginLook();
    // After the clock was set back, changes have times before the last check: compare everything.
    const isSetBack = started.ahead < this.moment.ahead - coarseness;
    const since = isSetBack ? undefined : this.moment.at;
    const changes = await this.changesSince(since);
    this.moment = started;
    this.installed = changes.now;
    const areNone = changes.files.length === 0 && changes.compiled.length === 0;
    this.lastClean = areNone ? performance.now() : undefined;
    if (areNone) return;
    const isOfTests = !this.areOlder(changes.files);
    if (isOfTests && changes.files.length > 0) {
      this.spoils += 1;
      this.lastSpoilt = changes.files;
      await this.remember(changes.files, changes.now);
    }
    if (isOfTests || !this.areOlder(changes.compiled)) await this.mend(changes);
    if (changes.files.length === 0) return;
    if (!isOfTests) this.replacements += 1;
    const { installed, ...environment } = await this.find();
    this.environment = environment;
    // Tests that are still running may have changed it again. The next check would miss changed
    // files, because a file that differs from the record counts as repaired. It finds compiled
    // files, because those known here are kept.
    const again = differing(changes.now.files, installed.files);
    this.installed = { ...installed, compiled: this.installed.compiled };
    this.notices?.follow(this.installed.listed);
    if (this.underWay.size === 0 || again.length === 0) return;
    if (!isOfTests) {
      this.spoils += 1;
      this.lastSpoilt = again;
    }
    await this.remember(again, installed);
  }

  private async remember(paths: readonly string[], as: InstalledFiles): Promise<void> {
    if (paths.length === 0) return;
    const { interpreter } = this.environment;
    const files = { ...(await this.readSpoilt()) };
    for (const path of paths) files[path] = as.files.get(path) ?? 'gone';
    await makeFolder(dirname(this.marker));
    await writeWholeFile(this.marker, JSON.stringify({ interpreter, files }));
  }

  private async readSpoilt(): Promise<Readonly<Record<string, string>>> {
    const text = await readFile(this.marker, 'utf8').catch(() => undefined);
    if (text === undefined) return {};
    try {
      return spoiltSchema.parse(JSON.parse(text)).files;
    } catch {
      return {};
    }
  }

  private async mustNotBeSpoilt(): Promise<void> {
    const spoilt = Object.entries(await this.readSpoilt());
    const left = spoilt.flatMap(([path, as]) => ((stampAt(path) ?? 'gone') === as ? [path] : []));
    const here = left.filter((path) => this.imports(path));
    if (here.length > 0) throw this.wasChanged(here);
    if (spoilt.length > 0 && left.length === 0) await rm(this.marker, { force: true });
  }

  /**
   * Whether tests can import a file. The record is that of the interpreter, and may name the tracer
   * of another installation of this product.
   */
  private imports(path: string): boolean {
    const { sites, standard, others, own } = this.environment.folders;
    return [...sites, ...standard, ...others, ...own].some((folder) =>
      path.startsWith(folder.endsWith(sep) ? folder : folder + sep),
    );
  }

  private wasChanged(paths: readonly string[]): HumanError {
    const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
    return new HumanError(
      `The environment of ${this.environment.interpreter} changed while tests ran, so their results are not graded: ${paths.slice(0, 3).join(', ')}${more}`,
      `Remove unexpected files, or reinstall the affected package (pip install --force-reinstall). If you made the change yourself, delete ${this.marker}`,
    );
  }

  /** Compiles altered compiled files of installed packages again, from the sources beside them. */
  private async mend({ compiled, files }: InstalledChanges): Promise<void> {
    const suffix = this.environment.compiledSuffix;
    const changed = new Set(files);
    const jobs: [string, string, null][] = [];
    for (const path of compiled) {
      // Tests wrote this file, so it cannot be trusted. Python works without it.
      await rm(path, { force: true, recursive: true }).catch(() => undefined);
      if (suffix === undefined || !path.endsWith(suffix)) continue;
      const module = `${basename(path).slice(0, -suffix.length)}.py`;
      const source = join(dirname(dirname(path)), module);
      if (this.installed.files.has(source) && !changed.has(source)) jobs.push([source, path, null]);
    }
    await compile(this.environment.interpreter, jobs, this.over.signal);
    const mended = new Map(this.installed.compiled);
    for (const path of compiled) {
      const stamp = stampAt(path);
      if (stamp === undefined) mended.delete(path);
      else mended.set(path, stamp);
    }
    this.installed = { ...this.installed, compiled: mended };
  }
}
