import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance } from '../../domain/instance';
import { Cancelled, HumanError } from '../../domain/work';
import { makeFolder, writeWholeFile } from '../../files/wholeFile';
import { sha256OfJson } from '../../files/digest';
import { compiledFolder } from '../../repository/storage';
import type { EngineWork, TestPlace } from '../engine';
import { pythonText } from '../pythonProgram';
import type { EnvironmentMaker } from '../environmentMaker';

/** Raised when `find_incompatibility.py` decides in another way. */
const edition = 1;

/**
 * Why R and its tests cannot be imported in an environment; undefined if they can, or if that
 * is unknown. It depends only on R. The answer is cached, since importing takes seconds.
 */
export async function findIncompatibility(
  place: TestPlace,
  {
    environments,
    instance,
    tree,
    storage,
  }: {
    readonly environments: Pick<EnvironmentMaker, 'projectNames'>;
    readonly instance: Instance;
    readonly tree: string;
    readonly storage: string;
  },
  work: EngineWork,
): Promise<string | undefined> {
  const { digest } = place.environment;
  const folder = compiledFolder(storage, instance.id);
  const kept = join(folder, `fit-${sha256OfJson([edition, tree, digest]).slice(0, 16)}.json`);
  const known = await readFile(kept, 'utf8').then(answerIn, () => undefined);
  if (known !== undefined) return known.unfit ?? undefined;
  try {
    const names = await environments.projectNames(instance, tree);
    const answer = await ask(place, names, work);
    if (answer === undefined) return undefined;
    await makeFolder(folder);
    await writeWholeFile(kept, JSON.stringify(answer));
    return answer.unfit ?? undefined;
  } catch (error) {
    if (error instanceof Cancelled || !(error instanceof HumanError)) throw error;
    // The run of the tests meets the same obstacle, and says so.
    return undefined;
  }
}

/** Seconds after which it counts as unknown whether R can be imported. */
const timeoutSeconds = 120;

async function ask(
  place: TestPlace,
  names: readonly string[],
  work: EngineWork,
): Promise<Answer | undefined> {
  const opened = await place.openPair<'base'>(work, ['base']);
  try {
    await opened.base.load('', work.signal);
    const { log } = await opened.base.run({
      plan: {
        runner: 'script',
        args: ['-c', pythonText('find_incompatibility.py'), JSON.stringify(names)],
        env: {},
        cwd: '',
        files: [],
        notRun: [],
      },
      countLines: new Map(),
      timeoutSeconds,
      signal: work.signal,
    });
    return answerIn(log);
  } finally {
    await opened.dispose();
  }
}

interface Answer {
  readonly unfit: string | null;
}

/** The answer in the last line of a text. */
function answerIn(text: string): Answer | undefined {
  try {
    const read: unknown = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
    if (typeof read !== 'object' || read === null || !('unfit' in read)) return undefined;
    const { unfit } = read;
    if (typeof unfit === 'string') return { unfit: unfit.slice(0, 300) };
    return unfit === null ? { unfit } : undefined;
  } catch {
    return undefined;
  }
}
