import { Option } from 'commander';
import { whole } from './optionValues';

/** Most mutants of an instance where the user sets no limit. */
export const usualMutantLimit = 100;

/** `--limit` of `mutants`. */
export const mutantLimitOption = (): Option =>
  new Option(
    '--limit <n>',
    'most mutants; of more, a sample that is the same for every candidate and in every run',
  )
    .argParser(whole)
    .default(usualMutantLimit);

/** `--mutants` of `evaluate`: absent, without a value, or with a limit. */
export const mutantsOption = (): Option =>
  new Option(
    '--mutants [limit]',
    `also run the candidates on mutants of X*, at most this many of an instance (default: ${usualMutantLimit})`,
  ).argParser(whole);
