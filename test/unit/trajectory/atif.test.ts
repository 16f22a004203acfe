import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { HumanError } from '../../../src/domain/work';
import { writeAtif } from '../../../src/trajectory/atifDocument';
import { readTrajectories } from '../../../src/trajectory/readTrajectories';
import {
  stepKinds,
  totalsOf,
  type Trajectory,
  type TrajectoryStep,
} from '../../../src/trajectory/trajectory';
import { everydayRuns } from '../../everyday';
import {
  agentTrace,
  aiderChat,
  asLines,
  atifFiles,
  conversation,
  miniFile,
  miniFormatErrors,
  newOpenHandsRow,
  oldMiniFile,
  oldOpenHandsRow,
  oracleTrace,
  sweAgentFile,
  testDiff,
  toolTrace,
} from './madeUpTrajectories';

/** Kind, turn, label and first line of each step. */
const outline = ({ steps }: Trajectory): string[] =>
  steps.map(({ kind, turn, label, text }) => {
    const of = label === undefined ? '' : ` (${label})`;
    return `${turn} ${kind}${of}: ${text.split('\n')[0]}`;
  });

describe('ATIF', () => {
  let folder: string;
  const problems: string[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-atif-'));
    problems.length = 0;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = async (name: string, content: unknown): Promise<string> => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const readAll = async (path: string): Promise<Trajectory[]> => {
    const found: Trajectory[] = [];
    const told = (problem: string): number => problems.push(problem);
    for await (const { trajectory } of readTrajectories(path, { told })) found.push(trajectory);
    return found;
  };
  const readOne = async (path: string): Promise<Trajectory> => {
    const [found, ...others] = await readAll(path);
    assert.equal(others.length, 0);
    assert.ok(found !== undefined);
    return found;
  };
  const writtenAndRead = async (trajectory: Trajectory): Promise<Trajectory> =>
    readOne(await put('written.atif.json', writeAtif(trajectory)));

  it('is read back equal, for the files of every program and our own traces', async () => {
    const files: readonly (readonly [string, unknown])[] = [
      ['a.traj', sweAgentFile],
      ['a.traj.json', miniFile],
      ['b.traj.json', miniFormatErrors],
      ['c.traj.json', oldMiniFile],
      ['trajectory.json', oldOpenHandsRow.history],
      ['output.jsonl', asLines([oldOpenHandsRow, newOpenHandsRow])],
      ['a.trace.jsonl', asLines([...agentTrace, ...oracleTrace])],
      ['b.trace.jsonl', asLines(toolTrace)],
      ['a.aider.chat.history.md', aiderChat],
      ['conversations/c', undefined],
      ['agent/trajectory.json', undefined],
    ];
    for (const [name, content] of Object.entries(conversation)) {
      await put(`conversations/c/${name}`, content);
    }
    for (const [name, content] of Object.entries(atifFiles)) await put(`agent/${name}`, content);
    let count = 0;
    for (const [name, content] of files) {
      const path = content === undefined ? join(folder, name) : await put(name, content);
      for (const trajectory of await readAll(path)) {
        assert.deepEqual(await writtenAndRead(trajectory), trajectory, name);
        count += 1;
      }
    }
    assert.equal(count, 13);
  });

  it('is read back equal, whatever the steps are', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('', 'a\u202e\u001b[31m\0\r\n', 'x'.repeat(99)),
    );
    const amount = fc.oneof(fc.nat(), fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }));
    const at = fc.oneof(
      text,
      fc.constantFrom(
        '2026-01-01T00:00:00Z',
        '2026-02-30T00:00:00',
        '2025-11-01T00:00:05.123+01:00',
      ),
    );
    const dictionary = fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('command')),
      fc.jsonValue(),
    );
    const step = fc.record(
      {
        kind: fc.constantFrom(...stepKinds),
        turn: fc.nat({ max: 2 }),
        text,
        label: text,
        at,
        seconds: amount,
        folder: text,
        diff: text,
        isRestarted: fc.boolean(),
        by: fc.record({ model: text, agent: text }, { requiredKeys: ['model'] }),
        inputTokens: amount,
        outputTokens: amount,
        dollars: amount,
      },
      { requiredKeys: ['kind', 'turn', 'text'] },
    );
    const withCall = fc
      .tuple(step, fc.option(fc.record({ name: text, arguments: dictionary })))
      .map(([made, call]) => (made.kind === 'action' && call !== null ? { ...made, call } : made));
    const trajectory = fc.record(
      {
        instance: text,
        format: fc.constantFrom('swt-bench', 'aider', 'atif'),
        agent: text,
        model: text,
        steps: fc.array(withCall),
        submission: text,
        choices: fc.array(fc.record({ method: text, model: text, patch: text })),
        ending: text,
        stated: fc.record(
          { inputTokens: amount, dollars: amount, turns: fc.nat() },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ['instance', 'format', 'steps'] },
    );
    const property = fc.asyncProperty(trajectory, async (made) => {
      // What JSON does not tell apart is no difference.
      const plain = JSON.parse(JSON.stringify(made)) as Trajectory;
      assert.deepEqual(await writtenAndRead(plain), plain);
    });
    // Found by chance, by a seed that was lost.
    const given = JSON.parse('{"__proto__": {"__proto__": 1}}') as Record<string, never>;
    const call = { name: '__proto__', arguments: given };
    const found = {
      ...{ instance: 'a', format: 'swt-bench' as const },
      steps: [{ kind: 'action' as const, turn: 0, text: '', call }],
    };
    await fc.assert(property, { numRuns: everydayRuns(1000), examples: [[found]] });
  });

  it('of another program: calls before what they returned, subagents, continuations, media', async () => {
    for (const [name, content] of Object.entries(atifFiles)) await put(`agent/${name}`, content);
    const trajectory = await readOne(join(folder, 'agent/trajectory.json'));
    assert.deepEqual(outline(trajectory), [
      '0 stage (notes): made up',
      '0 asked (system): You write tests.',
      '0 asked (user): The issue',
      '1 thought: Hm.',
      '1 action (bash): ls',
      '1 observation: cat.py',
      '1 action (view_image): view_image',
      '1 observation: [image, images/cat.png, image/png]',
      '1 observation: a warning',
      '2 thought (other-model): I ask.',
      '2 action (delegate): delegate',
      '2 asked (subagent explorer: user): Look around',
      '3 answer (subagent explorer): Nothing.',
      '3 action (summarize): summarize',
      '4 answer (subagent summarizer): A summary.',
      '4 stage (subagent): https://example.com/t.json (its steps are not read)',
      '4 stage: compacted',
      '5 action: pytest -q',
      '5 observation: 1 failed',
      '6 answer: Done.',
    ]);
    const { agent, model, instance } = trajectory;
    assert.deepEqual({ agent, model, instance }, { agent: 'octo', model: 'm', instance: 'agent' });
    const { inputTokens, outputTokens, dollars } = totalsOf(trajectory);
    assert.deepEqual(
      { inputTokens, outputTokens, dollars },
      { inputTokens: 900, outputTokens: 90, dollars: 0.5 },
    );
    assert.equal(problems.length, 1);
    assert.match(
      problems[0] ?? '',
      /^"https:\/\/example\.com\/t\.json": not read \(it is an address\)/,
    );
  });

  it('names the instance by the task of the trial that it lies in', async () => {
    const path = await put('job/octo__cat-7__abc/agent/trajectory.json', minimal);
    assert.equal((await readOne(path)).instance, 'agent');
    const config = { trial_name: 'octo__cat-7__abc', task: { path: 'tasks/octo__cat-7' } };
    await put('job/octo__cat-7__abc/config.json', config);
    assert.equal((await readOne(path)).instance, 'octo__cat-7');
    await put('job/octo__cat-7__abc/result.json', {
      ...{ task_name: 'swtbench/octo__cat-8', trial_name: 't', agent_info: { name: 'a' } },
    });
    await put('job/octo__cat-7__abc/verifier/model.patch', testDiff);
    const { instance, submission } = await readOne(join(folder, 'job'));
    assert.deepEqual({ instance, submission }, { instance: 'octo__cat-8', submission: testDiff });
  });

  it('reads nothing outside of its folder, nor the same file without end', async () => {
    await put('secret.json', { ...minimal, steps: [{ source: 'agent', message: 'secret' }] });
    await mkdir(join(folder, 'agent'));
    await symlink(join(folder, 'secret.json'), join(folder, 'agent', 'link.json'));
    await symlink(folder, join(folder, 'agent', 'up'));
    const names = ['../secret.json', join(folder, 'secret.json'), 'link.json', 'up/secret.json'];
    const refs = [...names, 'trajectory.json', 'absent.json'].map((trajectory_path) => ({
      trajectory_path,
    }));
    const observation = { results: [{ subagent_trajectory_ref: refs }] };
    const path = await put('agent/trajectory.json', {
      ...minimal,
      steps: [{ source: 'agent', message: 'x', observation }],
      continued_trajectory_ref: 'trajectory.json',
    });
    const trajectory = await readOne(path);
    assert.ok(!JSON.stringify(trajectory).includes('"secret"'));
    assert.equal(problems.length, 5, problems.join('\n'));
    assert.equal(trajectory.steps.length, 7);
  });

  it('of an unknown version is refused with a sentence', async () => {
    const path = await put('a.atif.json', { ...minimal, schema_version: 'ATIF-v2.0' });
    await assert.rejects(readOne(path), (error: unknown) => {
      assert.ok(error instanceof HumanError);
      assert.match(error.message, /schema_version: not a version ATIF-v1\.x/);
      return true;
    });
  });

  it('has one step where there is none, and no lone surrogate', async () => {
    const empty: Trajectory = { instance: 'a', format: 'swt-bench', steps: [] };
    assert.deepEqual(await writtenAndRead(empty), empty);
    const step: TrajectoryStep = { kind: 'answer', turn: 1, text: 'a\ud800b' };
    const [read] = (await writtenAndRead({ ...empty, steps: [step] })).steps;
    assert.equal(read?.text, 'a\ufffdb');
  });

  it('that somebody has changed is read as of any other program', async () => {
    const step: TrajectoryStep = { kind: 'answer', turn: 1, text: 'Done.', label: 'sample 1' };
    const written = writeAtif({ instance: 'a', format: 'swt-bench', steps: [step] }) as {
      steps: unknown[];
    };
    written.steps.push({ step_id: 2, source: 'user', message: 'Thanks.' });
    const trajectory = await readOne(await put('a.atif.json', written));
    assert.deepEqual(outline(trajectory), ['1 answer: Done.', '1 asked (user): Thanks.']);
    assert.equal(trajectory.format, 'atif');
  });
});

const minimal = {
  schema_version: 'ATIF-v1.2',
  session_id: 's',
  agent: { name: 'octo', version: '1' },
  steps: [{ step_id: 1, source: 'user', message: 'The issue' }],
};
