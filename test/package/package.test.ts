import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inflateRawSync } from 'node:zlib';
import launch from '../../.vscode/launch.json';
import { tasks } from '../../.vscode/tasks.json';
import manifest from '../../package.json';
import texts from '../../package.nls.json';
import {
  commandIds,
  contextKeys,
  coverageCommandIds,
  customDiffCommandIds,
  customDiffLanguage,
  dashboardViewType,
  generatedCommandIds,
  inlineCommandIds,
  internalCommandIds,
  issueViewType,
  listCommandIds,
  runCommandIds,
  scheme,
  settingKeys,
  settingObjects,
  trajectoryViewType,
  viewIds,
  walkthrough,
} from '../../src/editor/shell/names';
import { written } from '../../src/editor/manifest/write';
import { settingGroups } from '../../src/engine/engines';
import type * as Cli from '../../src/cli';
import { root } from '../commandLine/cli';

const requireFrom = createRequire(__filename);
const host = import(
  pathToFileURL(join(root, 'test', 'windows', 'host', 'packageExtension.mjs')).href
) as Promise<{ packageExtension(folder: string, vsix: string): Promise<void> }>;

/** The files that users install, and no others. `media/sample` holds the bundled instance. */
const allowed = [
  /^package(\.nls)?\.json$/,
  /^(README\.md|readme\.md|LICENSE(\.txt|\.md)?|CHANGELOG\.md|changelog\.md)$/i,
  /^dist\//,
  /^media\/(icon\.png|activity\.svg|issue\.(css|js)|gutter\/[\w-]+\.svg)$/,
  /^media\/agents\/[\w-]+\.agent\.md$/,
  /^media\/dashboard-(light|dark)\.svg$/,
  /^media\/schema\/[\w.]+\.json$/,
  /^media\/language\/custom-diff-(light|dark)\.svg$/,
  /^media\/walkthrough\/\w+\.(md|svg)$/,
  /^syntaxes\/[\w.-]+\.json$/,
  /^media\/sample\/(README\.md|instance\.jsonl|predictions\.jsonl|expected\.json)$/,
  /^media\/sample\/repository\/(README\.md|pyproject\.toml|(tallybook|tests)\/\w+\.py)$/,
];

const { contributes } = manifest;

/** Scripts of pages, which are inlined into them. */
const pages = ['dashboard.js', 'trajectory.js'];

describe('the packaged extension', () => {
  let folder: string;
  /** Everything that the production build makes, as paths in the package. */
  let built: string[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-vsix-'));
    execFileSync(process.execPath, ['esbuild.js', '--production'], { cwd: root });
    built = await filesIn(join(root, 'dist'), 'dist');
    const vsix = join(folder, 'extension.vsix');
    await (await host).packageExtension(root, vsix);
    await unzip(vsix, folder);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('holds what the build makes, what package.json names, and nothing else, in less than 5.5 MB', async () => {
    const { size } = await stat(join(folder, 'extension.vsix'));
    assert.ok(size < 5.5 * 1024 * 1024, `${size} bytes`);
    // Only this file loads when a window starts; the rest loads on demand.
    const start = (await stat(join(folder, 'extension/dist/extension.js'))).size;
    assert.ok(start < 64 * 1024, `dist/extension.js: ${start} bytes`);

    const files = await filesIn(join(folder, 'extension'), '');
    console.log(`      ${files.length} files, ${(size / 1024 / 1024).toFixed(2)} MB`);
    assert.deepEqual(
      files.filter((name) => !allowed.some((pattern) => pattern.test(name))),
      [],
      'files that nobody needs',
    );
    assert.deepEqual(files.filter((name) => name.startsWith('dist/')).sort(), built.sort());
    for (const needed of [
      ...contributes.chatAgents.map((each) => each.path.slice('./'.length)),
      ...contributes.grammars.map((each) => each.path.slice('./'.length)),
      ...contributes.languages.flatMap((each) => [
        each.configuration.slice('./'.length),
        ...Object.values(each.icon),
      ]),
      'package.nls.json',
      ...contributes.walkthroughs.flatMap((each) => [
        each.icon,
        ...each.steps.map(({ media }) => ('svg' in media ? media.svg : media.markdown)),
      ]),
      'media/issue.css',
      'media/issue.js',
      'media/sample/repository/tallybook/money.py',
    ]) {
      assert.ok(files.includes(needed), `${needed} is missing`);
    }
  });

  /** The files of `dist` that a program ever loads. */
  async function loadedBy(program: string): Promise<Set<string>> {
    const found = new Set([program]);
    for (const name of found) {
      const code = await readFile(join(folder, 'extension/dist', name), 'utf8');
      const loads = code.matchAll(/(?:require|import)\("\.\/([\w-]+\.js)"\)/g);
      for (const [, to = ''] of loads) found.add(to);
    }
    return found;
  }

  it('has every file that another loads, and no more', async () => {
    const programs = await Promise.all(['extension.js', 'cli.js', 'server.js'].map(loadedBy));
    const loaded = new Set([...programs.flatMap((names) => [...names]), ...pages]);
    const built = (await readdir(join(folder, 'extension/dist'))).filter((name) =>
      /\.js$/.test(name),
    );
    assert.deepEqual([...loaded].sort(), built.sort());
    const [, ofCommandLine = []] = programs;
    const script = [...ofCommandLine].map((name) => `require('./${name}');`).join('');
    execFileSync(process.execPath, ['-e', script], { cwd: join(folder, 'extension/dist') });
  });

  it('runs every command and engine', async () => {
    const { runCommandLine } = requireFrom(join(folder, 'extension/dist/cli.js')) as typeof Cli;
    const run = async (...args: string[]) => {
      let stdout = '';
      let stderr = '';
      const status = await runCommandLine(args, {
        stdout: (text) => (stdout += text),
        stderr: (text) => (stderr += text),
        stdin: async () => Buffer.from(''),
        interactive: false,
        signal: new AbortController().signal,
      });
      return { status, stdout, stderr };
    };
    const [storage, out] = [join(folder, 'storage'), join(folder, 'out')];
    const bundled = ['--dataset', 'bundled', '--storage', storage];
    const id = 'tallybook__tallybook-217';
    const golden = ['evaluate', ...bundled, '--predictions', 'gold', '--out', out];
    const nobody = ['--base-url', 'http://127.0.0.1:45', '--retries', '0'];
    const asking = (model: string, file: string) => [
      ...[...bundled, '--model', model, ...nobody, '--out', join(folder, file)],
    ];
    const [log, patch] = [join(folder, 'test.log'), join(folder, 'empty.diff')];
    await writeFile(log, 'PASSED tests/test_a.py::test_a\n');
    await writeFile(patch, '');
    /** Arguments, exit status, and what is printed; the status of a missing server is negative. */
    const uses: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['instances', '--dataset', 'bundled'], 0, /tallybook/],
      [['show', id, '--dataset', 'bundled'], 0, /./],
      [['open', id, ...bundled, '--out', join(folder, 'tree')], 0, /./],
      [
        ['evaluate', '--engine', 'local', ...golden.slice(1), '--run-id', 'here'],
        0,
        /success|✓|100/,
      ],
      [[...golden, '--engine', 'docker', '--docker-host', 'tcp://127.0.0.1:9'], 2, /Docker/],
      [[...golden, '--engine', 'kubernetes', '--kube-context', 'none'], 2, /kubeconfig/],
      [['report', out, '--format', 'html'], 0, /<html/],
      [['shards', '--slurm', '2', ...golden], 0, /#SBATCH/],
      [['merge', out, '--out', join(folder, 'merged')], 2, /No shard/],
      [['check', patch, '--id', id, ...bundled], 1, /./],
      [['mutants', '--id', 'none', ...bundled], 2, /none/],
      [['filter-repairs', '--help'], 0, /./],
      [['generate', '--method', 'zero-shot', ...asking('openai/m', 'a.jsonl')], 1, /refused/i],
      [['generate', '--method', 'zero-shot', ...asking('anthropic/m', 'b.jsonl')], 1, /refused/i],
      [['generate', '--method', 'zero-shot', ...asking('google/m', 'c.jsonl')], 1, /refused/i],
      [['repair', '--method', 'rag', ...asking('openai-compatible/m', 'd.jsonl')], 1, /refused/i],
      [['trajectory', join(folder, 'none.traj')], 2, /none\.traj/],
      [['mcp', '--id', id, ...bundled], 0, /serving/],
      [['validate', 'none', ...bundled], 2, /none/],
      [['export', '--format', 'inspect', ...bundled, '--out', join(folder, 'tasks')], 0, /./],
      [['config', 'show'], 0, /agentless/],
      [['completion', 'bash'], 0, /swt-bench/],
      [['patch', patch, '--tree', join(folder, 'tree'), '--check'], 1, /./],
      [['parse-log', log, '--repo', 'pallets/flask'], 0, /PASSED/],
      [['statistics', ...bundled.slice(0, 2)], 0, /./],
      [['triage', '--dataset', 'bundled', '--triage', join(folder, 'triage.json')], 0, /./],
      [['agents', 'list'], 0, /claude-code/],
      [['images', 'push', '--to', '127.0.0.1:9/x', '--docker-host', 'tcp://127.0.0.1:9'], 2, /./],
      [['storage', '--storage', storage], 0, /./],
    ];
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY']) {
      process.env[name] ??= 'not a key';
    }
    const help = (await run('--help')).stdout;
    const names = [...help.matchAll(/^ {2}([a-z-]+) .*/gm)].map(([, name]) => name);
    assert.deepEqual(
      names.filter((name) => name !== 'help' && !uses.some(([[of]]) => of === name)),
      [],
      'commands that are not tried',
    );
    const wrong: string[] = [];
    for (const [args, status, printed] of uses) {
      const answer = await run(...args);
      const text = answer.stdout + answer.stderr;
      const isRight =
        answer.status === status && printed.test(text) && !answer.stderr.includes('internal error');
      if (!isRight) wrong.push(`${args.join(' ')} → ${answer.status}\n${text}`);
    }
    assert.deepEqual(wrong, []);
  });
});

describe('the debugger of VS Code', () => {
  /** Also leaves dist/ as the other tests need it, with what the production build left out. */
  it('starts once the task that it waits for has built every bundle', async () => {
    const [extension] = launch.configurations;
    assert.equal(extension?.type, 'extensionHost');
    const task = tasks.find(({ label }) => label === extension.preLaunchTask);
    assert.equal(task?.script, 'watch');
    const { background } = task.problemMatcher;
    const [program = '', ...args] = manifest.scripts.watch.split(' ');
    assert.equal(program, 'node');
    const watching = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: watching.stdout })) {
      lines.push(line);
      if (new RegExp(background.endsPattern).test(line)) break;
    }
    watching.kill();
    assert.match(lines[0] ?? '', new RegExp(background.beginsPattern));
    assert.equal(lines.length, 2, lines.join('\n'));
    await stat(join(root, 'dist/extension.js.map'));
  });
});

describe('package.json and the code', () => {
  it('are what the build writes from the descriptors', () => {
    for (const [name, text] of written(root)) {
      assert.equal(readFileSync(join(root, name), 'utf8'), text, `${name}: run "npm run build"`);
    }
  });
  it('name the same commands', () => {
    const notListed: readonly string[] = [
      ...Object.values(internalCommandIds),
      ...Object.values(inlineCommandIds).filter((id) => id !== inlineCommandIds.showOutputs),
      ...[coverageCommandIds.openLine, generatedCommandIds.openPlace],
    ];
    assert.deepEqual(
      [...contributes.commands.map((each) => each.command), ...notListed].sort(),
      [
        commandIds,
        internalCommandIds,
        inlineCommandIds,
        coverageCommandIds,
        listCommandIds,
        runCommandIds,
        customDiffCommandIds,
        generatedCommandIds,
      ]
        .flatMap((ids) => Object.values(ids))
        .sort(),
    );
  });
  it('name the same settings, with defaults and descriptions', () => {
    const properties = Object.fromEntries(
      contributes.configuration.flatMap((group) => Object.entries<object>(group.properties)),
    );
    const read = [
      ...Object.values<string>(settingKeys),
      ...settingGroups().flatMap(({ all }) => all.map(({ id }) => id)),
    ].map((id) => settingObjects.find((object) => id.startsWith(`${object}.`)) ?? id);
    assert.deepEqual(Object.keys(properties).sort(), [...new Set(read)].sort());
    for (const setting of Object.values(properties)) {
      assert.ok('default' in setting);
      assert.ok('markdownDescription' in setting);
    }
  });
  it('name the same views', () => {
    assert.deepEqual(
      contributes.views['swt-bench'].map((view) => view.id),
      Object.values(viewIds),
    );
  });
  it('name the same walkthrough, whose links lead to commands that there are', () => {
    assert.deepEqual(
      contributes.walkthroughs.map((each) => `${manifest.publisher}.${manifest.name}#${each.id}`),
      [walkthrough],
    );
    const own = new Set<string>([
      ...contributes.commands.map((each) => each.command),
      ...Object.values(internalCommandIds),
    ]);
    const linked = [...JSON.stringify(texts).matchAll(/\(command:(?:toSide:)?([\w.-]+)/g)];
    assert.ok(linked.length > 20);
    const unknown = linked.flatMap(([, id]) =>
      id === undefined || own.has(id) || id.startsWith('workbench.') ? [] : [id],
    );
    assert.deepEqual(unknown, []);
  });
  it('ask for context keys that the code sets', () => {
    const known = new Set<string>([
      ...Object.values(contextKeys),
      ...Object.values(viewIds),
      // Values of VS Code's own activeWebviewPanelId.
      ...[issueViewType, dashboardViewType],
    ]);
    const asked = JSON.stringify([
      contributes.menus,
      contributes.views,
      contributes.viewsWelcome.map((each) => each.when),
      contributes.keybindings.map((each) => each.when),
      contributes.walkthroughs.flatMap((each) => each.steps.map((step) => step.completionEvents)),
    ]).replace(/"(command|id)":"[^"]+"/g, '');
    const unknown = [...asked.matchAll(/swt-bench\.[\w.-]+/g)].map(([key]) => key);
    assert.deepEqual(
      [...new Set(unknown)].filter((key) => !known.has(key)),
      [],
    );
  });
  it('give no key to two commands', () => {
    const keys = contributes.keybindings.map((each) => each.key);
    assert.equal(new Set(keys).size, keys.length);
  });
  it('name what wakes the extension alike: the file of a workspace, kept panels, custom diffs', () => {
    const source = readFileSync(join(root, 'src/repository/workspace.ts'), 'utf8');
    const path = /markerPath = '([^']+)'/.exec(source)?.[1];
    assert.deepEqual(manifest.activationEvents, [
      `workspaceContains:${path}`,
      `onWebviewPanel:${issueViewType}`,
      `onWebviewPanel:${dashboardViewType}`,
      `onWebviewPanel:${trajectoryViewType}`,
      `onFileSystem:${scheme}`,
      // For fences of custom diffs; the extension's own language activates it without an entry.
      'onLanguage:markdown',
    ]);
    assert.deepEqual(
      contributes.languages.map((each) => each.id),
      [customDiffLanguage],
    );
  });
  it('give every command a title and the one category', () => {
    for (const each of contributes.commands) {
      assert.equal(each.category, 'SWT-Bench');
      assert.notEqual(each.title, '');
    }
  });
});

/** Paths of the files below a folder, each behind a prefix. */
async function filesIn(folder: string, prefix: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((each) => each.isFile())
    .map((each) => join(prefix, relative(folder, join(each.parentPath, each.name))));
}

/** Extracts a zip file (APPNOTE.TXT 4.3): names and sizes from its central directory. */
async function unzip(path: string, to: string): Promise<void> {
  const data = await readFile(path);
  const end = data.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  const count = data.readUInt16LE(end + 10);
  let at = data.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    const nameLength = data.readUInt16LE(at + 28);
    const name = data.toString('utf8', at + 46, at + 46 + nameLength);
    const header = data.readUInt32LE(at + 42);
    const start = header + 30 + data.readUInt16LE(header + 26) + data.readUInt16LE(header + 28);
    const content = data.subarray(start, start + data.readUInt32LE(at + 20));
    if (!name.endsWith('/')) {
      await mkdir(dirname(join(to, name)), { recursive: true });
      const isDeflated = data.readUInt16LE(at + 10) === 8;
      await writeFile(join(to, name), isDeflated ? inflateRawSync(content) : content);
    }
    at += 46 + nameLength + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
  }
}
