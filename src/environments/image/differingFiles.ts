import { z } from 'zod';
import type { ImageCommands } from '../../engine/environmentMaker';
import { pythonText } from '../../engine/pythonProgram';
import { asciiJson, earliestTime, tarOf } from '../../engine/sandbox';
import type { TreeEntry } from '../../repository/treeFiles';

const numbers = z.array(z.number().int());

/**
 * The files of R that an image lacks, or has otherwise than {@link treeArchive} would send them. An
 * image that was pushed has all of R, so that little is sent to it.
 *
 * @param entries files of R, by path
 * @param folder of R in the image
 * @returns paths, as in R
 * @throws HumanError when the image cannot tell
 */
export async function differingFiles(
  container: ImageCommands,
  {
    entries,
    folder,
    python,
    doing,
  }: {
    readonly entries: ReadonlyMap<string, TreeEntry>;
    readonly folder: string;
    readonly python: string;
    readonly doing: string;
  },
): Promise<string[]> {
  const listed = [...entries].map(([path, { mode, id }]) => [path, mode, id] as const);
  const list = { path: 'tmp/swt-bench-files', content: Buffer.from(asciiJson(listed)) };
  await container.put(await tarOf([list]));
  const answer = await container.run(
    [
      ...[python, '-I', '-S', '-c', pythonText('differing_files.py')],
      ...[folder, `/${list.path}`, String(earliestTime)],
    ],
    doing,
  );
  const differing = numbers.parse(JSON.parse(answer.trim().split('\n').at(-1) ?? ''));
  return differing.flatMap((number) => listed[number]?.[0] ?? []);
}
