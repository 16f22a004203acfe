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

/**
 * Compiles modules as the import system would, without running them. Each line of the input has a
 * source, the path for its compiled file, and the time to write into it. The time `-` stands for
 * that of the source. A module that cannot be compiled, or whose compilation warns, gets an empty
 * file. A test sees such a warning only where the module is compiled, so that must happen in each
 * run or in none. Format of a compiled file: importlib's `_code_to_timestamp_pyc`.
 */
const program = `
import importlib.util, json, marshal, os, struct, sys, warnings
head = importlib.util.MAGIC_NUMBER + (bytes(4) if sys.version_info >= (3, 7) else b"")
for line in sys.stdin:
    source, target, time = json.loads(line)
    data = b""
    try:
        with open(source, "rb") as file:
            text = file.read()
            if time is None:
                time = int(os.fstat(file.fileno()).st_mtime)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            code = compile(text, source, "exec", dont_inherit=True, optimize=0)
        if not seen:
            data = head + struct.pack("<II", time & 0xFFFFFFFF, len(text) & 0xFFFFFFFF) + marshal.dumps(code)
    except Exception:
        pass
    try:
        beside = "%s.%d" % (target, os.getpid())
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, target)
    except OSError:
        pass
`;

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
      ['-I', '-S', '-c', program],
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
