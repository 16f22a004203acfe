// Options of several commands. Each call makes a new one, since commander stores state in it.
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { predictionKinds } from '../../dataset/predictions';
import { checkStorage } from '../../files/checkStorage';
import { askedFormats } from '../../patch/toUnified';
import { defaultStorage } from '../../repository/storage';

/** The required option `--dataset`. */
export const datasetOption = (): Option =>
  new Option(
    '--dataset <file>',
    'file or folder of JSON, JSONL or Parquet, https address, Hugging Face name, or `bundled`',
  ).makeOptionMandatory();

/** `--source`, repeatable. */
export const sourceOption = (): Option =>
  new Option(
    '--source <repo=where>',
    'source of R: repository, folder, archive or address; repeatable; without `repo=` for every repository',
  )
    .argParser((value: string, all: string[] | undefined) => [...(all ?? []), value])
    .default([], 'GitHub');

/** `--storage`, as an absolute path, since git and other programs do not run in this folder. */
export const storageOption = (): Option =>
  new Option('--storage <dir>', 'where trees and finished runs are kept')
    .argParser((value: string) => (value === '' ? defaultStorage() : resolve(value)))
    .env('SWT_BENCH_STORAGE')
    .default(defaultStorage());

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
  new Option(
    '--kind <kind>',
    'what the predictions are: tests, or code patches, which are judged as SWE-bench does',
  )
    .choices(predictionKinds)
    .default('tests');

/** `--mode`. */
export const modeOption = (): Option =>
  new Option(
    '--mode <mode>',
    'tests that a runner finds, or one script that exits with 0 for a pass',
  )
    .choices(['unit-test', 'reproduction-script'])
    .default('unit-test');

/** `--format`. */
export const formatOption = (): Option =>
  new Option('--format <format>', 'format of patches; auto detects it, but never as fuzzy')
    .choices(askedFormats)
    .default('auto');
