import { readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../files/sha256';
import { HumanError } from '../../domain/problem';
import { makeFolder } from '../../files/makeFolder';
import { stampAt } from '../../repository/fileStamp';
import { writeWhole } from '../../files/wholeFile';
import { compile } from './compilePristine';
import {
  changesSince,
  differing,
  type InstalledChanges,
  type InstalledFiles,
} from './installedFiles';
import { findPython, type LocalEnvironment } from './python';

/** The interpreter of the local engine, which changes while the engine is open: people install packages. */
export interface EnvironmentWatch {
  /** As it stood when it was last looked at. */
  readonly environment: LocalEnvironment;
  /**
   * As it stands now.
   *
   * @throws HumanError when tests have changed it and nobody has put that right yet
   */
  current(): Promise<LocalEnvironment>;
  /**
   * Runs tests, and finds out whether they changed the environment. What they compiled is removed, and
   * compiled again from the packages' own sources.
   *
   * @throws HumanError when they changed anything else: what they did then says nothing
   */
  during<T>(run: () => Promise<T>): Promise<T>;
  /** Stops what is under way. */
  dispose(): void;
}

/** Files that tests changed, and how they left them; `gone` for one that they removed. */
const spoiltSchema = z.object({
  interpreter: z.string(),
  files: z.record(z.string(), z.string()),
});

/**
 * Watches the environment of an engine.
 *
 * @param storage holds what has to be remembered beyond this process
 * @throws HumanError when there is no interpreter
 */
export async function watchEnvironment(
  named: string | undefined,
  tracer: string,
  storage: string,
): Promise<EnvironmentWatch> {
  /** Changes just before a look may carry the time of its beginning: clocks of disks are coarse. */
  const begin = (): number => Date.now() - 50;
  let moment = begin();
  let { installed, ...environment } = await findPython(named, tracer);
  let underWay = 0;
  /** How often tests were found to have changed it, and what they changed last. */
  let spoils = 0;
  let lastSpoilt: readonly string[] = [];
  let ended: Promise<unknown> = Promise.resolve();
  const over = new AbortController();
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const done = ended.then(work, work);
    ended = done.catch(() => undefined);
    return done;
  };
  const name = sha256(environment.interpreter).slice(0, 16);
  const marker = join(storage, 'environments', `${name}.json`);

  /** One look that begins after all who wait for it have asked. */
  let next: Promise<void> | undefined;
  const look = (): Promise<void> => {
    next ??= inOrder(async () => {
      next = undefined;
      const started = begin();
      const changes = await changesSince(environment.folders, installed, moment);
      moment = started;
      if (changes === undefined) return;
      installed = changes.now;
      const isOfTests = underWay > 0;
      if (isOfTests) {
        if (changes.files.length > 0) {
          spoils += 1;
          lastSpoilt = changes.files;
          await remember(changes.files, changes.now);
        }
        await mend(changes);
      }
      if (changes.files.length > 0) {
        moment = begin();
        ({ installed, ...environment } = await findPython(named, tracer));
        // Tests that go on may have changed it again: the next look would not see that, and what stands
        // otherwise than remembered counts as put right.
        if (isOfTests) await remember(differing(changes.now.files, installed.files), installed);
      }
    });
    return next;
  };

  return {
    get environment() {
      return environment;
    },
    async current() {
      await look();
      await mustNotBeSpoilt();
      return environment;
    },
    async during(run) {
      underWay += 1;
      const known = spoils;
      try {
        const result = await run();
        await look();
        await mustNotBeSpoilt();
        // Also when somebody changes it again at this moment, which may be the tests of the other side.
        if (spoils !== known) throw wasChanged(lastSpoilt);
        return result;
      } finally {
        underWay -= 1;
      }
    },
    dispose: () => over.abort(),
  };

  async function remember(paths: readonly string[], as: InstalledFiles): Promise<void> {
    if (paths.length === 0) return;
    const files = { ...(await readSpoilt()) };
    for (const path of paths) files[path] = as.files.get(path) ?? 'gone';
    await makeFolder(dirname(marker));
    await writeWhole(marker, JSON.stringify({ interpreter: environment.interpreter, files }));
  }

  async function readSpoilt(): Promise<Readonly<Record<string, string>>> {
    const text = await readFile(marker, 'utf8').catch(() => undefined);
    if (text === undefined) return {};
    try {
      return spoiltSchema.parse(JSON.parse(text)).files;
    } catch {
      return {};
    }
  }

  async function mustNotBeSpoilt(): Promise<void> {
    const spoilt = Object.entries(await readSpoilt());
    const left = spoilt.flatMap(([path, as]) => ((stampAt(path) ?? 'gone') === as ? [path] : []));
    if (left.length === 0) {
      if (spoilt.length > 0) await rm(marker, { force: true });
      return;
    }
    throw wasChanged(left);
  }

  function wasChanged(paths: readonly string[]): HumanError {
    const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
    return new HumanError(
      `While tests ran, the environment of ${environment.interpreter} was changed, and what they did is not graded: ${paths.slice(0, 3).join(', ')}${more}`,
      `Remove what does not belong there, or install its package again (pip install --force-reinstall); if you made the change yourself, delete ${marker}`,
    );
  }

  /** Puts compiled files of installed packages right, from the sources that lie beside them. */
  async function mend({ compiled, files }: InstalledChanges): Promise<void> {
    const suffix = environment.compiledSuffix;
    const changed = new Set(files);
    const jobs: [string, string, null][] = [];
    for (const path of compiled) {
      // Python does without it, and tests have seen to it that this one is not to be trusted.
      await rm(path, { force: true, recursive: true }).catch(() => undefined);
      if (suffix === undefined || !path.endsWith(suffix)) continue;
      const module = `${basename(path).slice(0, -suffix.length)}.py`;
      const source = join(dirname(dirname(path)), module);
      if (installed.files.has(source) && !changed.has(source)) jobs.push([source, path, null]);
    }
    await compile(environment.interpreter, jobs, over.signal);
    const mended = new Map(installed.compiled);
    for (const path of compiled) {
      const stamp = stampAt(path);
      if (stamp === undefined) mended.delete(path);
      else mended.set(path, stamp);
    }
    installed = { ...installed, compiled: mended };
  }
}
