import {
  agent,
  methods,
  ndJsonStream,
  type AgentApp,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import assert from 'node:assert/strict';
import { Duplex, PassThrough, Readable, Writable } from 'node:stream';
import { AcpSession, type AcpAction } from '../../../../src/method/acp/acpSession';

/** Two ends of a connection. */
function connected(): { readonly ours: Duplex; readonly theirs: Duplex } {
  const [to, from] = [new PassThrough(), new PassThrough()];
  return {
    ours: Duplex.from({ readable: from, writable: to }),
    theirs: Duplex.from({ readable: to, writable: from }),
  };
}

const ready = (): AgentApp =>
  agent({ name: 'made up' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 1,
      agentInfo: { name: 'made-up', version: '2' },
    }))
    .onRequest(methods.agent.session.new, () => ({ sessionId: 's' }));

/** Runs a session with an agent; `noise` is what it writes before anything else. */
function session(
  of: AgentApp,
  {
    noise = '',
    ...more
  }: Partial<ConstructorParameters<typeof AcpSession>[0]> & { readonly noise?: string } = {},
) {
  const { ours, theirs } = connected();
  theirs.write(noise);
  of.connect(
    ndJsonStream(
      Writable.toWeb(theirs) as WritableStream<Uint8Array>,
      Readable.toWeb(theirs) as ReadableStream<Uint8Array>,
    ),
  );
  const actions: AcpAction[] = [];
  const running = new AcpSession({
    ...{ stdio: ours, cwd: '/testbed', prompt: 'Write tests.' },
    onAction: (action) => actions.push(action),
    ...more,
  });
  return { running, actions, end: running.run() };
}

describe('a session with an agent of the protocol', () => {
  it('asks once, in the folder, and offers neither files nor terminals', async () => {
    const asked: unknown[] = [];
    const { end } = session(
      agent({ name: 'a' })
        .onRequest(methods.agent.initialize, ({ params }) => {
          const { fs, terminal } = params.clientCapabilities ?? {};
          asked.push({ fs, terminal });
          return { protocolVersion: 1 };
        })
        .onRequest(methods.agent.authenticate, ({ params }) => {
          asked.push(params.methodId);
          return {};
        })
        .onRequest(methods.agent.session.new, ({ params }) => {
          asked.push([params.cwd, params.mcpServers]);
          return { sessionId: 's' };
        })
        .onRequest(methods.agent.session.prompt, ({ params }) => {
          asked.push(params.prompt);
          return { stopReason: 'end_turn' };
        }),
      { authMethod: 'a-key', noise: 'Loading…\n' },
    );
    assert.deepEqual(await end, { ending: 'finished' });
    assert.deepEqual(asked, [
      { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      'a-key',
      ['/testbed', []],
      [{ type: 'text', text: 'Write tests.' }],
    ]);
  });

  it('tells of each action with what was said before it, also of one without an end', async () => {
    const { end, actions } = session(
      ready().onRequest(methods.agent.session.prompt, async ({ client, params: { sessionId } }) => {
        const tell = (update: object): Promise<void> =>
          client.notify(methods.client.session.update, { sessionId, update } as never);
        const text = (said: string): object => ({
          ...{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: said } },
        });
        const call = { sessionUpdate: 'tool_call', title: 'Read', kind: 'read' };
        await tell(text('I look '));
        await tell(text('at it.'));
        await tell({ ...call, toolCallId: '1', rawInput: { path: 'a.py', limit: 3 } });
        await tell({
          ...{ sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'failed' },
          content: [{ type: 'content', content: { type: 'text', text: 'no such file' } }],
        });
        await tell({ ...call, toolCallId: '2', kind: 'execute', rawInput: { command: 'ls -l' } });
        await tell(text('The end.'));
        return { stopReason: 'refusal' };
      }),
    );
    assert.deepEqual(await end, { ending: 'refused', program: 'made-up 2' });
    const told = actions.map(({ thought, action, observation, call }) => [
      ...[thought, action, observation, call.name, call.isError],
    ]);
    assert.deepEqual(told, [
      ['I look at it.', 'Read\npath: a.py\nlimit: 3', 'no such file', 'read', true],
      ['', 'ls -l', '', 'execute', false],
      ['The end.', '(no further action)', '', 'other', false],
    ]);
  });

  it('tells what a command printed, wherever the agent puts it, and which calls failed', async () => {
    const { end, actions } = session(
      ready().onRequest(methods.agent.session.prompt, async ({ client, params: { sessionId } }) => {
        const tell = (toolCallId: string, update: object): Promise<void> =>
          client.notify(methods.client.session.update, {
            sessionId,
            update: { sessionUpdate: 'tool_call_update', toolCallId, ...update },
          } as never);
        const printed = (data: string): object => ({
          _meta: { terminal_output_delta: { data, terminal_id: 't' } },
        });
        const done = { status: 'completed', kind: 'execute', title: 'x' };
        const text = (said: string): object => ({
          content: [{ type: 'content', content: { type: 'text', text: said } }],
        });
        await tell('codex', { ...printed('F\n'), title: 'x' });
        await tell('codex', printed('1 failed\n'));
        await tell('codex', { ...done, status: 'failed', rawOutput: { exit_code: 1 } });
        await tell('opencode', { ...done, ...text('F'), rawOutput: { metadata: { exit: 2 } } });
        await tell('qwen', { ...done, ...text('F\nExit Code: 1\nSignal: 0') });
        await tell('passed', { ...done, ...text('ok\nExit Code: 0') });
        await tell('openhands', { ...done, kind: 'read', ...text('Tool: a\nResult:\n❌ no') });
        await tell('read', { ...done, kind: 'read', ...text('if it dies: exit code 1') });
        await tell('gemini', done);
        return { stopReason: 'end_turn' };
      }),
    );
    await end;
    assert.deepEqual(
      actions.map(({ id, observation, call, isShown }) => [
        ...[id, observation.split('\n')[0], call.isError, isShown],
      ]),
      [
        ['codex', 'F', true, true],
        ['opencode', 'F', true, true],
        ['qwen', 'F', true, true],
        ['passed', 'ok', false, true],
        ['openhands', 'Tool: a', true, true],
        ['read', 'if it dies: exit code 1', false, true],
        ['gemini', '', false, false],
      ],
    );
    assert.equal(actions[0]?.observation, 'F\n1 failed\n');
  });

  it('ends where the agent breaks off, gives an error, or is stopped', async () => {
    const broken = session(
      ready().onRequest(methods.agent.session.prompt, () => {
        throw new Error('out of ideas');
      }),
    );
    assert.equal((await broken.end).ending, 'crashed');
    const { ours, theirs } = connected();
    theirs.end();
    const gone = new AcpSession({
      ...{ stdio: ours, cwd: '/', prompt: '', onAction: () => undefined },
    });
    assert.equal((await gone.run()).ending, 'crashed');
    let isCancelled = false;
    let stop: () => void = () => undefined;
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const stopped = session(
      ready()
        .onRequest(methods.agent.session.prompt, () => {
          asked();
          return new Promise((resolve) => (stop = () => resolve({ stopReason: 'cancelled' })));
        })
        .onNotification(methods.agent.session.cancel, () => {
          isCancelled = true;
          stop();
        }),
    );
    await isAsked;
    stopped.running.end('cost');
    assert.equal((await stopped.end).ending, 'cost');
    assert.ok(isCancelled, 'the agent is told');
  });

  it('ends an agent that writes without end, in messages and beside them', async () => {
    for (const noise of ['x\n'.repeat(300_000), `{"a":"${'x'.repeat(9 << 20)}"}\n`]) {
      const { end } = session(ready(), { noise });
      assert.equal((await end).ending, 'output');
    }
  });

  it('grants what it is asked, once if that is offered', async () => {
    type Kind = 'allow_once' | 'allow_always' | 'reject_once';
    const outcomes: unknown[] = [];
    const { end } = session(
      ready().onRequest(methods.agent.session.prompt, async ({ client, params: { sessionId } }) => {
        const ask = async (...kinds: Kind[]): Promise<void> => {
          const { outcome }: RequestPermissionResponse = await client.request(
            methods.client.session.requestPermission,
            {
              sessionId,
              toolCall: { toolCallId: 't' },
              options: kinds.map((kind) => ({ optionId: kind, name: kind, kind })),
            },
          );
          outcomes.push(outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome);
        };
        await ask('reject_once', 'allow_always', 'allow_once');
        await ask('reject_once', 'allow_always');
        await ask('reject_once');
        return { stopReason: 'end_turn' };
      }),
    );
    assert.equal((await end).ending, 'finished');
    assert.deepEqual(outcomes, ['allow_once', 'allow_always', 'cancelled']);
  });
});
