// Writes docs/speed.md and docs/speed.svg from runs of other benchmarks on this machine. A
// benchmark, not a test: `npm run bench -- page [--times N]`, on an idle machine.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realSets } from './realSets';

const root = join(__dirname, '..', '..');

/** A line of a benchmark: a time, and in multiples of a plain one. */
interface Row {
  readonly what: string;
  readonly seconds: number;
  readonly ratio: number | undefined;
}

function output(name: string, ...args: readonly string[]): string {
  const script = join(root, 'test', 'scripts', 'bench.mjs');
  const { stdout, status } = spawnSync(process.execPath, [script, name, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${name} failed`);
  return stdout;
}

const rowsOf = (text: string): Row[] =>
  [...text.matchAll(/^(.+?) +([\d.]+) s(?: +× ([\d.]+))?$/gm)].map(
    ([, what = '', seconds, ratio]) => ({
      what,
      seconds: Number(seconds),
      ratio: ratio === undefined ? undefined : Number(ratio),
    }),
  );

/** The rows of the tracer, which prints a sentence for each interpreter. */
const tracerRows = (text: string): Row[] =>
  [
    ...text.matchAll(/\/([\d.]+)\/bin\/python: ([\d.]+) \(medians\).* plain run of ([\d.]+) s/g),
  ].map(([, version, ratio, plain]) => ({
    what: `a program that computes, on CPython ${version}`,
    seconds: Number(plain) * Number(ratio),
    ratio: Number(ratio),
  }));

const table = (against: string, rows: readonly Row[]): string =>
  [
    `| what | seconds | × ${against} |`,
    '| --- | --- | --- |',
    ...rows.map(
      ({ what, seconds, ratio }) =>
        `| ${what} | ${seconds.toFixed(2)} | ${ratio?.toFixed(2) ?? ''} |`,
    ),
  ].join('\n');

const colours = ['#7f8c9b', '#3b7dd8', '#c9862b', '#5b9a5b'];

/** What was measured on one set. */
interface Measured {
  readonly title: string;
  readonly rows: readonly Row[];
}

const isPart = ({ what }: Row): boolean => what.startsWith('  of that');

/** A bar of the parts of a time for each set, all as wide, with a legend of its own. */
function bars(sets: readonly Measured[]): string {
  const width = 720;
  let y = 0;
  const pieces = sets.flatMap(({ title, rows }) => {
    const parts = rows.filter(isPart);
    const total = parts.reduce((sum, { seconds }) => sum + seconds, 0);
    const [top, lines] = [y, [`<text x="20" y="${y + 24}" font-weight="bold">${title}</text>`]];
    let x = 20;
    for (const [index, { what, seconds }] of parts.entries()) {
      const wide = (width * Math.max(0, seconds)) / total;
      const of = top + 80 + 22 * index;
      const fill = `fill="${colours[index]}"`;
      lines.push(
        `<rect x="${x.toFixed(1)}" y="${top + 36}" width="${wide.toFixed(1)}" height="28" ${fill}/>`,
        `<rect x="20" y="${of}" width="12" height="12" ${fill}/>`,
        `<text x="40" y="${of + 11}">${what.replace('of that: ', '').trim()}: ${seconds.toFixed(2)} s</text>`,
      );
      x += wide;
    }
    y = top + 92 + 22 * parts.length;
    return lines;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="${y}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
${pieces.join('\n')}
</svg>
`;
}

/** A column for each set: seconds, and in multiples of the plain run above. */
function tableOf(sets: readonly Measured[]): string {
  const shown = sets.map(({ rows }) => rows.filter((row) => !isPart(row)));
  const whats = [...new Set(shown.flatMap((rows) => rows.map(({ what }) => what)))];
  const cell = (row: Row | undefined): string => {
    if (row === undefined) return '';
    const times = row.ratio === undefined ? '' : `, × ${row.ratio.toFixed(2)}`;
    return `${row.seconds.toFixed(2)}${times}`;
  };
  return [
    `| seconds, × a plain run of these tests | ${sets.map(({ title }) => title).join(' | ')} |`,
    `| --- |${sets.map(() => ' --- |').join('')}`,
    ...whats.map(
      (what) =>
        `| ${what} | ${shown.map((rows) => cell(rows.find((row) => row.what === what))).join(' | ')} |`,
    ),
  ].join('\n');
}

const { values } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '9' } },
});
const sets = Object.entries(realSets).map(([name, { title }]) => ({
  title,
  rows: rowsOf(output('authoring', '--set', name, '--times', values.times)),
}));
const [machine] = cpus();
writeFileSync(join(root, 'docs', 'speed.svg'), bars(sets));
writeFileSync(
  join(root, 'docs', 'speed.md'),
  `# Speed

You want to know how long a verdict takes, and why. Each time is beside that of the plain equivalent in the same run: a run of pytest by hand, a start of Node, a program without the tracer. Only these ratios can be compared between machines. \`npm run bench -- page\` measures again and writes this page.

${machine?.model.trim() ?? 'unknown processor'}, ${cpus().length} processors, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}, on ${new Date().toISOString().slice(0, 10)}.

## From an edit to its verdict

The local engine. A verdict takes a run on R and one on R∘X\\*, at the same time. The plain run is that of the slower side alone, with the same interpreter.

${tableOf(sets)}

![Where the time from the edit of one test to its verdict goes](speed.svg)

The bars are the time from the edit of one test to its verdict. The file that the tests of SymPy are in has three tests, so that importing SymPy is most of a run.

The limit is the plain run itself. _Reproduce_ tells a first verdict on the candidate’s own tests before the whole files, unless these are known to take less than a second.

### A warm start

Where R takes 0.3 seconds or more to import, the first verdict comes from a process that has loaded R already, on each side. It is prepared after an evaluation and becomes the next run. The verdict of the whole files, and all that is stored, exported or counted, comes from fresh processes. \`swt-bench.warmStart\` switches it off.

The price is the verdict of the whole files: the tests run once more, and the next process loads R meanwhile.

A run does not fork the process but takes it. A fork would serve several runs, and save loading R for an edit that comes within that time. But a fork loses threads that R starts when it is imported, and shares a parent with the runs before it. A process of its own has neither problem.

The golden tests of 37 instances of SymPy, xarray, seaborn and Flask were run both ways: the outcomes are equal.

A fresh process runs instead, and the log says why, where

- the tests import nothing of R, or importing R takes less than 0.3 seconds, more than a minute or a gibibyte, or fails
- the tests need services, or run under Django’s runner, tox or as a script
- R is a plug-in of pytest, importing it loads test files or \`conftest.py\`, or its configuration makes errors of warnings that its imports raise
- the candidate edits more than its test files, or these no longer import what is loaded
- a module of the tree has the name of one that is installed
- the installed packages, the counted lines or the runner have changed
- a fresh process came to another outcome before, in the same session

Loading modules does not pay for the bundled instance, whose R takes 0.05 seconds to import. There, pytest or unittest alone is imported ahead. Django’s and SymPy’s runners belong to R: their interpreter starts ahead, and imports nothing.

## Starting the command line

A command loads what it needs when it is called.

${table('an empty Node', rowsOf(output('start')))}

## Tests under the tracer

${table('a plain run', tracerRows(output('tracer', '--turns', '5')))}
`,
);
spawnSync(
  process.execPath,
  [join(root, 'node_modules', 'oxfmt', 'bin', 'oxfmt'), 'docs/speed.md'],
  {
    cwd: root,
  },
);
