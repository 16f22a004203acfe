import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli, sample, type Answer, type Evaluation } from '../commandLine/cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from '../commandLine/fakeModels';
import { jsonLinesOf } from '../commandLine/jsonLinesOf';
import { killedAtEachStep, withoutInputTokens } from '../commandLine/killedAtEachStep';
import { withOtherAnswer } from '../commandLine/otherAnswer';
import { bundledRow, scriptsOfFilesAgents } from '../commandLine/recordedSession';
import {
  baseImage,
  containersOf,
  killWhatRuns,
  needDocker,
  removeImagesOf,
} from './dockerForTests';

/** A line of the trace: an answer or a turn. */
interface Line {
  readonly step: string;
  readonly action?: string;
  readonly observation?: string;
  readonly patch?: string;
  readonly state?: { readonly cwd: string };
  readonly isRestarted?: boolean;
}

/** What a scripted model says, in the order of its calls. */
type Script = readonly string[];

/** A test of the issue: 20.00 shared by three loses a cent. */
const test = `import unittest

from tallybook.money import Money


class LostCentTest(unittest.TestCase):
    def test_no_cent_is_lost(self):
        parts = Money(2000).allocate([1, 1, 1])
        self.assertEqual(sum(part.cents for part in parts), 2000)
`;

/** An answer as an agent gives it. */
const says = (command: string, language = ''): string =>
  `I look at what comes of this.\n\`\`\`${language}\n${command}\n\`\`\``;
const bash = (command: string): string => says(command, 'bash');

describe('agents in containers', () => {
  const id = `tallybook__tallybook-${randomBytes(3).readUIntBE(0, 3)}`;
  let folder = '';
  let models: FakeModels | undefined;
  let count = 0;

  before(async function () {
    await needDocker(this);
    folder = await mkdtemp(join(tmpdir(), 'swt-agents-'));
    const lines = (await readFile(join(sample, 'instance.jsonl'), 'utf8')).trim().split('\n');
    const rows = lines.map((line) => ({ ...(JSON.parse(line) as object), instance_id: id }));
    await writeFile(
      join(folder, 'instance.jsonl'),
      rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    );
  });
  afterEach(async () => {
    await models?.close();
    models = undefined;
  });
  after(async () => {
    if (folder === '') return;
    await removeImagesOf(id);
    await rm(folder, { recursive: true, force: true });
  });

  const args = (method: string, out: string, ...more: string[]): string[] => [
    ...['generate', '--method', method, '--model', 'openai-compatible/m', '--out', out],
    ...['--dataset', join(folder, 'instance.jsonl'), '--source', join(sample, 'repository')],
    ...['--storage', join(folder, 'storage'), '--base-url', models?.url ?? ''],
    ...['--engine', 'docker', '--prebuilt', 'none', '--base-image', baseImage],
    ...['--memory', '512m', ...more],
  ];
  const rowOf = async (out: string): Promise<string> =>
    withoutInputTokens(await readFile(out, 'utf8'));
  const newOut = (): string => join(folder, `out-${count++}`, 'predictions.jsonl');
  const serve = async (reply: (asked: Asked, number: number) => Reply): Promise<void> => {
    models = await fakeModels(reply);
  };
  const play = async (script: Script): Promise<void> =>
    serve((_, number) => ({ text: script[number - 1] ?? 'nothing more' }));
  const linesOf = (out: string): Promise<Line[]> => jsonLinesOf<Line>(`${out}.trace.jsonl`);
  const turnsOf = async (out: string): Promise<Line[]> =>
    (await linesOf(out)).filter(({ step }) => step === 'act');
  const observations = async (out: string): Promise<string[]> =>
    (await turnsOf(out)).map(({ observation }) => observation ?? '');
  const evaluated = async (out: string): Promise<Evaluation['results'][number]> => {
    const answer = await cli([
      ...['evaluate', '--predictions', out, '--json'],
      ...['--dataset', join(folder, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', join(folder, 'storage'), '--engine', 'docker', '--prebuilt', 'none'],
      ...['--base-image', baseImage, '--memory', '512m'],
    ]);
    const [result] = (JSON.parse(answer.stdout) as Evaluation).results;
    assert.ok(result, answer.stderr);
    return result;
  };
  const done = (answer: Answer): void => assert.equal(answer.status, 0, answer.stderr);

  it('SWE-Agent writes a test that reproduces, with format errors, refused edits and a command that hangs', async () => {
    const broken = test.replace('(self):', '(self)');
    await play([
      says('search_dir allocate'),
      'I forget the command.',
      says('open tallybook/money.py 45'),
      says('python'),
      says('scroll_down'),
      says('cd tests && create test_lost_cent.py'),
      says('create test_lost_cent.py'),
      says(`edit 1:1\n${broken}end_of_edit`),
      says(`edit 1:1\n${test}end_of_edit`),
      says('search_file 2000'),
      says('find_file "test_l*.py" ..'),
      says('cd ..; sleep 1000'),
      says('python -m unittest tests.test_lost_cent 2>&1 | tail -3'),
      says('submit'),
    ]);
    const out = newOut();
    done(await cli(args('swe-agent', out)));
    const seen = await observations(out);
    assert.equal(seen.length, 12, 'neither the format error nor the blocked command is a turn');
    const [found, opened, scrolled, both, created, refused, edited, inFile, byName, hung, ran] =
      seen;
    assert.match(
      found ?? '',
      /Found \d+ matches for "allocate" in \/testbed:\n[^]*money\.py \(\d+ matches\)/,
    );
    assert.match(
      opened ?? '',
      /^\[File: \/testbed\/tallybook\/money\.py \(\d+ lines total\)\]\n1:"""Exact/,
    );
    assert.match(
      opened ?? '',
      /\n\(Open file: \/testbed\/tallybook\/money\.py\)\n\(Current directory: \/testbed\)\n\$$/,
    );
    assert.match(scrolled ?? '', /\(94 lines total\)\]\n1:/);
    assert.match(both ?? '', /create: command not found/);
    assert.match(created ?? '', /\[File: \/testbed\/tests\/test_lost_cent\.py \(1 lines total\)\]/);
    assert.match(refused ?? '', /rejected[^]*line 7: E999 SyntaxError[^]*file is unchanged/);
    assert.match(edited ?? '', /9: {8}self\.assertEqual[^]*The file was edited/);
    assert.match(inFile ?? '', /Found 2 matches for "2000"[^]*Line 8:/);
    assert.match(byName ?? '', /Found 2 matches[^]*\/testbed\/tests\/test_lost_cent\.py/);
    assert.match(hung ?? '', /stopped after 25 seconds[^]*\(Current directory: \/testbed\)/);
    assert.match(ran ?? '', /FAILED \(failures=1\)/);
    // The history has the first message and the last five observations in full.
    const last = models?.asked.at(-1)?.text ?? '';
    assert.match(last, /old output omitted: \d+ lines/);
    assert.doesNotMatch(last, /I forget the command/);
    assert.doesNotMatch(last, new RegExp(id.split('-')[1] ?? 'none'));
    const result = await evaluated(out);
    assert.ok(result.strict?.success, JSON.stringify(result.strict));
    assert.equal((await containersOf(id)).length, 0);
  });

  it('mini works with bash alone, sees bounded output, and hands in by its command', async () => {
    const write = `cat > tests/test_lost_cent.py <<'EOF'\n${test}EOF`;
    await play([
      bash('cd tests && LOST=1 && pwd'),
      bash('pwd; echo "[$LOST]"; ls'),
      bash('yes abcdefghi | head -c 100000000'),
      bash('exit 3'),
      bash(write),
      bash(
        'git log --oneline | wc -l; touch junk.pyc; echo "# edited" >> tallybook/money.py; git checkout -q tallybook',
      ),
      'Two:\n```bash\nls\n```\nand\n```bash\nls\n```',
      bash('echo SUBMIT_REPRODUCING_TESTS'),
    ]);
    const out = newOut();
    done(await cli(args('mini', out)));
    const seen = await observations(out);
    assert.equal(seen.length, 7);
    assert.equal(seen[0], '<returncode>0</returncode>\n<output>\n/testbed/tests\n</output>');
    assert.match(seen[1] ?? '', /<output>\n\/testbed\n\[\]\nREADME\.md/);
    assert.match(seen[2] ?? '', /characters omitted/);
    assert.ok((seen[2] ?? '').length < 11_000);
    assert.match(seen[3] ?? '', /<returncode>3</);
    const result = await evaluated(out);
    assert.ok(result.strict?.success, JSON.stringify(result.strict));
    const turns = await turnsOf(out);
    assert.match(turns.at(-1)?.patch ?? '', /^diff --git a\/tests\/test_lost_cent\.py/);
    assert.doesNotMatch(turns.at(-1)?.patch ?? '', /junk|edited/);
  });

  const inWindow = [
    says('cd tests; KEPT=1'),
    says('create test_lost_cent.py'),
    says(`edit 1:1\n${test}end_of_edit`),
    says('pwd; ls; echo "[$KEPT]"'),
    says('submit'),
  ];
  const inBash = [
    bash('cd tests; KEPT=1'),
    bash(`cat > tests/test_lost_cent.py <<'EOF'\n${test}EOF`),
    bash('pwd; ls tests; echo "[$KEPT]"'),
    bash('echo SUBMIT_REPRODUCING_TESTS'),
  ];
  for (const [method, script, folderOfShell] of [
    ['swe-agent', inWindow, '/testbed/tests'],
    ['swe-agent-plus', inWindow, '/testbed/tests'],
    ['mini', inBash, '/testbed'],
  ] as const) {
    const full = method === 'swe-agent' ? '' : ' @full';
    it(`${method} goes on after kill -9 at each step, and ends as without${full}`, async () => {
      const whole = newOut();
      await play(script);
      done(await cli(args(method, whole)));
      const out = newOut();
      const { steps } = await killedAtEachStep(
        (url) => args(method, out, '--base-url', url),
        out,
        script.map((text) => ({ text })),
      );
      assert.equal(await rowOf(out), await rowOf(whole));
      const turns = steps.filter(({ step }) => step === 'act');
      assert.deepEqual(
        turns.map(({ isRestarted }) => isRestarted === true),
        script.map((_, at) => at > 0),
      );
      const looked = turns.at(-2)?.observation ?? '';
      assert.match(looked, /^\[The workspace has been restarted/);
      assert.match(looked, new RegExp(`\n${folderOfShell}\n[^]*test_lost_cent\\.py[^]*\\[\\]`));
      assert.match(turns.at(-1)?.patch ?? '', /test_no_cent_is_lost/);
      assert.deepEqual(await containersOf(id), []);
    });
  }

  it('goes on after a command that ends the container, from the files before it', async () => {
    let number = 0;
    const script = [
      says('create tests/test_lost_cent.py'),
      says(`edit 1:1\n${test}end_of_edit`),
      says('sleep 900'),
      says('ls tests'),
      says('submit'),
    ];
    await serve(() => {
      number += 1;
      if (number === 3) void killWhatRuns(id, 'sleep 900');
      return { text: script[number - 1] ?? '' };
    });
    const out = newOut();
    done(await cli(args('swe-agent', out)));
    const seen = await observations(out);
    assert.match(seen[2] ?? '', /ended the workspace, which has been restarted/);
    assert.match(seen[3] ?? '', /test_lost_cent\.py/);
  });

  it('ends at the limit of calls, and hands in what there is where the agent does so', async () => {
    await serve((_, number) => ({
      text: number === 1 ? says('create tests/test_lost_cent.py') : says('ls'),
    }));
    const out = newOut();
    const answer = await cli(args('swe-agent-plus', out));
    assert.equal(models?.asked.length, 20);
    assert.match(answer.stderr, /ended by the limit of 20 calls/);
    assert.match(await readFile(out, 'utf8'), /test_lost_cent/);
  });

  it('a model that calls tools applies a test, sees it fail in a container, and has no shell', async () => {
    const lines = test.trimEnd().split('\n');
    const patch = `--- /dev/null\n+++ b/tests/test_lost_cent.py\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
    const script: Reply[] = [
      { text: '', calls: [{ name: 'bash', input: { command: 'ls' } }, { name: 'read_issue' }] },
      { text: '', calls: [{ name: 'apply_candidate', input: { patch } }, { name: 'run_tests' }] },
      { text: 'It fails, since a cent is lost.' },
    ];
    await serve((_, number) => script[number - 1] ?? { text: 'Nothing more.' });
    const out = newOut();
    done(await cli(args('tools', out)));
    const seen = await observations(out);
    assert.match(seen[0] ?? '', /There is no tool "bash"/);
    assert.match(seen[3] ?? '', /1 failed[^]*test_no_cent_is_lost/);
    const result = await evaluated(out);
    assert.ok(result.strict?.success, JSON.stringify(result.strict));
    assert.equal((await containersOf(id)).length, 0);
  });

  it('is replayed from its trace, without a model and without an engine', async () => {
    await play([says('create tests/test_lost_cent.py'), says('submit')]);
    const out = newOut();
    done(await cli(args('swe-agent', out)));
    const before = await readFile(out, 'utf8');
    await rm(out);
    await models?.close();
    done(await cli(args('swe-agent', out, '--replay')));
    assert.equal(await readFile(out, 'utf8'), before);
  });

  it('receives the same of two instances that differ in their answers alone, to the byte', async () => {
    const bundled = { ...(await bundledRow()), instance_id: id };
    const script = [
      says('git log -p --format="%H %an %ad %cd%n%B" | head -c 5000; git status; git stash list'),
      says('ls -lAR --time-style=+%s /testbed; env | sort; id; hostname'),
      says(
        'grep -rlE "by_loss|test_any_amount_can_be_balanced" / --exclude-dir=proc --exclude-dir=sys 2>/dev/null',
      ),
      says(
        'find / -xdev -newermt 2020-01-01 -path /testbed -prune -o -xdev -name "*.py" -path "*tallybook*" -print | sort',
      ),
      says('search_dir allocate'),
      says(
        'pip list 2>/dev/null; pip show tallybook 2>/dev/null; python -m unittest -q 2>&1 | grep -v "^Ran"',
      ),
      says('submit'),
    ];
    const received: string[][] = [];
    for (const [at, row] of [bundled, withOtherAnswer(bundled)].entries()) {
      await play(script);
      const dataset = join(folder, `answer ${at}.jsonl`);
      await writeFile(dataset, JSON.stringify(row));
      const asked = args('swe-agent', newOut()).map((each) =>
        each === join(folder, 'instance.jsonl')
          ? dataset
          : each === join(folder, 'storage')
            ? join(folder, `storage ${at}`)
            : each,
      );
      await cli(asked);
      received.push(models?.asked.map(({ text }) => text) ?? []);
      await models?.close();
    }
    assert.equal(received[0]?.length, script.length);
    assert.deepEqual(received[0], received[1]);
    assert.match(received[0]?.at(-1) ?? '', /Ran|OK|money\.py/);
  });

  for (const [method, script] of Object.entries(scriptsOfFilesAgents)) {
    it(`${method} works without a container, and its test reproduces in containers`, async () => {
      await play(script);
      const out = newOut();
      done(await cli(args(method, out)));
      assert.equal((await containersOf(id)).length, 0);
      const result = await evaluated(out);
      assert.ok(result.strict?.success, JSON.stringify(result.strict));
    });
  }

  it('is refused with the local engine, with the reason', async () => {
    await play([]);
    const asked = args('mini', newOut());
    const answer = await cli([...asked.slice(0, asked.indexOf('--engine')), '--engine', 'local']);
    assert.equal(answer.status, 2);
    assert.match(answer.stderr, /mini-SWE-agent runs shell commands[^]*--engine docker/);
  });
});
