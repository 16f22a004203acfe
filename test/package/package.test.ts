import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import manifest from '../../package.json';
import texts from '../../package.nls.json';
import { issueViewType } from '../../src/editor/issue/viewType';
import { dockerSettingKeys } from '../../src/editor/shell/settingNames/dockerSettingKeys';
import {
  candidateCommandIds,
  fixCommandIds,
  commandIds,
  contextKeys,
  coverageCommandIds,
  customDiffCommandIds,
  customDiffLanguage,
  dashboardViewType,
  trajectoryViewType,
  inlineCommandIds,
  listCommandIds,
  modelCommandIds,
  runCommandIds,
  scheme,
  settingKeys,
  viewIds,
  walkthrough,
} from '../../src/editor/shell/names';
import {
  kubernetesSettingId,
  kubernetesSettingNames,
} from '../../src/engine/kubernetes/kubernetesSettings';
import { root } from '../commandLine/cli';

/** The files that users install, and no others. `media/sample` holds the bundled instance. */
const allowed = [
  /^package(\.nls)?\.json$/,
  /^(README\.md|readme\.md|LICENSE(\.txt|\.md)?|CHANGELOG\.md|changelog\.md)$/i,
  /^dist\/(extension|parts|server|cli)\.js$/,
  /^dist\/(acp|ai(-anthropic|-google|-openai)?|tokenizer|kubernetes)\.js$/,
  /^dist\/(dashboard|trajectory)\.(js|css)$/,
  /^dist\/tree-sitter(-python)?\.wasm$/,
  /^dist\/(tracer|agent)\/\w+\.py$/,
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

describe('the packaged extension', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-vsix-'));
    execFileSync(process.execPath, ['esbuild.js', '--production'], { cwd: root });
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    execFileSync(process.execPath, ['esbuild.js'], { cwd: root });
  });

  it('holds what is needed and nothing else, in less than 4.5 MB', async () => {
    const vsix = join(folder, 'extension.vsix');
    await createVSIX({ cwd: root, packagePath: vsix, dependencies: false });
    const { size } = await stat(vsix);
    assert.ok(size < 4.5 * 1024 * 1024, `${size} bytes`);
    // Only this file loads when a window starts; the rest loads on demand.
    const start = (await stat(join(root, 'dist', 'extension.js'))).size;
    assert.ok(start < 64 * 1024, `dist/extension.js: ${start} bytes`);

    const files = readZip(vsix)
      .filter((name) => name.startsWith('extension/') && !name.endsWith('/'))
      .map((name) => name.slice('extension/'.length));
    console.log(`      ${files.length} files, ${(size / 1024 / 1024).toFixed(2)} MB`);
    assert.deepEqual(
      files.filter((name) => !allowed.some((pattern) => pattern.test(name))),
      [],
      'files that nobody needs',
    );
    const python = async (folder: string): Promise<string[]> =>
      (await readdir(join(root, 'src/engine', folder)))
        .filter((name) => name.endsWith('.py'))
        .map((name) => `dist/${folder}/${name}`);
    for (const needed of [
      'dist/extension.js',
      'dist/parts.js',
      'dist/cli.js',
      'dist/server.js',
      'dist/dashboard.js',
      'dist/dashboard.css',
      'dist/trajectory.js',
      'dist/trajectory.css',
      'dist/tree-sitter.wasm',
      'dist/tree-sitter-python.wasm',
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
      ...(await python('tracer')),
      ...(await python('agent')),
    ]) {
      assert.ok(files.includes(needed), `${needed} is missing`);
    }
  });
});

describe('package.json and the code', () => {
  it('name the same commands', () => {
    assert.deepEqual(
      contributes.commands.map((each) => each.command).sort(),
      [
        commandIds,
        inlineCommandIds,
        coverageCommandIds,
        listCommandIds,
        runCommandIds,
        customDiffCommandIds,
        candidateCommandIds,
        fixCommandIds,
        modelCommandIds,
      ]
        .flatMap((ids) => Object.values(ids))
        .sort(),
    );
  });
  it('name the same settings, with defaults and descriptions', () => {
    const properties = Object.fromEntries(
      contributes.configuration.flatMap((group) => Object.entries<object>(group.properties)),
    );
    assert.deepEqual(
      Object.keys(properties).sort(),
      [
        ...Object.values(settingKeys),
        ...Object.values(dockerSettingKeys),
        ...kubernetesSettingNames.map(kubernetesSettingId),
      ].sort(),
    );
    for (const setting of Object.values(properties)) {
      assert.ok('default' in setting);
      assert.ok('description' in setting || 'markdownDescription' in setting);
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
    const own = new Set(contributes.commands.map((each) => each.command));
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
      contributes.commands.map((each) => ('enablement' in each ? each.enablement : '')),
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
  it('show every command in the palette, or say why not', () => {
    const palette = new Map(
      contributes.menus.commandPalette.map((each) => [each.command, each.when]),
    );
    for (const each of contributes.commands) {
      // Commands that need an instance are not offered without one.
      if ('enablement' in each) assert.ok(palette.has(each.command), each.command);
    }
    assert.deepEqual(
      [...palette].filter(([, when]) => when === 'false').map(([id]) => id),
      // Commands of a click on a row, of a link, and of a button on a row of results of code repair.
      [
        coverageCommandIds.openLine,
        commandIds.openSetting,
        runCommandIds.removeRepairs,
        fixCommandIds.openPlace,
      ],
    );
  });
  it('give no key to two commands', () => {
    const keys = contributes.keybindings.map((each) => each.key);
    assert.equal(new Set(keys).size, keys.length);
  });
  it('name what wakes the extension alike: the file of a workspace, kept panels, custom diffs', () => {
    const source = readFileSync(join(root, 'src/repository/marker.ts'), 'utf8');
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

/** Names in a zip file's central directory (APPNOTE.TXT 4.3.12). */
function readZip(path: string): string[] {
  const data = readFileSync(path);
  const end = data.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  const count = data.readUInt16LE(end + 10);
  let at = data.readUInt32LE(end + 16);
  const names: string[] = [];
  for (let index = 0; index < count; index++) {
    const length = data.readUInt16LE(at + 28);
    names.push(data.toString('utf8', at + 46, at + 46 + length));
    at += 46 + length + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
  }
  return names;
}
