// Writes docs/speed.md and docs/speed.svg from runs of other benchmarks on this machine. A
// benchmark, not a test: `npm run bench -- page`, on an idle machine.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

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

/** One bar of the parts of a time, with a legend. */
function bar(parts: readonly Row[]): string {
  const total = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const width = 720;
  let at = 0;
  const pieces = parts.map(({ what, seconds }, index) => {
    const wide = (width * seconds) / total;
    const y = 64 + 22 * index;
    const piece = `<rect x="${(20 + at).toFixed(1)}" y="16" width="${wide.toFixed(1)}" height="28" fill="${colours[index]}"/>
<rect x="20" y="${y}" width="12" height="12" fill="${colours[index]}"/>
<text x="40" y="${y + 11}">${what.replace('of that: ', '').trim()}: ${seconds.toFixed(2)} s</text>`;
    at += wide;
    return piece;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="${76 + 22 * parts.length}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
${pieces.join('\n')}
</svg>
`;
}

const authoring = rowsOf(output('authoring', '--times', '9'));
const [machine] = cpus();
const isPart = ({ what }: Row): boolean => what.startsWith('  of that');
writeFileSync(join(root, 'docs', 'speed.svg'), bar(authoring.filter(isPart)));
writeFileSync(
  join(root, 'docs', 'speed.md'),
  `# Speed

Each time stands beside that of the plain thing in the same run: a run of pytest by hand, a start of Node, a program without the tracer. Only these ratios can be compared between machines. \`npm run bench -- page\` measures again and writes this page.

${machine?.model.trim() ?? 'unknown processor'}, ${cpus().length} processors, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}, on ${new Date().toISOString().slice(0, 10)}.

## From an edit to its verdict

The bundled instance, with the local engine. A verdict takes a run on R and one on R∘X\\*, at the same time. The plain run is that of the slower side alone, with the same interpreter.

${table(
  'a plain run of these tests',
  authoring.filter((row) => !isPart(row)),
)}

![Where the time from the edit of one test to its verdict goes](speed.svg)

The limit is the plain run itself. _Reproduce_ tells a first verdict on the candidate’s own tests before the whole files, unless these are known to take less than a second.

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
