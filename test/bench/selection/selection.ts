// What rules for choosing among candidate tests are worth: how often each chooses a test that goes
// F→P. A benchmark, not a test:
//   npm run bench -- selection [--on made-up|mutants] [--instances N] [--figure FILE.svg|FILE.png]
// Made-up populations say what tests and fixes do with each other. `--on mutants` runs T* and faulty
// forms of it with X*, mutants of X* and no change, on the local engine: on the bundled instance, and
// on those of `--dataset F --ids a,b --source … --python …` (as in `evaluate`; also
// `--python owner/name=ENVIRONMENT`). `--tests N --fixes N` bound the pool of each instance. What has
// run is kept in .cache/bench, so that a second call goes on where the first ended. Every figure has
// an interval of 95 %. A figure has both kinds.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { randomNumbers } from '../../../src/study/measures/resampling';
import { parseSources } from '../../../src/repository/source';
import { madeUpPopulation } from './madeUpPopulation';
import { openPools } from './openPools';
import { poolTable, ruleTable } from './selectionTables';
import { publishedRates, type PopulationSize, type PublishedRates } from './publishedRates';
import { sharesOfDraws, sharesOfPools, type RuleShares } from './ruleShares';
import { sortedPool, populationOf, type TestPool } from './testPool';
import { writeSelectionFigure, type FigureSeries } from './writeSelectionFigure';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    on: { type: 'string', default: 'made-up' },
    instances: { type: 'string', default: '2000' },
    dataset: { type: 'string' },
    ids: { type: 'string', default: '' },
    source: { type: 'string', multiple: true, default: [] },
    python: { type: 'string', multiple: true, default: [] },
    tests: { type: 'string', default: '40' },
    fixes: { type: 'string', default: '16' },
    workers: { type: 'string', default: '2' },
    figure: { type: 'string' },
  },
});
const root = resolve(__dirname, '..', '..', '..');
const sample = join(root, 'media', 'sample');

/** What each table is about. */
const usualSize: PopulationSize = { tests: 5, fixes: 5 };
/** Numbers of fixes in the figure, with five tests. */
const fixesInFigure = [1, 2, 3, 5, 10];
/** Shares of wrong tests and fixes that read the issue in the same wrong way. */
const misreadShares = [0.1, 0.4];

/** Where populations come from. */
interface PopulationKind {
  readonly name: string;
  sharesOf(rates: PublishedRates, size: PopulationSize, random: () => number): RuleShares;
}

const madeUp = (misread: number): PopulationKind => ({
  name: `made up, ${Math.round(100 * misread)} % misread`,
  sharesOf: (rates, size, random) => {
    const one = () => madeUpPopulation(rates, misread, size, random);
    return sharesOfDraws(Array.from({ length: Number(values.instances) }, one), random);
  },
});

function onMutants(pools: readonly TestPool[]): PopulationKind {
  const sorted = pools.map(sortedPool);
  return {
    name: `mutants, ${pools.length} ${pools.length === 1 ? 'instance' : 'instances'}`,
    sharesOf: (rates, size, random) =>
      sharesOfPools(
        sorted,
        {
          draws: Number(values.instances),
          draw: (pool) => populationOf(pool, rates, size, random),
        },
        random,
      ),
  };
}

async function poolsAsked(): Promise<TestPool[]> {
  const reporter = {
    log: (line: string) => console.error(line),
    progress: (line: string) => process.stderr.isTTY && process.stderr.write(`\r${line}\x1b[K`),
  };
  const rest = {
    ...{ pythons: parseSources(values.python), folder: join(root, '.cache', 'bench', 'selection') },
    ...{ tests: Number(values.tests), fixes: Number(values.fixes) },
    workers: Number(values.workers),
  };
  const bundled = {
    ...{ dataset: join(sample, 'instance.jsonl'), ids: ['tallybook__tallybook-217'] },
    ...{ sources: parseSources([join(sample, 'repository')]), pythons: parseSources([]) },
  };
  const pools = await openPools({ ...rest, ...bundled }, reporter);
  const ids = values.ids.split(',').filter((id) => id !== '');
  if (ids.length === 0) return pools;
  if (values.dataset === undefined) throw new Error('--ids needs the --dataset that has them');
  const sources = parseSources(values.source);
  const real = await openPools({ ...rest, dataset: values.dataset, ids, sources }, reporter);
  return [...pools, ...real];
}

/** Equal calls print equal figures. */
const randomOf = (seed: number): (() => number) => {
  const numbers = randomNumbers(seed);
  return () => numbers() / 2 ** 32;
};

async function main(): Promise<void> {
  const isWanted = (on: string): boolean => values.on === on || values.figure !== undefined;
  const pools = isWanted('mutants') ? await poolsAsked() : [];
  if (pools.length > 0) console.log(poolTable(pools));
  const kinds = [
    ...(isWanted('made-up') ? misreadShares.map(madeUp) : []),
    ...(pools.length > 0 ? [onMutants(pools)] : []),
    // One instance alone, to see how much they differ.
    ...(pools.length > 1 && values.figure === undefined
      ? pools.map((pool) => ({ ...onMutants([pool]), name: `mutants of ${pool.id}` }))
      : []),
  ];
  if (kinds.length === 0) throw new Error(`--on ${values.on} is not made-up or mutants`);
  for (const kind of kinds) {
    const rows = publishedRates.map((rates, at) => {
      return { name: rates.name, shares: kind.sharesOf(rates, usualSize, randomOf(1000 + at)) };
    });
    console.log(ruleTable(kind.name, rows));
  }
  if (values.figure === undefined) return;
  const series = kinds.flatMap((kind) =>
    publishedRates.flatMap((rates, at) =>
      fixesInFigure.map((fixes): FigureSeries => {
        const size = { ...usualSize, fixes };
        const shares = kind.sharesOf(rates, size, randomOf(2000 + 100 * at + fixes));
        return { population: kind.name, rates: rates.name, fixes, shares };
      }),
    ),
  );
  await writeSelectionFigure(values.figure, series);
  console.log(`${values.figure} is written`);
}

void main();
