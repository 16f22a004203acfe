// Small files in the formats of each program, made up for the tests.
import type { Step } from '../../../src/method/traces/traceSteps';

export const instance = 'octo__cat-7';

export const testDiff = `diff --git a/tests/test_cat.py b/tests/test_cat.py
--- a/tests/test_cat.py
+++ b/tests/test_cat.py
@@ -1,2 +1,5 @@
 from cat import purr
 
+
+def test_purr():
+    assert purr() == "prrr"
`;

const usage = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
});

/** SWE-agent 1.x: the state is an object, and the history has the requests. */
export const sweAgentFile = {
  environment: 'main',
  trajectory: [
    {
      action: 'find_file cat.py',
      observation: 'Found 1 match\n/testbed/cat.py',
      response: 'I look for it.',
      thought: 'I look for it.',
      execution_time: 0.5,
      state: { open_file: '', working_dir: '/testbed', diff: '' },
      query: [{ role: 'system', content: 'all of it again' }],
    },
    {
      action: 'submit',
      observation: testDiff,
      response: 'Done.',
      thought: 'Done.',
      execution_time: 0.25,
      state: { open_file: '', working_dir: '/testbed', diff: testDiff },
    },
  ],
  history: [
    { role: 'system', content: 'You write tests.', agent: 'main' },
    { role: 'user', content: 'A demonstration', is_demo: true, agent: 'main' },
    { role: 'user', content: [{ type: 'text', text: 'The issue' }], agent: 'main' },
    { role: 'assistant', content: 'I look for it.', agent: 'main' },
  ],
  info: {
    exit_status: 'submitted',
    submission: testDiff,
    model_stats: { instance_cost: 0.5, tokens_sent: 1000, tokens_received: 50, api_calls: 2 },
  },
  replay_config: JSON.stringify({ agent: { model: { name: 'gpt-4o' } } }),
};

/** mini-SWE-agent 2: tools are called, and each message has its cost and time. */
export const miniFile = {
  info: {
    model_stats: { instance_cost: 0.03, api_calls: 2 },
    config: { model: { model_name: 'anthropic/claude' } },
    exit_status: 'Submitted',
    submission: testDiff,
  },
  messages: [
    { role: 'system', content: 'You write tests.' },
    { role: 'user', content: 'The issue', extra: { timestamp: 100 } },
    {
      role: 'assistant',
      content: 'I look around.',
      reasoning_content: 'Hm.',
      tool_calls: [{ id: 'a', function: { name: 'bash', arguments: '{"command": "ls"}' } }],
      extra: {
        actions: [{ command: 'ls', tool_call_id: 'a' }],
        cost: 0.01,
        timestamp: 103,
        response: { usage: usage(900, 40) },
      },
    },
    { role: 'tool', tool_call_id: 'a', content: 'cat.py\n', extra: { timestamp: 104 } },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'b', function: { name: 'bash', arguments: '{"command": "pytest"}' } },
        { id: 'c', function: { name: 'bash', arguments: '{"command": "git diff"}' } },
      ],
      extra: { cost: 0.02, timestamp: 110, response: { usage: usage(1000, 20) } },
    },
    { role: 'tool', tool_call_id: 'b', content: '1 failed', extra: { timestamp: 112 } },
    {
      role: 'exit',
      content: 'Submitted',
      extra: { exit_status: 'Submitted', submission: testDiff },
    },
  ],
  trajectory_format: 'mini-swe-agent-1.1',
};

/** mini-SWE-agent 1: the list of messages, with commands in blocks of the text. */
export const oldMiniFile = [
  { role: 'system', content: 'You write tests.' },
  { role: 'user', content: 'The issue' },
  { role: 'assistant', content: 'THOUGHT: I look.\n\n```bash\nls -la\n```' },
  { role: 'user', content: '<returncode>0</returncode>\n<output>\ncat.py\n</output>' },
];

/** What a model answers in the Responses API, with a call of `bash` or without one. */
const response = (command?: string) => ({
  object: 'response',
  output: [
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
    command === undefined
      ? { type: 'message', content: [{ type: 'output_text', text: 'It is done.' }] }
      : { type: 'function_call', name: 'bash', arguments: JSON.stringify({ command }) },
  ],
  usage: { input_tokens: 100, output_tokens: 5 },
});

const formatError = { interrupt_type: 'FormatError', cost: 0.25 };
const wrong = { role: 'user', content: 'Tool call error: no tool calls' };

/**
 * mini-SWE-agent 2.4 tells a model of a wrong format, and keeps its answer beside that: with tools,
 * with text alone, and of the Responses API.
 */
export const miniFormatErrors = {
  info: { model_stats: { instance_cost: 1, api_calls: 4 }, exit_status: 'Submitted' },
  messages: [
    { role: 'system', content: 'You write tests.' },
    {
      ...wrong,
      extra: {
        ...formatError,
        response: {
          choices: [{ message: { role: 'assistant', content: 'Done.' } }],
          usage: usage(100, 5),
        },
      },
    },
    { ...wrong, extra: { ...formatError, n_actions: 0, model_response: 'Here: ls' } },
    { type: 'message', ...wrong, extra: { ...formatError, response: response() } },
    { ...response('ls'), extra: { cost: 0.25, actions: [{ command: 'ls' }] } },
    { type: 'function_call_output', call_id: 'c', output: 'cat.py' },
  ],
};

/** The chat history of aider 0.86. */
export const aiderChat = `
# aider chat started at 2026-11-27 17:56:32

> /usr/bin/aider --model openai/gpt-4o
> Main model: openai/gpt-4o with diff edit format
> Added cat.py to the chat.

#### Write a test that fails.
#### For issue 7.

I add one:

tests/test_cat.py
\`\`\`python
> not of the program
#### nor of a person
# aider
\`\`\`

> Tokens: 2.4k sent, 1.1k cache hit, 310 received. Cost: $0.0061 message, $0.0061 session.
> Applied edit to tests/test_cat.py

#### Thanks.

> Tokens: 12k sent, 2 received. Cost: $0.02 message, $0.03 session.
`;

/** Files of a conversation of OpenHands 1.16, by their names. Its title is paid for, and is no event. */
export const conversation = {
  'base_state.json': {
    agent: { llm: { model: 'openai/gpt-4o', api_key: '**********' } },
    execution_status: 'finished',
    stats: {
      usage_to_metrics: {
        agent: {
          accumulated_cost: 0.5,
          accumulated_token_usage: usage(700, 25),
          costs: [{ cost: 0.5 }],
          token_usages: [{ response_id: 'r1', ...usage(700, 25) }],
        },
        title: { accumulated_cost: 0.25, accumulated_token_usage: usage(30, 3) },
        broken: 7,
      },
    },
  },
  'events/event-00000-a.json': {
    kind: 'SystemPromptEvent',
    system_prompt: { text: 'You write tests.' },
  },
  'events/event-00002-c.json': {
    kind: 'ActionEvent',
    thought: [{ type: 'text', text: 'I look.' }],
    tool_name: 'terminal',
    action: { kind: 'TerminalAction', command: 'ls' },
    llm_response_id: 'r1',
  },
  'events/event-00001-b.json': {
    kind: 'MessageEvent',
    source: 'user',
    llm_message: { role: 'user', content: [{ type: 'text', text: 'The issue' }] },
  },
  'events/event-100000-d.json': {
    kind: 'ObservationEvent',
    tool_name: 'terminal',
    observation: { content: [{ type: 'text', text: 'cat.py' }] },
  },
};

/** A row of OpenHands before 1.0. */
export const oldOpenHandsRow = {
  instance_id: instance,
  instruction: 'The issue',
  metadata: { agent_class: 'CodeActAgent', llm_config: { model: 'openai/gpt-4o' } },
  history: [
    {
      id: 0,
      source: 'user',
      action: 'message',
      timestamp: '2025-01-01T00:00:00',
      args: { content: 'The issue' },
    },
    { id: 1, source: 'user', action: 'recall', args: { query: 'The issue' } },
    {
      id: 2,
      source: 'agent',
      timestamp: '2025-01-01T00:00:05',
      action: 'run',
      args: { command: 'grep -rn purr .', thought: 'I search.', blocking: false },
      tool_call_metadata: { model_response: { id: 'r1', usage: usage(800, 30) } },
      llm_metrics: { accumulated_cost: 0.004 },
    },
    {
      id: 3,
      source: 'agent',
      timestamp: '2025-01-01T00:00:07',
      observation: 'run',
      content: 'cat.py:1:def purr():',
      cause: 2,
      extras: { command: 'grep -rn purr .' },
    },
    {
      id: 4,
      source: 'agent',
      action: 'edit',
      args: { path: '/workspace/tests/test_cat.py', command: 'create', file_text: 'x = 1\ny = 2' },
      tool_call_metadata: { model_response: { id: 'r2', usage: usage(900, 60) } },
      llm_metrics: { accumulated_cost: 0.01 },
    },
    { id: 5, source: 'environment', observation: 'agent_state_changed', content: '' },
    { id: 6, source: 'agent', action: 'finish', args: { final_thought: 'Done.' } },
  ],
  test_result: { git_patch: testDiff },
  error: null,
};

/** A row of OpenHands since 1.0. */
export const newOpenHandsRow = {
  instance_id: instance,
  attempt: 1,
  history: [
    { kind: 'SystemPromptEvent', source: 'agent', system_prompt: { text: 'You write tests.' } },
    {
      kind: 'MessageEvent',
      source: 'user',
      timestamp: '2025-11-01T00:00:00',
      llm_message: { role: 'user', content: [{ type: 'text', text: 'The issue' }] },
    },
    {
      kind: 'ActionEvent',
      source: 'agent',
      timestamp: '2025-11-01T00:00:04',
      thought: [{ type: 'text', text: 'I look.' }],
      tool_name: 'terminal',
      action: { kind: 'TerminalAction', command: 'ls', is_input: false, timeout: null },
      llm_response_id: 'r1',
    },
    {
      kind: 'ActionEvent',
      source: 'agent',
      thought: [],
      tool_name: 'file_editor',
      action: { kind: 'FileEditorAction', command: 'view', path: '/workspace/cat.py' },
      llm_response_id: 'r1',
    },
    {
      kind: 'ObservationEvent',
      source: 'environment',
      timestamp: '2025-11-01T00:00:05',
      tool_name: 'terminal',
      observation: { content: [{ type: 'text', text: 'cat.py' }] },
    },
    { kind: 'AgentErrorEvent', source: 'agent', tool_name: 'file_editor', error: 'no such file' },
    { kind: 'ConversationStateUpdateEvent', source: 'environment', key: 'stats' },
  ],
  test_result: { git_patch: testDiff },
  metrics: {
    accumulated_cost: 0.02,
    costs: [{ model: 'm', cost: 0.02, timestamp: 1 }],
    token_usages: [{ response_id: 'r1', ...usage(700, 25) }],
  },
};

let second = 0;
/** The fields that every step of a trace has. */
const common = (key: string, of = instance) => ({
  key,
  instance: of,
  at: new Date(Date.UTC(2026, 0, 1, 0, 0, second++)).toISOString(),
});

const answer = (key: string, text: string, purpose: 'tests' | 'act', of = instance): Step => ({
  ...common(key, of),
  step: 'answer',
  purpose,
  method: 'mini',
  model: 'openai/gpt-4o',
  sample: 1,
  parameters: { temperature: 0, maxOutputTokens: 100 },
  prompt: 'p',
  text,
  finish: 'stop',
  inputTokens: 100,
  outputTokens: 10,
  dollars: 0.01,
  seconds: 2,
});

const act = (key: string, of: string, more: Partial<Extract<Step, { step: 'act' }>>): Step => ({
  ...common(key),
  step: 'act',
  agent: 'mini',
  model: 'openai/gpt-4o',
  answer: of,
  thought: 'I look.',
  action: 'ls',
  observation: 'cat.py',
  isSubmission: false,
  state: { cwd: '/testbed' },
  seconds: 0.5,
  patch: '',
  leftOut: [],
  ...more,
});

const prompt = (
  key: string,
  messages: { role: 'user' | 'assistant'; content: string }[],
): Step => ({
  ...common(key),
  step: 'prompt',
  purpose: 'act',
  prompt: 'p',
  system: 'You write tests.',
  messages,
  files: [],
  tokens: 10,
});

const issue = { role: 'user', content: 'The issue' } as const;
const answered = (text: string) => ({ role: 'assistant', content: text }) as const;
const observed = (text: string) => ({ role: 'user', content: text }) as const;

/** An agent that is killed after its second turn, makes a format error, and submits. */
export const agentTrace: readonly Step[] = [
  { ...common('w'), step: 'workspace', folder: '/testbed' },
  prompt('p1', [issue]),
  answer('a1', 'I look.\n```bash\nls\n```', 'act'),
  act('x1', 'a1', {}),
  prompt('p2', [issue, answered('I look…'), observed('cat.py')]),
  answer('a2', 'No block', 'act'),
  prompt('p3', [
    issue,
    answered('I look…'),
    observed('cat.py'),
    answered('No block'),
    observed('Your answer has 0 commands.'),
  ]),
  answer('a3', 'I write.\n```bash\ncat > t\n```', 'act'),
  act('x2', 'a3', { thought: 'I write.', action: 'cat > t', observation: '', patch: testDiff }),
  answer('a4', 'Done.\n```bash\nsubmit\n```', 'act'),
  act('x3', 'a4', {
    thought: 'Done.',
    action: 'submit',
    observation: 'ok',
    patch: testDiff,
    isSubmission: true,
    isRestarted: true,
  }),
  {
    ...common('c'),
    step: 'choice',
    method: 'mini',
    model: 'openai/gpt-4o',
    sample: 1,
    why: 'submitted',
    patch: testDiff,
  },
];

/** Another instance in the same file, whose candidate an oracle judged. */
export const oracleTrace: readonly Step[] = [
  answer('o1', 'the test', 'tests', 'octo__dog-8'),
  {
    ...common('o2', 'octo__dog-8'),
    step: 'patch',
    applies: true,
    patch: testDiff,
    ownTests: ['tests/test_cat.py::test_purr'],
    diagnostics: [],
  },
  {
    ...common('o3', 'octo__dog-8'),
    step: 'run',
    tests: [{ test: 'tests/test_cat.py::test_purr', outcome: 'failed', message: 'no purr' }],
    failingBefore: [],
    seconds: 1,
  },
  {
    ...common('o4', 'octo__dog-8'),
    step: 'verdict',
    applies: true,
    success: true,
    reason: 'success',
    failToPass: 1,
    delta: 0.5,
  },
  {
    ...common('o5', 'octo__dog-8'),
    step: 'choice',
    method: 'pass-at-5',
    model: 'openai/gpt-4o',
    sample: 1,
    why: 'a success on R∘X*',
    patch: testDiff,
  },
];

/** Lines of JSON. */
export const asLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** An agent that calls tools: one for a shell, one with other arguments, and one that fails. */
export const toolTrace: readonly Step[] = [
  prompt('tp1', [issue]),
  answer('t1', '', 'act'),
  act('tx1', 't1', {
    ...{ thought: '', action: 'ls -la', observation: 'cat.py' },
    call: { name: 'bash', input: { command: 'ls -la' }, isError: false },
  }),
  act('tx2', 't1', {
    ...{ thought: '', action: 'edit\npath: cat.py', observation: 'no such text', patch: testDiff },
    call: { name: 'edit', input: { path: 'cat.py', old: 'a', new: 'b' }, isError: true },
  }),
  answer('t2', '', 'act'),
  act('tx3', 't2', {
    ...{ thought: '', action: 'submit', observation: '', isSubmission: true, patch: testDiff },
    call: { name: 'submit', input: 'now', isError: false },
  }),
];

const atifAgent = { name: 'octo', version: '1', model_name: 'm' };
const call = (tool_call_id: string, function_name: string, given: object) => ({
  ...{ tool_call_id, function_name, arguments: given },
});

/** ATIF 1.7 of another agent, with files that continue it and that its subagents wrote. */
export const atifFiles: Readonly<Record<string, unknown>> = {
  'trajectory.json': {
    schema_version: 'ATIF-v1.7',
    session_id: 's',
    agent: atifAgent,
    notes: 'made up',
    steps: [
      { step_id: 1, source: 'system', message: 'You write tests.' },
      { step_id: 2, source: 'user', message: [{ type: 'text', text: 'The issue' }] },
      {
        step_id: 3,
        timestamp: '2026-01-01T00:00:00Z',
        source: 'agent',
        message: '',
        reasoning_content: 'Hm.',
        tool_calls: [
          call('c1', 'bash', { command: 'ls', timeout: 3 }),
          call('c2', 'view_image', { path: 'cat.png' }),
        ],
        observation: {
          results: [
            {
              source_call_id: 'c2',
              content: [
                { type: 'image', source: { media_type: 'image/png', path: 'images/cat.png' } },
              ],
            },
            { source_call_id: 'c1', content: 'cat.py' },
            { content: 'a warning' },
          ],
        },
        metrics: { prompt_tokens: 100, completion_tokens: 10, cost_usd: 0.25 },
      },
      {
        step_id: 4,
        source: 'agent',
        model_name: 'other-model',
        message: 'I ask.',
        tool_calls: [call('c3', 'delegate', { task: 'look', depth: 1 })],
        observation: {
          results: [{ source_call_id: 'c3', subagent_trajectory_ref: [{ trajectory_id: 'e' }] }],
        },
      },
      {
        step_id: 5,
        source: 'agent',
        llm_call_count: 0,
        message: '',
        tool_calls: [call('c4', 'summarize', {})],
        observation: {
          results: [
            {
              source_call_id: 'c4',
              subagent_trajectory_ref: [
                { session_id: 's', trajectory_path: '/logs/agent/trajectory.summary.json' },
                { session_id: 's', trajectory_path: 'https://example.com/t.json' },
              ],
            },
          ],
        },
      },
      { step_id: 6, source: 'agent', llm_call_count: 0, message: 'compacted' },
    ],
    final_metrics: { total_prompt_tokens: 500, total_cost_usd: 0.5 },
    continued_trajectory_ref: 'trajectory.cont-1.json',
    subagent_trajectories: [
      {
        schema_version: 'ATIF-v1.7',
        trajectory_id: 'e',
        agent: { name: 'explorer', version: '1' },
        steps: [
          { step_id: 1, source: 'user', message: 'Look around' },
          { step_id: 2, source: 'agent', message: 'Nothing.' },
        ],
      },
    ],
  },
  'trajectory.summary.json': {
    schema_version: 'ATIF-v1.5',
    session_id: 's',
    agent: { name: 'summarizer', version: '1' },
    steps: [{ step_id: 1, source: 'agent', message: 'A summary.' }],
  },
  'trajectory.cont-1.json': {
    schema_version: 'ATIF-v1.7',
    session_id: 's',
    agent: atifAgent,
    steps: [
      { step_id: 1, source: 'user', message: 'The issue', is_copied_context: true },
      {
        step_id: 2,
        source: 'agent',
        message: 'pytest -q',
        observation: { results: [{ content: '1 failed' }] },
      },
      { step_id: 3, source: 'agent', message: 'Done.' },
    ],
    final_metrics: { total_prompt_tokens: 900, total_completion_tokens: 90, total_cost_usd: 0.5 },
  },
};
