import { HumanError, systemCode } from '../../domain/work';
import { writeWholeFile, type FileContent } from '../../files/wholeFile';

/**
 * Writes what `--out` names, whole or not at all.
 *
 * @param what the content, as the subject of a message: `The report`
 * @throws HumanError when the file cannot be written
 */
export async function writeOut(what: string, path: string, text: FileContent): Promise<void> {
  try {
    await writeWholeFile(path, text);
  } catch (error) {
    throw new HumanError(
      `${what} cannot be written to ${path} (${systemCode(error)})`,
      'Name a file that can be written with --out',
    );
  }
}
