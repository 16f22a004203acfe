import { join } from 'node:path';
import { jsonText, plural } from '../../domain/text';
import { HumanError, systemCode } from '../../domain/work';
import { makeFolder } from '../../files/wholeFile';
import { writeAtif } from '../../trajectory/atifDocument';
import { readTrajectories, type FoundTrajectory } from '../../trajectory/readTrajectories';
import type { CommandContext } from '../context';
import { writeOut } from '../options/sharedOptions';

/**
 * Writes a document of ATIF for each trajectory, called after its instance. A second one of an
 * instance has a number.
 *
 * @throws HumanError when the folder cannot be written
 */
export async function writeAtifFolder(
  found: readonly Pick<FoundTrajectory, 'trajectory'>[],
  folder: string,
  context: CommandContext,
): Promise<void> {
  await makeFolder(folder).catch((error: unknown) => {
    throw new HumanError(
      `The folder ${folder} cannot be created (${systemCode(error)})`,
      'Name another one',
    );
  });
  const times = new Map<string, number>();
  for (const { trajectory } of found) {
    const name = fileNameOf(trajectory.instance);
    // Some systems do not tell names by their case.
    const time = (times.get(name.toLowerCase()) ?? 0) + 1;
    times.set(name.toLowerCase(), time);
    const file = `${name}${time === 1 ? '' : `@${time}`}.atif.json`;
    await writeOut('The trajectory', join(folder, file), jsonText(writeAtif(trajectory)));
  }
  context.stderr(`written: ${plural(found.length, 'document')} in ${folder}\n`);
}

/** An id as it is; of any other text what a name of a file may have. */
const fileNameOf = (instance: string): string =>
  instance
    .replace(/[^A-Za-z0-9_.+-]/g, '_')
    .replace(/^[^A-Za-z0-9]/, '_')
    .slice(0, 200);

/**
 * Writes the trajectories in a trace of `generate` as ATIF.
 *
 * @param ids of the instances whose trajectories are written
 * @throws HumanError when the trace cannot be read, or the folder not be written; Cancelled
 */
export async function exportTrace(
  trace: string,
  ids: ReadonlySet<string>,
  folder: string,
  context: CommandContext,
): Promise<void> {
  const found: FoundTrajectory[] = [];
  const told = (problem: string): void => context.stderr(`swt-bench: ${problem}\n`);
  const options = { instance: ids, signal: context.signal, told };
  for await (const each of readTrajectories(trace, options)) found.push(each);
  await writeAtifFolder(found, folder, context);
}
