import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HumanError } from '../../../src/domain/work';
import { readTrajectories } from '../../../src/trajectory/readTrajectories';
import { totalsOf, type Trajectory } from '../../../src/trajectory/trajectory';
import {
  agentTrace,
  aiderChat,
  asLines,
  conversation,
  instance,
  miniFile,
  miniFormatErrors,
  newOpenHandsRow,
  oldMiniFile,
  oldOpenHandsRow,
  oracleTrace,
  sweAgentFile,
  testDiff,
} from './madeUpTrajectories';

/** Kind, turn and first line of each step. */
const outline = ({ steps }: Trajectory): string[] =>
  steps.map(({ kind, turn, text }) => `${turn} ${kind}: ${text.split('\n')[0]}`);

describe('files of trajectories', () => {
  let folder: string;
  const problems: string[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-trajectory-'));
    problems.length = 0;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = async (name: string, content: unknown): Promise<string> => {
    const path = join(folder, name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const readAll = async (path: string, of?: string): Promise<Trajectory[]> => {
    const found: Trajectory[] = [];
    const told = (problem: string): number => problems.push(problem);
    for await (const { trajectory } of readTrajectories(path, { instance: of, told })) {
      found.push(trajectory);
    }
    return found;
  };
  const readOne = async (path: string): Promise<Trajectory> => {
    const found = await readAll(path);
    assert.equal(found.length, 1);
    assert.ok(found[0] !== undefined);
    return found[0];
  };

  it('of our agents: answers become thoughts, requests are shown once, restarts are told', async () => {
    const trajectory = await readOne(await put('out.jsonl.trace.jsonl', asLines(agentTrace)));
    assert.deepEqual(outline(trajectory), [
      '0 asked: You write tests.',
      '0 asked: The issue',
      '1 thought: I look.',
      '1 action: ls',
      '1 observation: cat.py',
      '2 answer: No block',
      '2 asked: Your answer has 0 commands.',
      '3 thought: I write.',
      '3 action: cat > t',
      '3 observation: ',
      '4 thought: Done.',
      '4 action: submit',
      '4 observation: ok',
      '4 choice: submitted',
    ]);
    const { agent, model, submission, ending, steps } = trajectory;
    assert.deepEqual(
      { agent, model, submission, ending },
      {
        ...{ agent: 'mini', model: 'openai/gpt-4o' },
        ...{ submission: testDiff, ending: 'submitted' },
      },
    );
    const changed = steps.flatMap(({ diff }, index) => (diff === undefined ? [] : [index]));
    assert.deepEqual(changed, [9], 'the difference to R stands where it changes');
    const { dollars, ...totals } = totalsOf(trajectory);
    assert.equal(dollars?.toFixed(6), '0.040000');
    assert.deepEqual(totals, {
      ...{ steps: 14, turns: 4, seconds: 9.5, restarts: 1 },
      ...{ inputTokens: 400, outputTokens: 40 },
    });
  });

  it('of our samples: patch, run, verdict and choice; instances apart', async () => {
    const mixed = [
      agentTrace[0],
      ...oracleTrace.slice(0, 2),
      ...agentTrace.slice(1),
      ...oracleTrace.slice(2),
    ];
    const path = await put('all.trace.jsonl', asLines(mixed));
    assert.deepEqual(
      (await readAll(path)).map((each) => [each.instance, each.steps.length]),
      [
        [instance, 14],
        ['octo__dog-8', 5],
      ],
    );
    const [dog] = await readAll(path, 'octo__dog-8');
    assert.ok(dog !== undefined);
    assert.deepEqual(
      dog.steps.map(({ kind, label }) => `${kind} ${label}`),
      [
        'answer sample 1',
        'patch applies to R',
        'run 1 of 1 test fails on R',
        'verdict a success',
        'choice sample 1',
      ],
    );
    assert.match(dog.steps[2]?.text ?? '', /failed {2}tests\/test_cat\.py::test_purr\n +no purr/);
  });

  it('of tests that are sent back: what is said of them, and not the prompt again', async () => {
    const common = { at: '2026-01-01T00:00:00.000Z', instance };
    const [first] = oracleTrace;
    const asked = { role: 'user', content: 'Write tests.' };
    const prompt = {
      ...{ ...common, step: 'prompt', purpose: 'tests', prompt: 'p', system: 'You write tests.' },
      ...{ files: ['cat.py'], tokens: 9 },
    };
    const sentBack = [
      asked,
      { role: 'assistant', content: 'T' },
      { role: 'user', content: 'Mend it.' },
    ];
    const path = await put(
      'sentBack.trace.jsonl',
      asLines([
        { ...prompt, key: 'p1', messages: [asked] },
        { ...first, ...common, key: 'a1' },
        { ...prompt, key: 'p2', messages: sentBack },
        { ...first, ...common, key: 'a2' },
      ]),
    );
    const { steps } = await readOne(path);
    assert.deepEqual(
      steps.map(
        ({ kind, label, text }) => `${kind} ${label}${kind === 'asked' ? `: ${text}` : ''}`,
      ),
      [
        'asked system: You write tests.',
        'asked user, 1 file of R: Write tests.',
        'answer sample 1',
        'asked again: Mend it.',
        'answer sample 1',
      ],
    );
  });

  it('of a setting with a wrong patch: fixes and what an oracle says of them', async () => {
    const common = { key: 'k', at: '2026-01-01T00:00:00.000Z', instance };
    const [first] = oracleTrace;
    const fix = { ...common, step: 'fix', patch: testDiff };
    const choice = { ...oracleTrace.at(-1), ...common, method: 'zero-shot-plus+wrong-patch' };
    const path = await put(
      'wrong.trace.jsonl',
      asLines([
        { ...first, ...common, purpose: 'fix' },
        { ...fix, patch: '', problem: 'the patch is empty' },
        ...[{ ...fix, resolved: true }, { ...fix, resolved: false }, fix],
        { ...choice, oracle: true },
      ]),
    );
    const { agent, steps } = await readOne(path);
    assert.equal(agent, 'zero-shot-plus+wrong-patch (oracle)');
    assert.deepEqual(
      steps.map(({ kind, label }) => `${kind} ${label}`),
      [
        'answer fix 1',
        'verdict no code patch on R',
        'verdict resolves the issue',
        'verdict does not resolve the issue',
        'verdict could not be graded',
        'choice sample 1',
      ],
    );
    assert.equal(steps[3]?.text, testDiff);
  });

  it('of SWE-agent', async () => {
    const trajectory = await readOne(await put(`${instance}.traj`, sweAgentFile));
    assert.deepEqual(outline(trajectory), [
      '0 asked: You write tests.',
      '0 asked: A demonstration',
      '0 asked: The issue',
      '1 thought: I look for it.',
      '1 action: find_file cat.py',
      '1 observation: Found 1 match',
      '2 thought: Done.',
      '2 action: submit',
      '2 observation: diff --git a/tests/test_cat.py b/tests/test_cat.py',
    ]);
    assert.equal(trajectory.instance, instance);
    assert.equal(trajectory.model, 'gpt-4o');
    assert.equal(trajectory.steps[8]?.diff, testDiff);
    assert.equal(totalsOf(trajectory).dollars, 0.5);
    assert.equal(totalsOf(trajectory).seconds, 0.75);
  });

  it('of SWE-agent before 1.0, whose state is JSON, and demonstrations with messages only', async () => {
    const [first] = sweAgentFile.trajectory;
    const old = { ...sweAgentFile, trajectory: [{ ...first, state: '{"working_dir": "/cat"}\n' }] };
    const trajectory = await readOne(await put('a.traj', old));
    assert.equal(trajectory.steps.at(-1)?.folder, '/cat');
    const history = [
      ...sweAgentFile.history.slice(0, 3),
      { role: 'assistant', content: 'x', thought: 'I look.', action: 'ls' },
      { role: 'tool', content: 'cat.py' },
    ];
    assert.deepEqual(outline(await readOne(await put('b.traj', { history }))).slice(3), [
      '1 thought: I look.',
      '1 action: ls',
      '1 observation: cat.py',
    ]);
  });

  it('of mini-SWE-agent', async () => {
    const trajectory = await readOne(await put(`${instance}.traj.json`, miniFile));
    assert.deepEqual(outline(trajectory), [
      '0 asked: You write tests.',
      '0 asked: The issue',
      '1 thought: Hm.',
      '1 action: ls',
      '1 observation: cat.py',
      '2 thought: ',
      '2 action: pytest',
      '2 action: git diff',
      '2 observation: 1 failed',
      '2 choice: Submitted',
    ]);
    assert.equal(trajectory.instance, instance);
    assert.equal(trajectory.steps[2]?.seconds, 3);
    const { dollars, inputTokens } = totalsOf(trajectory);
    assert.deepEqual([dollars, inputTokens], [0.03, 1900]);
    assert.deepEqual(outline(await readOne(await put('old.traj.json', oldMiniFile))).slice(2), [
      '1 thought: THOUGHT: I look.',
      '1 action: ls -la',
      '1 observation: <returncode>0</returncode>',
    ]);
  });

  it('of OpenHands before 1.0, also as pairs and as events alone', async () => {
    const expected = [
      '0 asked: The issue',
      '1 thought: I search.',
      '1 action: grep -rn purr .',
      '1 observation: cat.py:1:def purr():',
      '2 thought: ',
      '2 action: edit',
      '3 thought: ',
      '3 action: finish',
    ];
    const trajectory = await readOne(await put('output.jsonl', asLines([oldOpenHandsRow])));
    assert.deepEqual(outline(trajectory), expected);
    assert.equal(trajectory.model, 'openai/gpt-4o');
    assert.equal(trajectory.submission, testDiff);
    const { dollars, inputTokens, outputTokens } = totalsOf(trajectory);
    assert.deepEqual([dollars, inputTokens, outputTokens], [0.01, 1700, 90]);
    const { history } = oldOpenHandsRow;
    const pairs = { ...oldOpenHandsRow, history: [[history[0], history[1]], history.slice(2)] };
    const again = await readOne(await put('pairs/output.jsonl', asLines([pairs])));
    assert.deepEqual(outline(again), expected);
    assert.deepEqual(outline(await readOne(await put('trajectory.json', history))), expected);
  });

  it('of OpenHands since 1.0', async () => {
    const trajectory = await readOne(await put('output.jsonl', asLines([newOpenHandsRow])));
    assert.deepEqual(outline(trajectory), [
      '0 asked: You write tests.',
      '0 asked: The issue',
      '1 thought: I look.',
      '1 action: ls',
      '1 thought: ',
      '1 action: file_editor',
      '1 observation: cat.py',
      '1 observation: no such file',
    ]);
    const { dollars, inputTokens } = totalsOf(trajectory);
    assert.deepEqual([dollars, inputTokens], [0.02, 700], 'one response is paid once');
  });

  it('of mini-SWE-agent whose model answered in the wrong format: those answers count', async () => {
    const trajectory = await readOne(await put('a.traj.json', miniFormatErrors));
    assert.deepEqual(outline(trajectory), [
      '0 asked: You write tests.',
      '1 answer: Done.',
      '1 observation: Tool call error: no tool calls',
      '2 answer: Here: ls',
      '2 observation: Tool call error: no tool calls',
      '3 answer: Hm.',
      '3 observation: Tool call error: no tool calls',
      '4 thought: Hm.',
      '4 action: ls',
      '4 observation: cat.py',
    ]);
    const { dollars, inputTokens, outputTokens } = totalsOf(trajectory);
    assert.deepEqual([dollars, inputTokens, outputTokens], [1, 300, 15]);
    // Earlier versions kept neither answer nor cost of them, but counted both.
    const earlier = miniFormatErrors.messages.map((each) => ({ ...each, extra: {} }));
    const { messages: _, ...rest } = miniFormatErrors;
    const old = await readOne(await put('b.traj.json', { ...rest, messages: earlier }));
    assert.deepEqual([totalsOf(old).turns, totalsOf(old).dollars], [4, 1]);
  });

  it('of mini-SWE-agent with a time that no clock has', async () => {
    const messages = [1e308, -1e308, 8.64e15].map((timestamp) => ({
      ...{ role: 'assistant', content: 'Hm.', extra: { timestamp } },
    }));
    const { steps } = await readOne(await put('a.traj.json', { messages }));
    assert.deepEqual(
      steps.map(({ at }) => at),
      [undefined, undefined, undefined],
    );
  });

  it('of a conversation of OpenHands, by its folder or any file of it', async () => {
    for (const [name, content] of Object.entries(conversation)) {
      await put(`conversations/c1/${name}`, content);
    }
    await put('conversations/c1/events/.eventlog.lock', '');
    const paths = ['', 'base_state.json', 'events', 'events/event-00001-b.json'];
    for (const path of [folder, ...paths.map((each) => join(folder, 'conversations/c1', each))]) {
      const trajectory = await readOne(path);
      assert.deepEqual(outline(trajectory), [
        '0 asked: You write tests.',
        '0 asked: The issue',
        '1 thought: I look.',
        '1 action: ls',
        '1 observation: cat.py',
      ]);
      const { instance: name, model, ending } = trajectory;
      assert.deepEqual([name, model, ending], ['c1', 'openai/gpt-4o', 'finished']);
      const { dollars, inputTokens, outputTokens } = totalsOf(trajectory);
      assert.deepEqual([dollars, inputTokens, outputTokens], [0.75, 730, 28]);
    }
    await symlink('/dev/zero', join(folder, 'conversations/c1/events/event-00004-f.json'));
    await put('conversations/c1/events/event-00003-e.json', '{"kind": "Mess');
    await put('conversations/c1/base_state.json', '');
    const torn = await readOne(folder);
    assert.equal(torn.steps.length, 5);
    assert.equal(totalsOf(torn).dollars, undefined);
    assert.deepEqual(
      problems.map((each) => each.slice(folder.length)),
      [
        '/conversations/c1/events/event-00003-e.json: skipped (not JSON)',
        '/conversations/c1/base_state.json: skipped (not JSON)',
      ],
    );
    assert.deepEqual(await readAll(folder, 'another'), []);
  });

  it('of aider: its chat history, and what to name instead of its other logs', async () => {
    const path = await put('cat/.aider.chat.history.md', aiderChat);
    for (const each of [path, folder]) {
      const trajectory = await readOne(each);
      assert.deepEqual(outline(trajectory), [
        '0 observation: /usr/bin/aider --model openai/gpt-4o',
        '0 asked: Write a test that fails.',
        '1 answer: I add one:',
        '1 observation: Tokens: 2.4k sent, 1.1k cache hit, 310 received. Cost: $0.0061 message, $0.0061 session.',
        '1 asked: Thanks.',
        '1 observation: Tokens: 12k sent, 2 received. Cost: $0.02 message, $0.03 session.',
      ]);
      const { instance: name, agent, model, steps } = trajectory;
      assert.deepEqual([name, agent, model], ['cat', 'aider', 'openai/gpt-4o']);
      assert.match(steps[2]?.text ?? '', /\n> not of the program\n#### nor of a person\n# aider\n/);
      const { dollars, inputTokens, outputTokens } = totalsOf(trajectory);
      assert.deepEqual([dollars?.toFixed(4), inputTokens, outputTokens], ['0.0261', 14_400, 312]);
    }
    for (const name of ['.aider.llm.history', '.aider.input.history', 'notes.md']) {
      const other = await put(`cat/${name}`, 'TO LLM 2026-11-27T17:56:36');
      await assert.rejects(readAll(other), (error: unknown) => {
        assert.ok(error instanceof HumanError);
        assert.doesNotMatch(error.message, /Copy it again|JSON/);
        assert.match(
          error.message,
          name === 'notes.md' ? /is not a trajectory/ : /chat\.history\.md/,
        );
        return true;
      });
    }
  });

  it('are found below a folder; what cannot be read is named', async () => {
    await put('a/one.traj', sweAgentFile);
    await put('b/two.traj.json', miniFile);
    await put('b/preds.json', {});
    await put('c/broken.traj', '{"trajectory": [');
    await put('.git/hidden.traj', sweAgentFile);
    const found = await readAll(folder);
    assert.deepEqual(
      found.map((each) => each.instance),
      ['one', 'two'],
    );
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /broken\.traj is not JSON/);
  });

  it('skip damaged lines by their numbers, also a torn last one', async () => {
    const lines = asLines(agentTrace).split('\n');
    const damaged = [lines[0], '{"step": "act"}', 'oops', ...lines.slice(1), '{"step": "ans'].join(
      '\n',
    );
    const [trajectory] = await readAll(await put('d.trace.jsonl', damaged));
    assert.equal(trajectory?.steps.length, 14);
    assert.deepEqual(
      problems.map((each) => each.replace(/^.*trace\.jsonl/, '').slice(0, 22)),
      [':2: skipped (key: Inva', ':3: skipped (it is not', ':16: skipped (it is no'],
    );
  });

  it('keep line ends of Unicode within a line of JSON', async () => {
    const [, , , first] = agentTrace;
    const step = { ...first, observation: 'a\u2028b\u2029c\u0085d' };
    const trajectory = await readOne(await put('u.trace.jsonl', asLines([step])));
    assert.equal(trajectory.steps.at(-1)?.text, 'a\u2028b\u2029c\u0085d');
  });

  it('of predictions are those beside them', async () => {
    const row = { instance_id: instance, model_patch: testDiff };
    const path = await put('preds.jsonl', asLines([row]));
    const refused = (said: RegExp) => (error: unknown) =>
      error instanceof HumanError && said.test(error.message);
    await assert.rejects(readAll(path), refused(/No trajectory found next to the predictions/));
    await put('preds.jsonl.trace.jsonl', asLines(agentTrace));
    assert.equal((await readOne(path)).steps.length, 14);
    await assert.rejects(readAll(join(folder, 'none.traj')), refused(/cannot be read \(ENOENT\)/));
    await assert.rejects(
      readAll(await put('other.json', { a: 1 })),
      refused(/is not a trajectory \(it has neither a trajectory nor a history\)/),
    );
    await mkdir(join(folder, 'empty'));
    await assert.rejects(readAll(join(folder, 'empty')), refused(/No trajectory files found/));
  });
});
