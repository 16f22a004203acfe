import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli, sample, start, type Answer, type Evaluation } from '../commandLine/cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from '../commandLine/fakeModels';
import { withOtherAnswer } from '../commandLine/otherAnswer';
import { bundledRow } from '../commandLine/recordedSession';
import { lostCent } from '../commandLine/lostCent';
import { agentProgram } from './agentProgram';
import { platformsHere, type Platform } from './platforms';

interface Session {
  readonly step: string;
  readonly ending?: string;
  readonly why?: string;
  readonly patch?: string;
  readonly program?: string;
  readonly programDigest?: string;
  readonly refused?: readonly string[];
  readonly removed?: readonly string[];
  readonly action?: string;
  readonly observation?: string;
  readonly text?: string;
}

const key = 'sk-the-real-key-of-this-run';

for (const platform of platformsHere) declareOn(platform);

/** Declares the tests for one platform. */
function declareOn(platform: Platform): void {
  describe(`agents of the Agent Client Protocol in containers, ${platform.name} engine`, () => {
    const id = `tallybook__tallybook-${randomBytes(3).readUIntBE(0, 3)}`;
    let folder = '';
    let models: FakeModels | undefined;
    let count = 0;

    before(async function () {
      await platform.need(this);
      folder = await mkdtemp(join(tmpdir(), 'swt-acp-'));
      const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as object;
      await writeFile(
        join(folder, 'instance.jsonl'),
        `${JSON.stringify({ ...row, ...platform.row, instance_id: id })}\n`,
      );
      await agentProgram(join(folder, 'agent'), 'fake', 'good');
    });
    afterEach(async () => {
      await models?.close();
      models = undefined;
    });
    after(async () => {
      if (folder === '') return;
      await platform.clean(id);
      await rm(folder, { recursive: true, force: true });
    });

    const serve = async (reply: (asked: Asked, number: number) => Reply): Promise<void> => {
      await models?.close();
      models = await fakeModels(reply);
    };
    const places = (): string[] => [
      ...['--dataset', join(folder, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', join(folder, 'storage'), '--engine', platform.name, '--prebuilt', 'none'],
      ...['--memory', '1g', ...platform.options],
    ];
    const newOut = (): string => join(folder, `out-${count++}`, 'predictions.jsonl');
    const playing = (part: string, out: string, more: readonly string[]) =>
      start(
        [
          ...['generate', '--method', `acp:node /agent/agent.cjs ${part}`, '--out', out],
          ...['--model', 'openai-compatible/the-model', '--base-url', models?.url ?? ''],
          ...['--agent-program', join(folder, 'agent'), ...places(), ...more],
        ],
        { OPENAI_COMPATIBLE_API_KEY: key },
      );
    const play = (part: string, out: string, ...more: string[]): Promise<Answer> =>
      playing(part, out, more).answer;
    const stepsOf = async (out: string): Promise<Session[]> =>
      (await readFile(`${out}.trace.jsonl`, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Session);
    const sessionOf = async (out: string): Promise<Session> => {
      const session = (await stepsOf(out)).findLast(({ step }) => step === 'session');
      assert.ok(session);
      return session;
    };
    it('a good one writes a test that reproduces, and its session is a trajectory', async () => {
      await serve(() => ({ text: lostCent }));
      const out = newOut();
      const before = await platform.volumes();
      const answer = await play('good', out);
      assert.equal(answer.status, 0, answer.stderr);
      const [asked] = models?.asked ?? [];
      assert.equal(models?.asked.length, 1);
      assert.equal(asked?.model, 'the-model', 'the configured model, whatever the agent names');
      assert.equal(asked?.headers['authorization'], `Bearer ${key}`);
      assert.equal(asked?.maxTokens, 16_384, 'the agent names no limit');
      assert.deepEqual(
        (asked?.body['tools'] as { type: string }[] | undefined)?.map(({ type }) => type),
        ['function'],
      );
      assert.ok(!('web_search_options' in (asked?.body ?? {})));
      assert.match(
        asked?.text ?? '',
        /Change only tests\.[^]*To run the tests of a file, such as tests\//,
      );
      const steps = await stepsOf(out);
      const removed = steps.flatMap((step) => step.removed ?? []);
      assert.deepEqual(removed, ['tools (web_search)', 'web_search_options']);
      const act = steps.find(({ step, observation }) => step === 'act' && observation !== '');
      assert.match(act?.action ?? '', /^\S*python[\d.]* /, 'the command that the prompt tells');
      assert.match(act?.observation ?? '', /^once: [^]*(?:FAILED|failed)/);
      const session = await sessionOf(out);
      assert.equal(session.ending, 'finished');
      assert.equal(session.program, 'fake 1.2.3');
      assert.deepEqual(await platform.sandboxes(id), []);
      assert.deepEqual(await platform.volumes(), before);
      const shown = await cli(['trajectory', out]);
      assert.match(shown.stdout, /I play good\.[^]*test_lost_cent/);
      const graded = await cli(['evaluate', '--predictions', out, '--json', ...places()]);
      const [result] = (JSON.parse(graded.stdout) as Evaluation).results;
      assert.equal(result?.resolved, true, graded.stdout.slice(0, 2000));
      const again = await play('good', out);
      assert.equal(again.status, 0, again.stderr);
      assert.equal(models?.asked.length, 1, 'a session that ended is not repeated');
      assert.match(session.programDigest ?? '', /^[0-9a-f]{64}$/);
      const note = join(folder, 'agent', 'version.txt');
      await writeFile(note, 'another version');
      try {
        await play('good', out);
      } finally {
        await rm(note);
      }
      assert.equal(models?.asked.length, 2, 'another program has a session of its own');
      assert.notEqual((await sessionOf(out)).programDigest, session.programDigest);
    });

    it('a curious one finds no network, no key, no history, and a program that it cannot change', async () => {
      await serve(() => ({ text: 'hello' }));
      const out = newOut();
      const answer = await play('probe', out);
      assert.equal(answer.status, 0, answer.stderr);
      const { patch = '', refused } = await sessionOf(out);
      const text = patch
        .split('\n')
        .filter((line) => /^\+[^+]/.test(line))
        .map((line) => line.slice(1))
        .join('\n');
      const found = JSON.parse(text) as Record<string, string | string[]>;
      for (const place of ['address', 'bridge', 'local6', 'six', 'name', 'dns', 'proxied']) {
        assert.doesNotMatch(String(found[place]), /REACHED/, place);
      }
      assert.equal(found['proxied'], 'status 404');
      assert.match(String(found['absolute']), /^HTTP\/1\.1 404/);
      assert.ok(refused?.includes('GET /v1/files'), JSON.stringify(refused));
      assert.deepEqual(found['key'], []);
      assert.deepEqual(found['environment'], []);
      assert.match(String(found['program']), /EROFS|EACCES/);
      assert.equal(String(found['history']).trim(), '1');
      assert.match(String(found['package']), /ERROR|No module named pip|not found/i);
      assert.doesNotMatch(await readFile(`${out}.trace.jsonl`, 'utf8'), new RegExp(key));
    });

    /** Plays a part that ends badly, and gives its session and what is submitted. */
    const ended = async (part: string, ...more: string[]) => {
      await serve(() => ({ text: 'hello' }));
      const out = newOut();
      const answer = await play(part, out, ...more);
      assert.equal(answer.status, 0, answer.stderr);
      const row = JSON.parse(await readFile(out, 'utf8')) as {
        readonly model_patch: string;
        readonly why: string;
        readonly requests: number;
        readonly dollars?: number;
      };
      const session = await sessionOf(out);
      assert.equal(row.model_patch, session.patch);
      assert.deepEqual(await platform.sandboxes(id), []);
      return { row, session };
    };

    it('one that asks for everything gets its permissions, and no file of this machine @full', async () => {
      const { session } = await ended('asks');
      assert.equal(session.ending, 'finished');
      assert.match(session.patch ?? '', /^\+refused$/m);
    });

    it('one that spends is held at its budget @full', async () => {
      const { row, session } = await ended(
        'spends',
        '--price',
        '10,20',
        '--instance-budget',
        '0.03',
      );
      assert.equal(session.ending, 'cost');
      const [statuses = ''] = /^\+(\[.*\])$/m.exec(session.patch ?? '')?.slice(1) ?? [];
      const list = JSON.parse(statuses) as number[];
      assert.ok(list.includes(200) && list.at(-1) === 400, statuses);
      assert.equal(list.filter((status) => status === 200).length, row.requests);
      assert.ok((row.dollars ?? 0) > 0 && (row.dollars ?? 1) <= 0.03, String(row.dollars));
      assert.match(row.why, /^stopped at the cost limit after \d+ calls$/);
    });

    it('one that crashes, refuses, floods or fills the disk ends as what it is @full', async () => {
      const crashed = await ended('crashes');
      assert.equal(crashed.session.ending, 'crashed');
      assert.match(
        crashed.row.why,
        /stopped unexpectedly after 1 call \(.*Segmentation fault of the fake/,
      );
      assert.match(crashed.row.model_patch, /tests\/before\.txt/, 'what it left is submitted');
      const refused = await ended('refuses');
      assert.equal(refused.session.ending, 'refused');
      assert.equal(refused.row.why, 'the agent refused after 1 call, without changes');
      const flooded = await ended('floods');
      assert.equal(flooded.session.ending, 'output', flooded.row.why);
      const filled = await ended('fills', '--disk', '256m');
      assert.equal(filled.session.ending, 'disk', filled.row.why);
      assert.match(filled.row.model_patch, /tests\/before\.txt/);
      assert.doesNotMatch(filled.row.model_patch, /large-0\.bin/);
      assert.match(filled.row.why, /large-0\.bin is ignored: it is too large/);
    });

    it('one that never ends is stopped with all that it started @full', async () => {
      const { session, row } = await ended('endless', '--agent-timeout', '15');
      assert.equal(session.ending, 'time');
      assert.match(row.model_patch, /tests\/before\.txt/);
      assert.match(row.why, /^stopped at the time limit after 1 call/);
    });

    it('one that says nothing, or cannot be started, has no prediction and is tried again @full', async () => {
      await serve(() => ({ text: 'hello' }));
      const out = newOut();
      const silent = await play("silent 'a b'", out, '--agent-timeout', '10');
      assert.equal(silent.status, 1);
      assert.match(
        silent.stderr,
        /did nothing \(silent: it was not ready for the prompt in time\)/,
      );
      assert.match(silent.stderr, /Check whether node \/agent\/agent\.cjs silent 'a b' starts/);
      const missing = await cli([
        ...['generate', '--method', 'acp:no-such-agent', '--out', out, '--model'],
        ...['openai-compatible/m', '--base-url', models?.url ?? '', ...places()],
      ]);
      assert.equal(missing.status, 1);
      assert.match(
        missing.stderr,
        /error ends:\n[^]*no-such-agent cannot be started: No such file/,
      );
      const sessions = (await stepsOf(out)).filter(({ step }) => step === 'session');
      assert.deepEqual(
        sessions.map(({ ending }) => ending),
        ['silent', 'crashed'],
        'a start that fails leaves its session',
      );
      await assert.rejects(readFile(out), /ENOENT/);
    });

    it('a run that is interrupted has nothing half-written, and begins the session anew @full', async () => {
      await serve(() => ({ text: 'hello' }));
      const out = newOut();
      const first = playing('endless', out, []);
      while ((models?.answered.length ?? 0) === 0) await new Promise((go) => setTimeout(go, 50));
      first.child.kill('SIGINT');
      assert.equal((await first.answer).status, 130);
      assert.equal((await sessionOf(out)).ending, 'cancelled');
      await assert.rejects(readFile(out), /ENOENT/);
      assert.deepEqual(await platform.sandboxes(id), []);
      const again = await play('endless', out, '--agent-timeout', '15');
      assert.equal(again.status, 0, again.stderr);
      assert.equal(models?.asked.length, 2, 'the new session asks again');
      assert.equal((await sessionOf(out)).ending, 'time');
    });

    it('one that looks around sees the same whatever the answer is @full', async () => {
      const bundled = { ...(await bundledRow()), ...platform.row, instance_id: id };
      const received: string[] = [];
      const gold = ['--predictions', 'gold', '--json', ...places()];
      // What is stored of one answer, and not of the other, makes no difference either.
      const stored = await cli(['evaluate', ...gold, '--storage', join(folder, 'storage 0')]);
      assert.equal(stored.status, 0, stored.stderr);
      for (const [at, row] of [bundled, withOtherAnswer(bundled)].entries()) {
        await serve(() => ({ text: 'hello' }));
        const dataset = join(folder, `answer ${at}.jsonl`);
        await writeFile(dataset, JSON.stringify(row));
        const storage = join(folder, `storage ${at}`);
        const answer = await play('looks', newOut(), '--dataset', dataset, '--storage', storage);
        assert.equal(answer.status, 0, answer.stderr);
        assert.equal(models?.asked.length, 1);
        received.push(models?.asked[0]?.text ?? '');
      }
      assert.match(received[0] ?? '', /money\.py[^]*PORT[^]*overlay/);
      const [first = [], second = []] = received.map((each) => each.split('\n'));
      assert.deepEqual(first, second);
    });

    it('a container that is lost leaves no prediction, and the same command goes on @full', async () => {
      await serve(() => ({ text: 'hello' }));
      const out = newOut();
      const [answer] = await Promise.all([
        play('endless', out),
        platform.kill(id, 'agent.cjs endless'),
      ]);
      assert.equal(answer.status, 1, answer.stderr);
      assert.match(answer.stderr, /no prediction: The sandbox of R .* cannot be used any more/);
      assert.doesNotMatch(answer.stderr, /internal error|at .*\.js:/);
      assert.ok(!(await stepsOf(out)).some(({ step }) => step === 'session'));
      assert.deepEqual(await platform.sandboxes(id), []);
    });
  });
}
