import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { agentPrograms, nodeRuntime } from '../../src/method/acp/install/agentPrograms';
import { cli, scratch, start } from './cli';

describe('agents', () => {
  const folder = scratch();

  it('lists each with the version that is installed', async () => {
    const { stdout } = await cli(['agents', 'list', '--json']);
    const rows = JSON.parse(stdout) as { readonly name: string; readonly version: string }[];
    assert.deepEqual(
      rows.map(({ name, version }) => [name, version]),
      Object.entries(agentPrograms).map(([name, { version }]) => [name, version]),
    );
    const table = await cli(['agents', 'list']);
    assert.match(table.stdout, /^claude-code +Claude Code +npm @agentclientprotocol/m);
  });

  it('installs with a Node and an npm of known versions, as a whole or not at all', async () => {
    const programs = join(folder.path, 'programs');
    await mkdir(programs);
    const log = join(folder.path, 'asked.txt');
    // Stands for npm, for the npm that it fetches, and for Node, which is given a script.
    const npm = `#!/bin/sh
while [ "$#" -gt 0 ] && [ "$1" != install ]; do shift; done
echo "$*" >> "${log}"
prefix=$3
for each in "$@"; do
  case "$each" in
    *fails*|"$FAILING"*) echo "no such package: $each"; exit 1;;
    node-*@*) name=\${each%@*}; mkdir -p "$prefix/node_modules/$name/bin"; cp "$0" "$prefix/node_modules/$name/bin/node";;
    npm@*) mkdir -p "$prefix/node_modules/npm/bin"; touch "$prefix/node_modules/npm/bin/npm-cli.js";;
  esac
done
`;
    await chmod(await folder.file(join('programs', 'npm'), npm), 0o755);
    const install = (out: string, failing: string) =>
      start(
        ['agents', 'install', 'codex', '--no-check', '--out', join(folder.path, out, 'agent')],
        {
          PATH: [programs, process.env['PATH']].join(delimiter),
          FAILING: failing,
        },
      ).answer;
    for (const out of ['good', 'bad', 'there']) await mkdir(join(folder.path, out));
    const good = await install('good', 'nothing');
    assert.equal(good.status, 0, good.stderr);
    assert.match(good.stdout, /--method acp:codex --agent-program .*agent\n/);
    assert.deepEqual(await readdir(join(folder.path, 'good')), ['agent']);
    assert.deepEqual(await readdir(join(folder.path, 'good', 'agent', 'bin')), ['node']);
    const asked = (await readFile(log, 'utf8')).trim().split('\n');
    const { node, npm: version } = nodeRuntime;
    const codex = agentPrograms['codex'];
    assert.equal(asked.length, 2);
    assert.ok(asked[0]?.endsWith(`@${node} npm@${version}`), asked[0]);
    assert.match(asked[1] ?? '', / --ignore-scripts .*--os linux --cpu /);
    assert.ok(asked[1]?.endsWith(`@${node} ${codex?.package}@${codex?.version}`), asked[1]);

    const bad = await install('bad', codex?.package ?? '');
    assert.equal(bad.status, 2);
    assert.match(bad.stderr, /Installing .*codex-acp 2\S+ failed: [^]*no such package/);
    assert.deepEqual(await readdir(join(folder.path, 'bad')), []);

    await symlink(programs, join(folder.path, 'there', 'agent'));
    const there = await install('there', 'nothing');
    assert.equal(there.status, 2);
    assert.match(there.stderr, /agent already exists\. Remove it/);
    const unknown = await cli(['agents', 'install', 'claude']);
    assert.equal(unknown.status, 2);
    assert.match(unknown.stderr, /There is no agent named claude\. Use one of claude-code, codex/);
  });
});
