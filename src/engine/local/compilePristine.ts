import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../files/wholeFile';
import {
  treeTime,
  type CompiledFiles,
  type PristineModule,
  type WorkingCopy,
} from '../../repository/workingCopy';
import { pythonProgram } from '../pythonProgram';

/** A source, the path for its compiled file, and the time of the source (null: its own). */
type Job = readonly [source: string, target: string, time: number | null];

/** Runs the compiler with an empty environment; never throws. */
export async function compile(
  interpreter: string,
  jobs: readonly Job[],
  signal: AbortSignal,
): Promise<void> {
  if (jobs.length === 0) return;
  await new Promise<void>((resolve) => {
    const child = execFile(
      interpreter,
      ['-I', '-S', pythonProgram('programs', 'compile_modules.py')],
      { env: {}, signal, timeout: 300_000 },
      () => resolve(),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(jobs.map((job) => `${JSON.stringify(job)}\n`).join(''));
  });
}

/** Compiled files that several pairs of sandboxes share. */
interface KeptCompiledFiles extends CompiledFiles {
  /** Begins to compile those modules that have no compiled file yet. */
  add(modules: readonly PristineModule[]): void;
}

/**
 * The compiled files of the modules in an instance's trees. R and R∘X* share those of identical
 * modules.
 *
 * @param folder of one build of an interpreter; created when there is something to keep
 */
export async function keptCompiledFiles(
  folder: string,
  interpreter: string,
  suffix: string,
  signal: AbortSignal,
): Promise<KeptCompiledFiles> {
  const ending = '.pyc';
  const made = new Set<string>();
  const look = async (): Promise<void> => {
    for (const name of await readdir(folder).catch(() => [])) {
      if (name.endsWith(ending)) made.add(name.slice(0, -ending.length));
    }
  };
  await look();
  const asked = new Set<string>();
  let work: Promise<void> = Promise.resolve();
  const place = (id: string): string => join(folder, `${id}${ending}`);
  return {
    suffix,
    find: ({ id }) => (made.has(id) ? place(id) : undefined),
    ready: () => work,
    add(modules) {
      const jobs = modules.flatMap(({ id, path }): Job[] => {
        if (made.has(id) || asked.has(id)) return [];
        asked.add(id);
        return [[path, place(id), treeTime]];
      });
      if (jobs.length === 0) return;
      work = Promise.all([work, compileAll(jobs)]).then(look);
    },
  };

  async function compileAll(jobs: readonly Job[]): Promise<void> {
    await makeFolder(folder).catch(() => undefined);
    // Two processes at once, because a candidate may be waiting.
    const halves = [0, 1].map((half) => jobs.filter((_job, index) => index % 2 === half));
    await Promise.all(halves.map((half) => compile(interpreter, half, signal)));
  }
}

/** Compiled files for the sandboxes of one pair. */
export interface CompiledOfPair extends KeptCompiledFiles {
  /** Sets the modules of each sandbox. Before this call there are no compiled files. */
  sandboxesHave(all: readonly WorkingCopy['modules'][]): void;
}

/**
 * Compiled files that do not reveal the side. Tests may import a module on one side only, for
 * example when they fail earlier on R. So a module that X* changes has a compiled file on both
 * sides or on none.
 */
export function alikeInPair(kept: KeptCompiledFiles): CompiledOfPair {
  let sandboxes: readonly WorkingCopy['modules'][] = [];
  const onAllSides = ({ name }: PristineModule): PristineModule[] =>
    sandboxes.flatMap((modules) => modules.get(name) ?? []);
  return {
    suffix: kept.suffix,
    find(module) {
      const all = onAllSides(module);
      const isKept = all.length > 0 && all.every((each) => kept.find(each) !== undefined);
      return isKept ? kept.find(module) : undefined;
    },
    ready: () => kept.ready(),
    add: (modules) => kept.add(modules.flatMap(onAllSides)),
    sandboxesHave(all) {
      sandboxes = all;
    },
  };
}
