import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { silent } from '../../src/domain/work';
import { SandboxUnusable } from '../../src/engine/engine';
import {
  WorkspaceFileError,
  type CommandRequest,
  type CommandResult,
  type Workspace,
} from '../../src/engine/sandbox/workspace';
import { onEngine, secret } from '../contract/subjects';
import { containersOf, killWhatRuns } from './dockerForTests';

onEngine('docker', 'a workspace on R', (subject) => {
  let workspace: Workspace;
  const openOne = async (): Promise<Workspace> => {
    const { openWorkspace } = subject().place;
    assert.ok(openWorkspace);
    return openWorkspace({ reporter: silent });
  };
  before(async () => {
    workspace = await openOne();
  });
  after(() => workspace?.dispose());
  beforeEach(() => workspace.reset());

  const run = (command: string, more: Partial<CommandRequest> = {}): Promise<CommandResult> =>
    workspace.run({ command, timeoutSeconds: 120, keptBytes: 20_000, ...more });
  const said = async (command: string): Promise<string> => (await run(command)).output;

  it('keeps folder, variables and functions between commands', async () => {
    const first = await run('cd tests\nPURR="a b"; export LOUD=1\ngreet() { echo "hi $1"; }');
    assert.deepEqual([first.ending, first.exitCode, first.output], ['exited', 0, '']);
    assert.equal(first.cwd, `${workspace.folder}/tests`);
    const second = await run(
      'pwd; echo "$PURR"; greet you; python -c "import os; print(os.environ[\'LOUD\'])"',
    );
    assert.equal(second.output, `${workspace.folder}/tests\na b\nhi you\n1\n`);
    assert.equal((await run('false')).exitCode, 1);
    assert.equal((await run('exit_of() { return 7; }; exit_of')).exitCode, 7);
  });

  it('has R and its modules, and nothing of the fix, no network and no descriptor of the agent', async () => {
    assert.equal(await said('python -c "import cat; print(cat.purr())"'), '1\n');
    assert.equal(
      await said(
        `grep -rln ${secret} . /tmp 2>/dev/null | grep -v '^/tmp/swt/command$'; ls | grep ${secret}`,
      ),
      '',
    );
    assert.equal(await said('git log --oneline | wc -l; git status --porcelain'), '1\n');
    assert.equal(await said('cat /sys/class/net/*/operstate 2>/dev/null | grep -c up'), '0\n');
    assert.equal(await said('id -u | grep -cx 0'), '0\n');
    assert.equal(await said('ls /proc/self/fd | tr "\\n" " "'), '0 1 2 3 ');
    assert.equal(await said('wc -c'), '0\n');
  });

  it('goes on after a command that hangs, with its variables and background processes', async () => {
    await run('KEPT=yes; cd tests; sleep 1000 & echo $! > /tmp/swt/home/pid');
    const hung = await run('echo before; (trap "" TERM INT; sleep 500) & sleep 600', {
      timeoutSeconds: 1,
    });
    assert.equal(hung.ending, 'timed out');
    assert.equal(hung.output, 'before\n');
    assert.equal(hung.exitCode, 137);
    const after = await run(
      `echo $KEPT; kill -0 $(cat ~/pid) && echo alive; ${sleeping(500)}; ${sleeping(600)}`,
    );
    assert.equal(after.output, 'yes\nalive\n');
    assert.match(await said(sleeping(1000)), /^\/proc\/\d+\/cmdline\n$/);
    assert.equal(after.cwd, `${workspace.folder}/tests`);
  });

  it('gets a new shell in the same folder after a command that ends its shell', async () => {
    await run('LOST=1; cd tests');
    for (const end of ['exit 3', 'kill -9 $$', 'exec true']) {
      const ended = await run(end);
      assert.equal(ended.ending, 'shell ended', end);
      const next = await run('echo "[$LOST]"; pwd');
      assert.equal(next.output, `[]\n${workspace.folder}/tests\n`, end);
    }
    await run('mkdir gone; cd gone');
    await run('rmdir ../gone; exit');
    assert.equal(await said('pwd'), `${workspace.folder}\n`);
  });

  it('takes commands as they are: quotes, here-documents, syntax errors, bytes, no line end', async () => {
    assert.equal(
      await said("cat <<'EOF'\na $HOME `b` \\ \"c\" 'd'\nEOF"),
      'a $HOME `b` \\ "c" \'d\'\n',
    );
    assert.equal(await said('printf "%s" "é ∘ 😺"'), 'é ∘ 😺');
    const wrong = await run('if true; then echo (');
    assert.match(wrong.output, /syntax error/);
    assert.notEqual(wrong.exitCode, 0);
    assert.equal(await said('echo still here'), 'still here\n');
    assert.equal((await run('# nothing')).exitCode, 0);
    assert.equal(await said('echo to stderr >&2'), 'to stderr\n');
  });

  it('keeps the first and the last of 60 MB of output, and stops at more', async () => {
    const much = await run('echo first; head -c 60000000 /dev/zero | tr "\\0" x; echo; echo last');
    assert.equal(much.ending, 'exited');
    assert.ok(much.output.length < 25_000);
    assert.match(
      much.output,
      /^first\nx+\n\[\.\.\. \d+ bytes of output omitted \.\.\.\]\nx+\nlast\n$/,
    );
    const endless = await run('yes');
    assert.equal(endless.ending, 'too much output');
    assert.equal(await said('echo on'), 'on\n');
  });

  it('ends a command when it is cancelled', async () => {
    const cancelling = new AbortController();
    const running = run('sleep 900', { signal: cancelling.signal });
    cancelling.abort();
    assert.equal((await running).ending, 'cancelled');
    assert.equal(await said(sleeping(900)), '');
  });

  it('keeps to the limit of the disk', async () => {
    const full = await run('head -c 3000000000 /dev/zero > big; echo $?');
    assert.ok(full.ending === 'disk full' || !full.output.endsWith('0\n'), full.output);
    await run('rm -f big');
    assert.equal(await said('echo on'), 'on\n');
  });

  it('reads and writes files, and says why not', async () => {
    await workspace.write('new/deep/a b.py', Buffer.from('x = 1\r\n'));
    assert.equal(await said('cat "new/deep/a b.py"'), 'x = 1\r\n');
    assert.equal((await workspace.read('new/deep/a b.py')).toString(), 'x = 1\r\n');
    assert.equal(
      (await workspace.read(`${workspace.folder}/new/deep/a b.py`, 3)).toString(),
      'x =',
    );
    await run('mkfifo pipe; ln -s /etc/shadow shadow');
    for (const path of ['absent.py', 'tests', 'pipe', 'shadow']) {
      await assert.rejects(workspace.read(path), WorkspaceFileError, path);
    }
    await assert.rejects(workspace.write('/etc/passwd', Buffer.from('x')), WorkspaceFileError);
    await assert.rejects(workspace.write('/swt/agent/x.py', Buffer.from('x')), WorkspaceFileError);
    await assert.rejects(workspace.write('cat.py/x', Buffer.from('x')), WorkspaceFileError);
  });

  it('has a home that files can be written to before anything runs there', async () => {
    await workspace.write(`${workspace.home}/.agent/settings.json`, Buffer.from('{}'));
    assert.equal(await said('echo $HOME; cat ~/.agent/settings.json'), `${workspace.home}\n{}`);
    assert.deepEqual((await workspace.changes()).changed, new Map());
  });

  it('gives a program an input and an output that an event loop can tell apart', async () => {
    const echo = `
import asyncio, sys
async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    writing, _ = await loop.connect_write_pipe(asyncio.Protocol, sys.stdout)
    while line := await reader.readline():
        await asyncio.sleep(0)
        writing.write(line.upper())
asyncio.run(main())`;
    const { stdio, done } = await workspace.start({
      argv: ['python', '-c', echo],
      env: {},
      timeoutSeconds: 60,
      keptBytes: 1000,
      end: new AbortController().signal,
    });
    const heard: string[] = [];
    const lines = createInterface({ input: stdio })[Symbol.asyncIterator]();
    for (const word of ['', 'one', 'two']) {
      if (word !== '') stdio.write(`${word}\n`);
      heard.push(String((await lines.next()).value));
    }
    stdio.end();
    assert.deepEqual(heard, ['', 'ONE', 'TWO']);
    assert.equal((await done).exitCode, 0);
  });

  it('tells what differs from R, new and removed files included, and puts R back', async () => {
    assert.deepEqual(await workspace.changes(), {
      changed: new Map(),
      removed: [],
      leftOut: new Map(),
    });
    await run(
      'echo "y = 2" >> cat.py; rm gone.txt; mkdir -p tests/new; echo "def test(): pass" > tests/new/test_x.py; ' +
        'touch dos.txt; ln -s cat.py other.py; head -c 9000000 /dev/zero > big; python -c "import cat"; git add -A; git commit -qm x',
    );
    const { changed, removed, leftOut } = await workspace.changes();
    const lines = (path: string): string | undefined =>
      changed.get(path)?.toString().split('\n').slice(-3).join('|');
    assert.equal(lines('cat.py'), '    return 1|y = 2|');
    assert.equal(lines('tests/new/test_x.py'), 'def test(): pass|');
    assert.ok([...changed.keys()].every((path) => !path.startsWith('.git')));
    assert.deepEqual(removed, ['gone.txt']);
    assert.deepEqual([...leftOut.keys()].sort(), ['big', 'other.py']);
    await workspace.reset();
    assert.deepEqual(await workspace.changes(), {
      changed: new Map(),
      removed: [],
      leftOut: new Map(),
    });
    assert.equal(await said('git log --oneline | wc -l; git status --porcelain; ls ~'), '1\n');
  });

  it('is gone when its container is killed, and another one can be opened', async () => {
    const other = await openOne();
    const names = await containersOf(subject().instance.id);
    assert.equal(names.length, 2);
    const running = assert.rejects(run('sleep 900'), SandboxUnusable);
    await killWhatRuns(subject().instance.id, 'sleep 900');
    await running;
    await assert.rejects(run('echo'), SandboxUnusable);
    assert.equal(
      (await other.run({ command: 'echo a', timeoutSeconds: 60, keptBytes: 100 })).output,
      'a\n',
    );
    await other.dispose();
    await workspace.dispose();
    workspace = await openOne();
  });
});

/** Lists the processes that sleep for so many seconds; images have no `pgrep`. */
const sleeping = (seconds: number): string =>
  `grep -lxzs ${seconds} /proc/[0-9]*/cmdline | xargs -r grep -lxzs sleep`;
