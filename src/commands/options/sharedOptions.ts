import type { PredictionKind } from '../../dataset/predictions';
import { HumanError, messageOf, systemCode } from '../../domain/work';
import { checkStorage } from '../../files/checkStorage';
import { writeWholeFile, type FileContent } from '../../files/wholeFile';
import { askedFormats } from '../../patch/toUnified';
import { defaultStorage } from '../../repository/storage';
import { configurationKeys } from '../../configuration/keys';
import type { TestingContext } from '../context';
import { keyOption } from './configuredOptions';
import { offer } from './offered';
import { whole } from './optionValues';
import { Option, type Command } from 'commander';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';

// Options of several commands. Each call makes a new one, since commander stores state in it.

/** The required option `--dataset`. */
export const datasetOption = (): Option =>
  offer(
    new Option(
      '--dataset <file>',
      'file or folder of JSON, JSONL or Parquet, https address, Hugging Face name, or `bundled`',
    ).makeOptionMandatory(),
    ['bundled'],
  );

/** `--source`, repeatable. */
export const sourceOption = (): Option =>
  new Option(
    '--source <repo=where>',
    'source of R: repository, folder, archive or URL; repeatable; applies to all repositories without `repo=`',
  )
    .argParser((value: string, all: string[] | undefined) => [...(all ?? []), value])
    .default([], 'GitHub');

/** `--storage`, as an absolute path, since git and other programs do not run in this folder. */
export const storageOption = (): Option =>
  keyOption('storage', {
    parse: (value) => (value === '' ? defaultStorage() : resolve(value)),
  })
    .env(configurationKeys.storage.variable)
    .default(defaultStorage());

/** `--timeout`, in seconds. */
export const timeoutOption = (description: string, seconds?: number): Option =>
  keyOption('timeout', { description, ...(seconds !== undefined && { default: seconds }) });

/** `--workers`. */
export const workersOption = (description: string): Option =>
  keyOption('workers', { description, shown: true });

/**
 * A hook before the action of a command that keeps trees and runs: it ends where `--storage` cannot
 * be written, before any instance is worked on.
 */
export const needsStorage = (_: Command, command: Command): Promise<void> =>
  checkStorage(String(command.opts()['storage']));

/** `--json`. */
export const jsonOption = (): Option => new Option('--json', 'print one JSON document on stdout');

/** `--kind`. */
export const kindOption = (): Option =>
  new Option('--kind <kind>', 'kind of predictions: tests, or code patches to judge like SWE-bench')
    .choices(['tests', 'repair'] satisfies PredictionKind[])
    .default('tests');

/** `--mode`. */
export const modeOption = (): Option =>
  new Option('--mode <mode>', 'tests for a test runner, or one script that exits with 0 to pass')
    .choices(['unit-test', 'reproduction-script'])
    .default('unit-test');

/** `--format`. */
export const formatOption = ({ formats }: Pick<TestingContext, 'formats'>): Option =>
  new Option('--format <format>', 'patch format; auto detects all formats except fuzzy')
    .choices(askedFormats(formats))
    .default('auto');

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
      'Specify a writable file with --out',
    );
  }
}

/**
 * For the folder that `--out` names: it is new or empty.
 *
 * @throws HumanError when the path is not a folder, or the folder is not empty
 */
export async function checkEmpty(path: string): Promise<void> {
  const entries = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new HumanError(
      error.code === 'ENOTDIR'
        ? `${path} is not a folder`
        : `${path} cannot be read (${messageOf(error)})`,
      'Specify a new folder with --out',
    );
  });
  if (entries.length > 0) {
    throw new HumanError(`${path} is not empty`, 'Specify a new folder with --out');
  }
}

/** Most mutants of an instance where the user sets no limit. */
export const defaultMutantLimit = 100;

/** `--limit` of `mutants`. */
export const mutantLimitOption = (): Option =>
  new Option(
    '--limit <n>',
    'maximum number of mutants; if there are more, every candidate and run gets the same sample',
  )
    .argParser(whole)
    .default(defaultMutantLimit);

/** `--mutants` of `evaluate`: absent, without a value, or with a limit. */
export const mutantsOption = (): Option =>
  new Option(
    '--mutants [limit]',
    `also run the candidates on mutants of X*, at most this many per instance (default: ${defaultMutantLimit})`,
  ).argParser(whole);
