import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { root } from './cli';
import { isOfStage, reproductionScript } from './agentlessScript';
import { fakeModels, type Asked, type FakeModels, type Reply } from './fakeModels';
import { lostCent, lostCentPatch, lostCentPath } from './lostCent';
import { newFileDiff, scriptsOfFilesAgents } from './recordedSession';

/** The code blocks of a page of Markdown in a language. */
export const codeBlocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );

/** The blocks of docs/models.md that run methods on the bundled instance, in their order. */
export async function blocksOfMethods(): Promise<string[]> {
  const page = await readFile(join(root, 'docs', 'models.md'), 'utf8');
  return codeBlocks(page, 'sh').filter((block) =>
    block.includes('generate --dataset bundled --model'),
  );
}

/** The methods that a block runs, in their order. */
export const methodsIn = (block: string): string[] =>
  [...block.matchAll(/--method ([\w:-]+)/g)].map(([, name = '']) => name);

/** Where pasted commands run. */
export interface PastePlace {
  /** Folder of the command line's files, as a package has them. */
  readonly dist?: string;
  readonly cwd: string;
  readonly gateway: FakeModels;
  /** Options of this machine for the commands that use an engine. */
  readonly engineOptions?: readonly string[];
}

/**
 * Pastes a block into a shell in which `swt-bench` is installed and the model's variables are set, as
 * the page says.
 *
 * @returns what the block prints
 */
export async function paste(block: string, place: PastePlace): Promise<string> {
  const { dist = join(root, 'dist'), cwd, gateway, engineOptions = [] } = place;
  const bin = join(cwd, 'bin');
  await mkdir(bin, { recursive: true });
  const quoted = (text: string): string => `'${text}'`;
  const program = [process.execPath, join(dist, 'cli.js')].map(quoted).join(' ');
  const lines = [
    '#!/bin/sh',
    `case $1 in generate|repair|evaluate) set -- "$@" ${engineOptions.map(quoted).join(' ')};; esac`,
    `exec ${program} "$@"`,
  ];
  await writeFile(join(bin, 'swt-bench'), `${lines.join('\n')}\n`);
  await chmod(join(bin, 'swt-bench'), 0o755);
  const env = {
    ...process.env,
    PATH: [bin, process.env['PATH']].join(delimiter),
    SWT_BENCH_STORAGE: join(cwd, 'storage'),
    OPENAI_API_KEY: 'sk-a-key-of-the-gateway',
    OPENAI_BASE_URL: gateway.url,
  };
  return new Promise((resolve, reject) => {
    execFile('sh', ['-e', '-c', block], { cwd, env, maxBuffer: 1 << 26 }, (error, out, log) =>
      error === null ? resolve(out) : reject(new Error(`${error.message}\n${out}${log}`)),
    );
  });
}

/** A fix of the line that rounds. */
const newCodeDiff = `\`\`\`diff
--- a/tallybook/money.py
+++ b/tallybook/money.py
@@ -49,3 +49,3 @@ class Money:
         for weight in weights:
-            shares.append(round(self.cents * weight / total))
+            shares.append(self.cents * weight // total)
         missing = self.cents - sum(shares)
\`\`\`
`;
const says = (command: string, language = ''): string =>
  `I go on.\n\`\`\`${language}\n${command}\n\`\`\``;

/** What a model says to each kind of request; a script of several answers begins again at its end. */
const scripts: readonly {
  readonly isFor: (asked: Asked) => boolean;
  readonly replies: readonly Reply[];
}[] = [
  {
    // The fake agent of the protocol, which has tools of its own.
    isFor: ({ text }) => text.includes('You are an agent.'),
    replies: [{ text: lostCent }],
  },
  {
    isFor: ({ body }) => 'tools' in body,
    replies: [
      {
        text: '',
        calls: [
          { name: 'apply_candidate', input: { patch: lostCentPatch } },
          { name: 'run_tests' },
        ],
      },
      { text: 'The test fails for the reason in the issue.' },
    ],
  },
  {
    isFor: ({ text }) => isOfStage(text),
    replies: [{ text: reproductionScript }],
  },
  {
    isFor: ({ text }) => text.includes('who resolves reported issues'),
    replies: [{ text: newCodeDiff }],
  },
  { isFor: ({ text }) => text.includes('YES or NO'), replies: [{ text: 'It does.\nYES' }] },
  {
    isFor: ({ text }) => text.includes('shows with tests what a program currently does'),
    replies: [
      { text: newFileDiff(lostCentPath, lostCent.replace('assertEqual', 'assertNotEqual')) },
      { text: newFileDiff(lostCentPath, lostCent) },
    ],
  },
  {
    isFor: ({ text }) => text.includes('reproduces reported issues with tests'),
    replies: [{ text: newFileDiff(lostCentPath, lostCent) }],
  },
  {
    isFor: ({ text }) => text.includes('adds tests to a code base'),
    replies: (scriptsOfFilesAgents['aider'] ?? []).map((text) => ({ text })),
  },
  {
    isFor: ({ text }) => text.includes('works in a terminal with special commands'),
    replies: [
      `create ${lostCentPath}`,
      `edit 1:1\n${lostCent}\nend_of_edit`,
      'python -m unittest tests.test_lost_cent',
      'submit',
    ].map((command) => ({ text: says(command) })),
  },
  {
    isFor: ({ text }) => text.includes('works in a terminal to write tests'),
    replies: [
      `cat > ${lostCentPath} <<'EOF'\n${lostCent}\nEOF`,
      'echo SUBMIT_REPRODUCING_TESTS',
    ].map((command) => ({ text: says(command, 'bash') })),
  },
  {
    isFor: () => true,
    replies: (scriptsOfFilesAgents['autocoderover'] ?? []).map((text) => ({ text })),
  },
];

/** A gateway whose model plays every method to a test that reproduces the bundled instance. */
export function gatewayOfAllMethods(): Promise<FakeModels> {
  const asked = new Map<object, number>();
  return fakeModels((request) => {
    const script = scripts.find(({ isFor }) => isFor(request)) ?? assert.fail();
    const before = asked.get(script) ?? 0;
    asked.set(script, before + 1);
    return script.replies[before % script.replies.length] ?? assert.fail();
  });
}

/** Name of a method's row in reports of the pasted commands. */
export const rowName = (method: string): string =>
  `${method}/openai/gpt-4o${method === 'pass-at-5' ? ' (oracle)' : ''}`;

/** Rates of each row of a report, by the heads of its first table: method to `[n, W, S]`. */
export function ratesIn(report: string): Map<string, readonly string[]> {
  const [table = ''] = report.split('\n\n').slice(1);
  const [heads = [], ...rows] = table.split('\n').map((line) => line.split(/ {2,}/));
  const places = ['n', 'W', 'S'].map((head) => heads.indexOf(head));
  return new Map(rows.map((cells) => [cells[0] ?? '', places.map((place) => cells[place] ?? '')]));
}
