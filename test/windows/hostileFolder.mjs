// A folder in which everything that is executed, opened or requested leaves a trace.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import path from 'node:path';

/**
 * A server that records its requests, in `requests` of the canary folder, and answers with a
 * dataset.
 * @param {string} dataset file
 * @param {string} canary folder, which is made
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function listenForRequests(dataset, canary) {
  mkdirSync(canary, { recursive: true });
  const server = http.createServer((request, response) => {
    appendFileSync(path.join(canary, 'requests'), `${request.method} ${request.url}\n`);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.end(readFileSync(dataset));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Makes the workspace of an instance hostile. It covers everything that git runs because of a
 * repository's own configuration, attributes, hooks, nested repositories and lazy fetches: each
 * writes a file `git-…` to the canary folder. What Python runs writes `python-…`, and what settings
 * name writes `setting-…`. Addresses in marker and settings are that of the listener.
 * @param {string} folder a git work tree with at least one commit
 * @param {{ canary: string, listener?: string, source?: string }} options `source` for the
 *   marker, to be used once the folder is trusted
 */
export function makeHostile(folder, { canary, listener, source }) {
  mkdirSync(canary, { recursive: true });
  const at = (...parts) => path.join(folder, ...parts);
  const write = (file, content, mode) => {
    mkdirSync(path.dirname(at(file)), { recursive: true });
    rmSync(at(file), { force: true });
    writeFileSync(at(file), content);
    if (mode) chmodSync(at(file), mode);
  };
  const program = (name, and = 'cat') => {
    const file = path.join(canary, '..', `${path.basename(canary)}-programs`, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\necho "$0 $*" >> '${path.join(canary, name)}'\n${and}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const git = (cwd, ...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      cwd,
      stdio: 'pipe',
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    });

  /** Every key of a configuration that names a program. */
  const configuration = (where) => {
    const named = (what, and) => program(`git-${what}-${where}`, and);
    const one = (key, what = key, and = 'false') => `\t${key} = ${named(what, and)}\n`;
    return [
      '[core]\n',
      ...['fsmonitor', 'sshCommand', 'pager', 'editor', 'askPass', 'gitProxy'].map((key) =>
        one(key),
      ),
      `\talternateRefsCommand = ${named('alternateRefs', ':')}\n`,
      `\thooksPath = ${hooks(where)}\n\tbare = false\n`,
      `[diff]\n\texternal = ${named('externalDiff', ':')}\n`,
      `[diff "evil"]\n\ttextconv = ${named('textconv')}\n\tcommand = ${named('diffCommand', ':')}\n`,
      '[filter "evil"]\n',
      `\tclean = ${named('clean')}\n\tsmudge = ${named('smudge')}\n\trequired = true\n`,
      `[filter "lasting"]\n\tprocess = ${named('process', 'false')}\n\tclean = ${named('cleaner')}\n`,
      `[merge "evil"]\n\tdriver = ${named('merge', ':')}\n`,
      `[credential]\n\thelper = ${named('credential', ':')}\n`,
      `[gpg]\n\tprogram = ${named('gpg')}\n[commit]\n\tgpgSign = true\n`,
      `[uploadpack]\n\tpackObjectsHook = ${named('packObjects', ':')}\n`,
      `[interactive]\n\tdiffFilter = ${named('diffFilter')}\n`,
      ...['add', 'diff', 'ls-tree', 'rev-parse', 'status', 'cat-file', 'read-tree'].map(
        (name) => `[alias]\n\t${name} = !${named(`alias-${name}`, ':')}\n`,
      ),
      // A partial clone fetches missing objects, from the address and with the program in its
      // configuration.
      '[remote "origin"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n',
      `\turl = ${named('remote', 'false')}\n\tuploadpack = ${named('uploadpack', 'false')}\n`,
      '[extensions]\n\tpartialClone = origin\n',
      '[submodule]\n\trecurse = true\n[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n',
      `[include]\n\tpath = ${at('.evil.gitconfig')}\n`,
    ].join('');
  };
  const hooks = (where) => {
    const place = path.join(canary, '..', `${path.basename(canary)}-hooks-${where}`);
    mkdirSync(place, { recursive: true });
    for (const name of hookNames) {
      writeFileSync(
        path.join(place, name),
        `#!/bin/sh\ntouch '${path.join(canary, `git-hook-${name}-${where}`)}'\n`,
        { mode: 0o755 },
      );
    }
    return place;
  };

  // Edits of the author, so that there are changes to show.
  const attributes = '*.py filter=evil diff=evil merge=evil\n*.cfg filter=lasting\n';
  write('.gitattributes', attributes);
  write('tests/test_evil.py', 'def test_evil():\n    assert True\n');
  write('evil.cfg', 'x\n');
  write('.evil.gitconfig', `[core]\n\tfsmonitor = ${program('git-fsmonitor-included', 'false')}\n`);

  // A bare repository among the files, one beside it whose `.git` points there, and one with its
  // own.
  for (const name of ['nested', 'inner']) {
    git(folder, 'init', '-q', ...(name === 'nested' ? ['--bare'] : []), name);
  }
  write('inner/a.py', 'x\n');
  git(at('inner'), 'add', '-A');
  git(at('inner'), 'commit', '-q', '-m', 'x');
  git(at('inner'), 'push', '-q', at('nested'), 'HEAD:refs/heads/R');
  write('nested/HEAD', 'ref: refs/heads/R\n');
  write('inner/.gitattributes', attributes);
  write('inner/a.py', 'edited\n');
  write('beside/.git', `gitdir: ${at('nested')}\n`);
  write('beside/a.py', 'x\n');
  write('nested/config', `[core]\n\trepositoryformatversion = 1\n${configuration('nested')}`);
  write('inner/.git/config', `[core]\n\trepositoryformatversion = 1\n${configuration('inner')}`);

  // The repository of the folder itself comes last: from here on our own git calls would run it.
  write('.git/info/attributes', attributes);
  write('.git/config', `[core]\n\trepositoryformatversion = 1\n${configuration('workspace')}`);
  for (const name of hookNames) {
    const hook = `#!/bin/sh\ntouch '${path.join(canary, `git-hook-${name}-own`)}'\n`;
    write(`.git/hooks/${name}`, hook, 0o755);
  }
  // With the file times in git's index, git would not need to filter the files.
  rmSync(at('.git', 'index'), { force: true });

  // Python loads these wherever it starts here.
  const python = (name) => `open(${JSON.stringify(path.join(canary, name))}, 'a').close()\n`;
  for (const [file, name] of [
    ['sitecustomize.py', 'python-sitecustomize'],
    ['usercustomize.py', 'python-usercustomize'],
    ['json.py', 'python-json'],
    ['conftest.py', 'python-conftest'],
    ['tests/conftest.py', 'python-conftest-tests'],
  ]) {
    write(file, python(name));
  }

  const executable = program('setting-python', 'exec python3 "$@"');
  const docker = program('setting-devcontainer', ':');
  write('.devcontainer/devcontainer.json', JSON.stringify({ initializeCommand: docker }));
  if (listener === undefined) return;
  const settings = {
    'swt-bench.python': executable,
    'swt-bench.dataset': `${listener}/setting-dataset.jsonl`,
    'swt-bench.triageFile': at('nested', 'triage.json'),
    'swt-bench.repositorySources': { '*': at('nested') },
    'swt-bench.filterLists': { evil: `${listener}/setting-filter.txt` },
    'swt-bench.storageFolder': at('stolen-storage'),
    'swt-bench.docker.host': listener.replace('http:', 'tcp:'),
    'swt-bench.models': [
      { name: 'evil', provider: 'openai', model: 'evil', baseUrl: `${listener}/setting-model` },
    ],
  };
  write('.vscode/settings.json', JSON.stringify(settings, null, 2));
  const marker = JSON.parse(readFileSync(at('.swt-bench', 'instance.json'), 'utf8'));
  const hostile = { ...marker, dataset: `${listener}/marker-dataset.jsonl`, sources: [source] };
  write('.swt-bench/instance.json', JSON.stringify(hostile));
}

/**
 * Makes a repository in `repository` with a link in place of the marker's folder, and a dataset
 * `rows.jsonl` with an instance of it, `octo__linked-1`. The link leads to `elsewhere`.
 * @param {string} folder
 */
export function makeLinked(folder) {
  const elsewhere = path.join(folder, 'elsewhere');
  const repository = path.join(folder, 'repository');
  for (const each of [elsewhere, repository]) mkdirSync(each, { recursive: true });
  writeFileSync(path.join(elsewhere, 'instance.json'), 'precious\n');
  writeFileSync(path.join(repository, 'a.py'), 'a = 1\n');
  symlinkSync(elsewhere, path.join(repository, '.swt-bench'));
  const added = (name) =>
    `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`;
  const row = {
    ...{ instance_id: 'octo__linked-1', repo: 'octo/linked', base_commit: 'abcdef0' },
    ...{ problem_statement: 'x', patch: added('fixed.py'), test_patch: added('test_x.py') },
  };
  writeFileSync(path.join(folder, 'rows.jsonl'), JSON.stringify(row));
}

const hookNames = [
  ...['post-index-change', 'fsmonitor-watchman', 'post-checkout', 'pre-commit', 'post-commit'],
  ...['prepare-commit-msg', 'commit-msg', 'reference-transaction', 'pre-auto-gc', 'post-rewrite'],
  ...['applypatch-msg', 'pre-applypatch', 'post-applypatch', 'p4-pre-submit', 'sendemail-validate'],
];
