import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { agentlessAnswer, agentlessVectors, stageOf } from './agentlessScript';
import { cli, root, sample } from './cli';
import { fakeModels } from './fakeModels';
import type { SaidCall } from './fakeToolCalls';
import { lostCent, lostCentPath } from './lostCent';
import type { Row } from './otherAnswer';

export const bundledRow = async (): Promise<Row> =>
  JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as Row;

/** Added lines of X* and T*, and names of tests, of several rows. */
function guesses(rows: readonly Row[]): string[] {
  return rows.flatMap(({ patch, test_patch, FAIL_TO_PASS }) => [
    ...`${patch}\n${test_patch}`
      .split('\n')
      .filter((line) => /^\+ /.test(line))
      .map((line) => line.slice(1).trim()),
    ...(JSON.parse(FAIL_TO_PASS) as string[]),
  ]);
}

const backwards = (text: string): string => [...text].reverse().join('');

/**
 * Bodies of tests that try to infer the answer from what their runs report back. Values that are
 * random in every run, whatever the answer, are left out: the marks of the run and of its
 * container.
 *
 * @param rows rows whose answers are guessed, the right one among them
 * @param paths files to read where they exist; tests of the local engine can read them
 */
export function prying(rows: readonly Row[], paths: readonly string[]): string[][] {
  // Reversed, so that the candidate does not contain what it prints.
  const hidden = JSON.stringify(guesses(rows).map(backwards));
  return [
    [`self.fail('\\n'.join(each[::-1] for each in ${hidden}))`],
    [`print('\\n'.join(each[::-1] for each in ${hidden}))`, "self.fail('see above')"],
    [
      'import os, sys, tempfile',
      "known = {name: os.environ[name] for name in sorted(os.environ) if 'RUN' not in name}",
      "self.fail('%r %r %r %r' % (known, os.getcwd(), sys.path, tempfile.gettempdir()))",
    ],
    ['import os', "self.fail('%d beside' % len(os.listdir('..')))"],
    [
      'import tallybook.money, subprocess, sys',
      'print(tallybook.money.__file__, tallybook.money.Money.allocate.__code__.co_code.hex())',
      "subprocess.run([sys.executable, '-m', 'unittest', 'tests.test_money'])",
      "tallybook.Money.parse('no amount')",
    ],
    ...paths.map((path) => [
      'import os',
      `path = ${JSON.stringify(path)}`,
      "self.fail(open(path).read() if os.path.exists(path) else 'it is not there')",
    ]),
  ];
}

const unified = (path: string, lines: readonly string[]): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n` +
  `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;

const custom = (path: string, lines: readonly string[]): string =>
  ['diff', path, 'insert', 'BOF', ...lines, 'end diff', ''].join('\n');

const source = (body: readonly string[], at: number): string[] => [
  'import unittest',
  '',
  '',
  `class Pry${at}Test(unittest.TestCase):`,
  `    def test_pry_${at}(self):`,
  ...body.map((line) => `        ${line}`),
];

/** Everything that a client of `swt-bench mcp` receives, line by line, in a session of many calls. */
export async function recordMcp(
  args: readonly string[],
  bodies: readonly (readonly string[])[],
): Promise<string[]> {
  const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), 'mcp', ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const received: string[] = [];
  const waiting = new Map<number, () => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    // On a slow machine a run is told of more than once. Only the clock decides how often.
    const isTime =
      /^\{"method":"notifications\/progress","params":\{"progressToken":\d+,"progress":(?!1,)\d+,"message":"\w+ is under way"\},"jsonrpc":"2\.0"\}$/;
    if (!isTime.test(line)) received.push(line);
    const { id } = JSON.parse(line) as { readonly id?: number };
    if (id !== undefined) waiting.get(id)?.();
  });
  const ended = new Promise<number | null>((done) => child.on('close', done));
  let last = 0;
  const send = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const ask = async (method: string, params: object): Promise<void> => {
    const id = (last += 1);
    const answered = new Promise<void>((done) => waiting.set(id, done));
    send({ id, method, params });
    await Promise.race([answered, ended]);
  };
  const call = (name: string, input: object = {}): Promise<void> =>
    ask('tools/call', { name, arguments: input, _meta: { progressToken: last + 1 } });
  const clientInfo = { name: 'test', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  for (const method of ['tools/list', 'resources/list', 'prompts/list', 'ping']) {
    await ask(method, {});
  }
  await call('read_issue');
  await call('list_files');
  await call('read_file', { path: 'tallybook/money.py' });
  await call('outline_file', { path: 'tests/test_money.py' });
  for (const query of ['by_loss', 'test_any_amount', 'takes_no_part', 'allocate']) {
    for (const kind of ['text', 'regex', 'class', 'function', 'file']) {
      await call('search_code', { query, kind });
    }
  }
  await call('search_code', { query: '((', kind: 'regex' });
  await call('search_code', { query: '(?i)\\bWEIGHTS\\b', kind: 'regex' });
  await call('search_code', { query: 'e', kind: 'text', page: '2' });
  for (const path of ['../fixed/tallybook/money.py', '.git/HEAD', '../trees.json', 'no.py']) {
    await call('read_file', { path });
    await call('run_tests', { tests: [path] });
  }
  await call('no_such_tool');
  await call('run_tests', { tests: 7 });
  await call('run_tests', { tests: ['tests'], without_candidate: true });
  await call('run_tests', { tests: ['tests/test_money.py'], without_candidate: true });
  await call('run_tests', { tests: ['tests/test_money.py::AllocateTest::test_no_weight_no_cent'] });
  for (const name of ['test_equal_parts', 'AllocateTest', 'test_any_amount_balances']) {
    await call('run_tests', { tests: [name] });
  }
  for (const [at, body] of bodies.entries()) {
    await call('apply_candidate', {
      patch: unified(`tests/test_pry_${at}.py`, source(body, at)),
    });
    await call('run_tests');
    await call('run_tests', { whole_files: true });
    await call('list_candidate_tests');
    await call('check_candidate');
  }
  await call('apply_candidate', { patch: unified('tests/test_bad.py', ['def test_bad(:', '  x']) });
  await call('run_tests');
  await call('check_candidate');
  await call('apply_candidate', { patch: 'no patch' });
  child.stdin.end();
  assert.equal(await ended, 0);
  return received;
}

/** A reproduction script that looks for the answer, and reproduces whatever it finds. */
const pryingScript = (body: readonly string[]): string =>
  [
    ...['class Pry:', '    fail = staticmethod(print)', 'self = Pry()', ...body],
    'print("Issue reproduced" if self else "Issue resolved")',
    '',
  ].join('\n');

/** The bodies of all requests that a run of a method makes, in their order. */
export async function recordMethod(
  method: string,
  args: readonly string[],
  bodies: readonly (readonly string[])[],
  out: string,
): Promise<string[]> {
  let candidates = 0;
  const server = await fakeModels(({ text }) => {
    if (text.includes('only YES or NO')) return { text: 'It does not.\nNO' };
    const at = candidates++;
    const path = `tests/test_pry_${at}.py`;
    const body = bodies[at % bodies.length] ?? [];
    if (method === 'agentless-tests')
      return { text: `\`\`\`python\n${pryingScript(body)}\`\`\`\n` };
    const lines = source(body, at);
    const patch = method === 'zero-shot' ? unified(path, lines) : custom(path, lines);
    return { text: `These tests look for it.\n\n\`\`\`diff\n${patch}\`\`\`\n` };
  });
  try {
    const model = ['--model', 'openai-compatible/fake', '--base-url', server.url];
    const answer = await cli([
      ...['generate', ...args, '--method', method, ...model, '--out', out],
      // One request at a time, so that each sample is the same in both sessions.
      ...['--concurrency', '1'],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    return server.asked.map(({ body }) => JSON.stringify(body));
  } finally {
    await server.close();
  }
}

/** The bodies of all requests that Agentless makes, each stage of it, in their order. */
export async function recordAgentless(args: readonly string[], out: string): Promise<string[]> {
  let locations = 0;
  const server = await fakeModels(
    (asked) => ({
      text: agentlessAnswer(asked, stageOf(asked) === 'locations' ? locations++ : locations),
    }),
    agentlessVectors,
  );
  try {
    const answer = await cli([
      ...['repair', ...args, '--method', 'agentless', '--model', 'openai-compatible/fake'],
      ...['--embedding-model', 'openai-compatible/fake', '--base-url', server.url, '--out', out],
      ...['--concurrency', '1', '--repair-samples', '2', '--reproduction-samples', '2'],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    return server.asked.map(({ body }) => JSON.stringify(body));
  } finally {
    await server.close();
  }
}

/**
 * The bodies of all requests that a run of `tools` makes, in their order. The model looks for the answer by
 * every tool, and its tests do.
 */
export async function recordTools(
  args: readonly string[],
  bodies: readonly (readonly string[])[],
  out: string,
): Promise<string[]> {
  const call = (name: string, input: object = {}): SaidCall => ({ name, input });
  const script: SaidCall[][] = [
    [call('read_issue'), call('list_files'), call('read_file', { path: 'tallybook/money.py' })],
    ['by_loss', 'test_any_amount', 'takes_no_part', 'allocate', '(('].map((query) =>
      call('search_code', { query, kind: 'regex' }),
    ),
    ['../fixed/tallybook/money.py', '.git/HEAD', '../trees.json'].flatMap((path) => [
      call('read_file', { path }),
      call('run_tests', { tests: [path] }),
    ]),
    [call('no_such_tool'), call('run_tests', { tests: 7 })],
    [call('run_tests', { tests: ['tests'], without_candidate: true })],
    ...bodies.map((body, at) => [
      call('apply_candidate', { patch: unified(`tests/test_pry_${at}.py`, source(body, at)) }),
      call('run_tests'),
      call('list_candidate_tests'),
    ]),
  ];
  const server = await fakeModels((_, number) => {
    const calls = script[number - 1];
    return calls === undefined ? { text: 'Done.' } : { text: 'I look.', calls };
  });
  try {
    const model = ['--model', 'openai-compatible/fake', '--base-url', server.url];
    const answer = await cli([
      ...['generate', ...args, '--method', 'tools', ...model, '--out', out],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    assert.equal(server.asked.length, script.length + 1);
    return server.asked.map(({ body }) => JSON.stringify(body));
  } finally {
    await server.close();
  }
}

/** The bodies of all requests of an agent whose model follows a script, in their order. */
export async function recordScript(
  method: string,
  args: readonly string[],
  script: readonly string[],
  out: string,
): Promise<string[]> {
  const server = await fakeModels((_, number) => ({ text: script[number - 1] ?? '' }));
  try {
    const model = ['--model', 'openai-compatible/fake', '--base-url', server.url];
    const answer = await cli(['generate', ...args, '--method', method, ...model, '--out', out]);
    assert.equal(answer.status, 0, answer.stderr);
    return server.asked.map(({ body }) => JSON.stringify(body));
  } finally {
    await server.close();
  }
}

export const namedIn = (calls: readonly string[], locations: readonly object[] = []): string =>
  JSON.stringify({ API_calls: calls, relevant_locations: locations });

export const lineEdit = (path: string, original: string, patched: string): string =>
  `<file>${path}</file>\n<original>\n${original}\n</original>\n<patched>\n${patched}\n</patched>\n`;

export const newFileDiff = (path: string, text: string): string =>
  `\`\`\`diff\n--- /dev/null\n+++ ${path}\n@@ ... @@\n${text.replace(/^/gm, '+')}\n\`\`\`\n`;

/**
 * What a scripted model says to the agents that need no shell: format errors, searches for the answer of
 * either instance, failing edits, and at last a test that reproduces the bundled issue.
 */
export const scriptsOfFilesAgents: Readonly<Record<string, readonly string[]>> = {
  autocoderover: [
    'Which code shares an amount out?',
    'I cannot say.',
    namedIn([
      'search_method("allocate")',
      'search_code("by_loss")',
      'search_code("test_")',
      'search_method("test_any_amount_balances")',
      'search_class("AllocatedTest")',
      'search_code_in_file("allocate", "test_money.py")',
      'show_file_start("tests/test_allocated.py")',
      'show_file_start("../fixed/tallybook/money.py")',
      'show_file_start(".git/HEAD")',
    ]),
    'A cent can be lost or made.',
    '',
    'Money.allocate is relevant, and no search is left.',
    namedIn([], [{ file: 'tallybook/money.py', class: 'Money', method: 'allocate' }]),
    lineEdit('tests/test_allocated.py', 'class AllocatedTest:', 'pass'),
    lineEdit(lostCentPath, '', lostCent),
  ],
  aider: [
    '',
    'I need tallybook/money.py, `tests/test_money.py` and tests/test_allocated.py.',
    '```diff\n--- tests/test_allocated.py\n+++ tests/test_allocated.py\n@@ ... @@\n' +
      ' class AllocatedTest(unittest.TestCase):\n-    pass\n+    index = 1\n```\n',
    newFileDiff(lostCentPath, lostCent.replace('(self):', '(self)')),
    '```diff\n--- tests/test_lost_cent.py\n+++ tests/test_lost_cent.py\n@@ ... @@\n' +
      ' class LostCentTest(unittest.TestCase):\n-    def test_no_cent_is_lost(self)\n' +
      '+    def test_no_cent_is_lost(self):\n         parts = Money(2000).allocate([1, 1, 1])\n```\n',
  ],
};
