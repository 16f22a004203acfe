// How long the language server takes to answer on files of 5,000 lines, and its processor time.
// Prints median / 95th percentile / maximum in milliseconds.
// Run: node esbuild.js && node --import tsx test/bench/languageServer.ts
import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LanguageClient } from '../processes/languageClient';

const rounds = 30;

/** A Python file of about this many lines, in classes of nine methods. */
function pythonFile(lines: number): string {
  const out = ['import unittest', '', ''];
  for (let c = 0; out.length < lines; c += 1) {
    out.push(`class Test${c}(unittest.TestCase):`, '    """A class."""', '');
    for (let m = 0; m < 9; m += 1) {
      out.push(
        `    def test_${c}_${m}(self):`,
        `        value = [x * ${m} for x in range(${c})]`,
        `        self.assertEqual(value, {"a": ${m}, "b": (${c}, None)}.get("c", value))`,
        '',
      );
    }
    out.push('');
  }
  return `${out.slice(0, lines).join('\n')}\n`;
}

/** A custom diff of about so many lines that rewrites methods of the file. */
function customDiff(path: string, python: string, lines: number): string {
  const out: string[] = [];
  const source = python.split('\n');
  for (const [i, line] of source.entries()) {
    if (out.length >= lines) break;
    if (!/^ {4}def /.test(line) || source.length - i < 6) continue;
    out.push(
      'diff',
      path,
      'rewrite',
      String(i + 1),
      line,
      '        value = 1',
      '        assert value',
      'end diff',
      '',
    );
  }
  return `${out.join('\n')}\n`;
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'swt-bench-bench-'));
  await mkdir(join(folder, 'tests'));
  const python = pythonFile(5000);
  await writeFile(join(folder, 'tests', 'test_long.py'), python);
  for (let i = 0; i < 3000; i += 1) await writeFile(join(folder, `module_${i}.py`), '');
  const uri = pathToFileURL(join(folder, 'a.swtdiff')).href;
  const file = pathToFileURL(join(folder, 'tests', 'test_long.py')).href;
  const { client } = await LanguageClient.start([folder]);
  server = client.process.pid ?? 0;
  try {
    for (const [name, text] of [
      ['short diff', customDiff('tests/test_long.py', python, 20)],
      ['5,000 lines of diff', customDiff('tests/test_long.py', python, 5000)],
    ] as const) {
      const begun = performance.now();
      await client.open(uri, text);
      await client.diagnostics(uri);
      console.log(`\n${name} (${text.split('\n').length} lines), target of 5,000 lines`);
      console.log(
        `first diagnostics ${(performance.now() - begun).toFixed(0)} ms (150 of them rest)`,
      );
      const asks: [string, (line: number) => Promise<unknown>][] = [
        ['hover on code', (at) => client.at('hover', uri, at + 4, 10)],
        ['hover on place', (at) => client.at('hover', uri, at + 3, 0)],
        ['hover on path', (at) => client.at('hover', uri, at + 1, 3)],
        ['definition', (at) => client.at('definition', uri, at + 4, 10)],
        ['completion of a path', (at) => client.at('completion', uri, at + 1, 6)],
        ['completion of a place', (at) => client.at('completion', uri, at + 3, 0)],
        ['completion of a name', (at) => client.at('completion', uri, at + 4, 8)],
        ['symbols', () => client.ask('documentSymbol', uri)],
        ['folding', () => client.ask('foldingRange', uri)],
        ['formatting', () => client.ask('formatting', uri, { options: {} })],
        [
          'code actions',
          (at) =>
            client.ask('codeAction', uri, {
              range: { start: { line: at, character: 0 }, end: { line: at, character: 0 } },
              context: { diagnostics: [] },
            }),
        ],
      ];
      const blocks = text.split('\n').flatMap((line, i) => (line === 'diff' ? [i] : []));
      for (const [what, ask] of asks) {
        await report(what, async (i) => {
          await ask(blocks[(i * 7) % blocks.length] ?? 0);
        });
      }
      // Types a key in the code of a block, and sends a request at once.
      let digit = 0;
      const press = async (i: number): Promise<number> => {
        const at = blocks[(i * 7) % blocks.length] ?? 0;
        const range = {
          start: { line: at + 5, character: 16 },
          end: { line: at + 5, character: 17 },
        };
        await client.change(uri, String((digit = (digit + 1) % 10)), range);
        return at;
      };
      for (const [what, ask] of asks) {
        await report(`${what}, after a key`, async (i) => {
          await ask(await press(i));
        });
      }
      await report('diagnostics after a key (150 of them rest)', async (i) => {
        await press(i);
        await client.diagnostics(uri);
      });
      await report('hover after a key in the target file', async (i) => {
        const text = python.replace('"""A class."""', `"""A class ${i}."""`);
        await client.connection.sendNotification('swt-bench/openText', { uri: file, text });
        await client.at('hover', uri, (blocks[0] ?? 0) + 4, 10);
      });
      await client.connection.sendNotification('swt-bench/openText', { uri: file, text: null });
      await client.close(uri);
    }
  } finally {
    await client.stop();
    await rm(folder, { recursive: true });
  }
}

let server = 0;

/**
 * Processor time of all threads of the server so far in milliseconds, where the system reports it
 * (Linux: the first number of schedstat, in nanoseconds).
 */
async function processorTime(): Promise<number> {
  const tasks = await readdir(`/proc/${server}/task`).catch(() => []);
  let spent = 0;
  for (const task of tasks) {
    const text = await readFile(`/proc/${server}/task/${task}/schedstat`, 'utf8').catch(() => '0');
    spent += Number(text.split(' ')[0]) / 1e6;
  }
  return spent;
}

async function report(what: string, ask: (i: number) => Promise<void>): Promise<void> {
  const times: number[] = [];
  const processor: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const begun = performance.now();
    const before = await processorTime();
    await ask(i);
    processor.push((await processorTime()) - before);
    times.push(performance.now() - begun);
  }
  console.log(`${what.padEnd(44)} ${shares(times)}, processor ${shares(processor)}`);
}

/** Median, 95th percentile and maximum. */
function shares(values: number[]): string {
  values.sort((a, b) => a - b);
  const at = (share: number): number =>
    values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
  return [0.5, 0.95, 1].map((share) => at(share).toFixed(1).padStart(6)).join(' /');
}

void main();
