import { isReproduction } from '../../evaluation/candidateResult';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../files/digest';
import { HumanError, messageOf, systemCode } from '../../domain/work';
import { bytesOf } from '../../patch/bytes';
import { modelFolderName } from '../runFolder';
import { reproductionNote, type Reproduction } from './reproductionNote';

/** Files of an export, and the name of the folder that holds them. */
export interface ExportedFiles {
  readonly folder: string;
  readonly files: readonly { readonly name: string; readonly content: Buffer }[];
  /** Name of the note among them. */
  readonly note: string;
}

/** Names of exported files. They say what the candidate is, wherever the files go. */
const stems = { success: 'reference-reproduction', other: 'not-a-reproduction' } as const;

const endings = ['.patch', '.jsonl', '.md'] as const;

/**
 * Patch, prediction and note of a candidate. Only a success under strict grading, in a run of all
 * tests, is named a reference reproduction. For any other candidate, name, prediction and note say
 * that it is not one.
 * The prediction is a line of JSON as the reference harness reads it: `instance_id`,
 * `model_name_or_path`, `model_patch`.
 *
 * @throws HumanError when there is no patch
 */
export function exportedFiles(reproduction: Reproduction): ExportedFiles {
  const { result } = reproduction;
  if (result.patch.trim() === '') {
    throw new HumanError(
      `Could not export the candidate for ${result.instance}: ${result.strict.explanation}`,
      'Edit a test first',
    );
  }
  const stem = isReproduction(result) ? stems.success : stems.other;
  const [patch, prediction, note] = endings.map((ending) => `${stem}${ending}`) as [
    string,
    string,
    string,
  ];
  const bytes = bytesOf(result.patch);
  const digest = sha256(bytes);
  const row = {
    instance_id: result.instance,
    model_name_or_path: stem,
    model_patch: result.patch,
  };
  const text = reproductionNote(reproduction, { patch, prediction, digest });
  return {
    folder: `${modelFolderName(result.instance)}-${stem}`,
    files: [
      { name: patch, content: bytes },
      { name: prediction, content: Buffer.from(`${JSON.stringify(row)}\n`) },
      { name: note, content: Buffer.from(text) },
    ],
    note,
  };
}

/** What exists at the target of an export. */
type Occupied = 'nothing' | 'an export' | 'something else';

/** What exists at the path of a folder; an export may replace only an older export. */
export async function whatIsAt(folder: string): Promise<Occupied> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? 'nothing' : 'something else';
  }
  const known: string[] = Object.values(stems).flatMap((stem) =>
    endings.map((ending) => `${stem}${ending}`),
  );
  return names.every((name) => known.includes(name)) ? 'an export' : 'something else';
}

/**
 * Writes an export into its folder below `parent`. All files are written to a folder beside it,
 * read back and then renamed, so that the folder is never half-written. An older export is
 * replaced; anything else stays.
 *
 * @returns the folder
 * @throws HumanError when the target is no export, the folder cannot be written, or a file reads
 *   back differently
 */
export async function writeExport(parent: string, exported: ExportedFiles): Promise<string> {
  const folder = join(parent, exported.folder);
  const at = await whatIsAt(folder);
  if (at === 'something else') {
    throw new HumanError(`${folder} is not an export`, 'Choose another folder, or move it away');
  }
  const beside = join(parent, `.${exported.folder}.${randomUUID()}`);
  const former = `${beside}.former`;
  try {
    await mkdir(beside, { recursive: true });
    for (const { name, content } of exported.files) await writeFile(join(beside, name), content);
    await checkWritten(beside, exported);
    if (at === 'an export') await rename(folder, former);
    try {
      await rename(beside, folder);
      await checkWritten(folder, exported);
    } catch (error) {
      // If even this fails, the older export stays under its temporary name: only a complete
      // replacement removes it.
      if (at === 'an export') {
        await rm(folder, { recursive: true, force: true });
        await rename(former, folder);
      }
      throw error;
    }
    await rm(former, { recursive: true, force: true }).catch(() => undefined);
    return folder;
  } catch (error) {
    if (error instanceof HumanError) throw error;
    throw new HumanError(
      `${folder} cannot be written: ${messageOf(error)}`,
      'Choose another folder',
    );
  } finally {
    await rm(beside, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** @throws HumanError when a file does not have the content that was written to it */
async function checkWritten(folder: string, { files }: ExportedFiles): Promise<void> {
  for (const { name, content } of files) {
    const path = join(folder, name);
    if ((await readFile(path)).equals(content)) continue;
    throw new HumanError(`${path} changed while it was being written`, 'Choose another folder');
  }
}
