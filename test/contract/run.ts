import { execFileSync } from 'node:child_process';
import type { RunRecord, RunRequest, Sandbox } from '../../src/engine/engine';
import type { TestPlan } from '../../src/engine/runners/testPlan';

/** Arguments of the interpreter as a plan. */
export const planOf = (...args: string[]): TestPlan => ({
  ...{ runner: 'script', args, env: {}, cwd: '.', files: [], notRun: [] },
});

/** Runs Python code in a sandbox, at the top of its tree. */
export const runCode = (
  sandbox: Sandbox,
  code: string,
  more: Partial<RunRequest> = {},
): Promise<RunRecord> =>
  sandbox.run({ plan: planOf('-c', code), countLines: new Map(), timeoutSeconds: 60, ...more });

/** The value that Python code prints as JSON on its last line. */
export async function ask<T>(sandbox: Sandbox, code: string): Promise<T> {
  const record = await runCode(sandbox, code);
  if (record.ending !== 'exited' || record.exitCode !== 0) {
    throw new Error(`${record.ending}, ${record.exitCode}: ${record.log}`);
  }
  return JSON.parse(record.log.trim().split('\n').at(-1) ?? '') as T;
}

/** Ids of processes, as seen from a sandbox, whose command line or environment contains a word. */
export const processesWith = (sandbox: Sandbox, word: string): Promise<string[]> =>
  ask(
    sandbox,
    `
import json, os
word = ${JSON.stringify([...word].reverse().join(''))}[::-1].encode()
found = []
for name in os.listdir('/proc'):
    if name.isdigit() and int(name) != os.getpid():
        try:
            if word in open('/proc/%s/cmdline' % name, 'rb').read():
                found.append(name)
        except OSError:
            pass
print(json.dumps(found))
`,
  );

/** Path to `mode content` of everything in a tree of a sandbox but compiled files, paths in Latin-1. */
export async function treeIn(sandbox: Sandbox): Promise<Record<string, string>> {
  const tree = await ask<Record<string, string>>(
    sandbox,
    `
import hashlib, json, os
found = {}
for folder, folders, names in os.walk(b'.'):
    for name in list(folders):
        if name in (b'.git', b'__pycache__') or name.endswith(b'.egg-info'):
            folders.remove(name)
    for name in names + [each for each in folders if os.path.islink(os.path.join(folder, each))]:
        path = os.path.join(folder, name)
        if os.path.islink(path):
            mode, content = '120000', os.readlink(path)
        elif not os.path.isfile(path):
            mode, content = 'neither file nor folder', b''
        else:
            mode = '100755' if os.stat(path).st_mode & 0o100 else '100644'
            content = open(path, 'rb').read()
        blob = hashlib.sha1(b'blob %d\\0' % len(content) + content).hexdigest()
        found[path[2:].decode('latin-1')] = mode + ' ' + blob
print(json.dumps(found))
`,
  );
  return Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same for a tree on this machine, with edits to it, as git stores it. */
export function treeOf(folder: string, revision = 'HEAD'): Record<string, string> {
  const listed = execFileSync('git', ['-C', folder, 'ls-tree', '-r', '-z', revision], {
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  }).toString('latin1');
  const entries = listed
    .split('\0')
    .filter((line) => line !== '')
    .map((line): [string, string] => {
      const [info = '', path = ''] = line.split('\t');
      const [mode, , id] = info.split(' ');
      return [path, `${mode} ${id}`];
    });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
