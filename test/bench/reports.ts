// `npm run bench -- reports`: the time for reading and reporting many runs. The runs are simulated:
// 2,294 instances with 5 predictions each, in the layout of `evaluate --out` and in that of the
// reference harness.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareWith } from '../../src/study/measures/compare';
import { methodsOf } from '../../src/study/measures/methods';
import { summariseMethod } from '../../src/study/measures/summary';
import { simulatedRuns, writeHarnessRun, writeSimulatedRun } from './manyRuns';

const instances = 2294;
const predictions = 5;
const cli = join(__dirname, '..', '..', 'dist', 'cli.js');

interface Measured {
  readonly seconds: number;
  /** Processor time, which does not grow on a busy machine. */
  readonly processor: number;
  readonly megabytes: number;
}

/** The time of the built command line, including its start. */
function measured(args: readonly string[]): Promise<Measured> {
  const begun = performance.now();
  const atEnd = `process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    process.stderr.write('\\ntook ' + maxRSS + ' ' + (userCPUTime + systemCPUTime) + '\\n');
  })`;
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(atEnd)}`, cli, ...args],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((done, fail) =>
    child.on('close', (status) => {
      if (status !== 0) fail(new Error(`${args.join(' ')}: exit status ${status}\n${stderr}`));
      const [, kilobytes, micros] = /took (\d+) (\d+)/.exec(stderr) ?? [];
      done({
        seconds: (performance.now() - begun) / 1000,
        processor: Number(micros) / 1e6,
        megabytes: Number(kilobytes) / 1024,
      });
    }),
  );
}

/** Whether the time grows with the entries, whatever their shape: 50,000 and 200,000 of them. */
async function manyMethods(folder: string): Promise<void> {
  for (const [models, of] of [
    [50_000, 1],
    [500, 100],
    [1, 50_000],
  ] as const) {
    const processor: number[] = [];
    for (const times of [1, 4]) {
      const runs = models === 1 ? simulatedRuns(of * times, 1) : simulatedRuns(of, models * times);
      const out = join(folder, `${models}-${of}-${times}`);
      await writeSimulatedRun(out, {
        label: 'many',
        instances: runs[0]?.instances ?? [],
        entries: runs.flatMap(({ entries }) => entries),
        models: runs.flatMap(({ models = [] }) => models),
      });
      processor.push((await measured(['report', out])).processor);
      await rm(out, { recursive: true });
    }
    const [some = 0, four = 0] = processor;
    console.log(
      `report of ${models} models × ${of} instances: ${some.toFixed(1)} s; ` +
        `four times as many entries take ${(four / some).toFixed(1)} times as long`,
    );
  }
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'swt-bench-reports-'));
  const say = (what: string, { seconds, processor, megabytes }: Measured): void =>
    console.log(
      `${what.padEnd(50)} ${seconds.toFixed(2)} s (processor ${processor.toFixed(2)} s)  ${megabytes.toFixed(0)} MB`,
    );
  try {
    const runs = simulatedRuns(instances, predictions);
    const ours = join(folder, 'ours');
    const theirs = join(folder, 'theirs');
    for (const run of runs) {
      await writeSimulatedRun(ours, run);
      await writeHarnessRun(theirs, run);
    }
    console.log(`${instances} instances × ${predictions} predictions`);
    for (const format of ['table', 'json', 'csv', 'html']) {
      say(`report --format ${format}`, await measured(['report', ours, '--format', format]));
    }
    say('report, from reports of the harness alone', await measured(['report', theirs]));

    await manyMethods(folder);

    const methods = methodsOf(simulatedRuns(instances, 10));
    const timed = (what: string, work: () => unknown): void => {
      const begun = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(begun);
      console.log(`${what.padEnd(50)} processor ${((user + system) / 1e6).toFixed(3)} s`);
    };
    console.log(`${instances} instances × 10 methods, as the dashboard computes`);
    timed('rates', () => methods.map((method) => summariseMethod(method)));
    timed('rates with intervals', () =>
      methods.map((each) => summariseMethod(each, { intervals: {} })),
    );
    const [first, ...others] = methods;
    if (first !== undefined) {
      timed('significance against one', () => compareWith(first, others));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

void main();
