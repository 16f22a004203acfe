import { agent, methods, ndJsonStream, type AgentContext } from '@agentclientprotocol/sdk';
import { execFile, spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * An agent of the Agent Client Protocol that plays a part: it is bundled into the program folder of a
 * test, and the first argument names its part.
 */

const [, , part = 'good'] = process.argv;
const base = process.env['OPENAI_BASE_URL'] ?? '';
const test = 'tests/test_lost_cent.py';

/** Asks the model as OpenAI's clients do. */
async function ask(text: string, more: object = {}): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({
      model: 'another-model',
      stream: true,
      messages: [
        { role: 'system', content: 'You are an agent.' },
        { role: 'user', content: text },
      ],
      ...more,
    }),
  });
  const said = await answer.text();
  const pieces = [...said.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => {
    const { choices } = JSON.parse(data) as { choices: { delta?: { content?: string } }[] };
    return choices[0]?.delta?.content ?? '';
  });
  return { status: answer.status, text: pieces.length > 0 ? pieces.join('') : said };
}

/** Runs a program, and tells the client of it. */
async function run(client: AgentContext, sessionId: string, command: string): Promise<string> {
  const toolCallId = `call-${Math.random()}`;
  const of = { sessionId };
  await client.notify(methods.client.session.update, {
    ...of,
    update: {
      ...{ sessionUpdate: 'tool_call', toolCallId, title: 'Run', kind: 'execute' },
      ...{ status: 'pending', rawInput: { command } },
    },
  });
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    ...of,
    toolCall: { toolCallId },
    options: [
      { optionId: 'no', name: 'No', kind: 'reject_once' },
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'once', name: 'Once', kind: 'allow_once' },
    ],
  });
  const chosen = outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
  const output = await promisify(execFile)('sh', ['-c', command]).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout?: string; stderr?: string }) => `${error.stdout ?? ''}${error.stderr ?? ''}`,
  );
  const text = `${chosen}: ${output}`;
  await client.notify(methods.client.session.update, {
    ...of,
    update: {
      ...{ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' },
      content: [{ type: 'content', content: { type: 'text', text } }],
    },
  });
  return output;
}

/** What comes of an attempt to reach something. */
const attempt = (what: Promise<unknown>): Promise<string> =>
  Promise.race([
    what.then(
      (found) => `REACHED ${JSON.stringify(found)}`,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    ),
    sleep(5000, 'nothing'),
  ]);

const dial = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => resolve(`${host}:${port}`));
    socket.on('error', reject);
  });

/** All files and environments that this user can read, searched for a word. */
function findingsOf(word: string): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const file of ['environ', 'cmdline']) {
      try {
        if (readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(word))
          found.push(`${pid}/${file}`);
      } catch {
        // It is another user's.
      }
    }
  }
  return found;
}

const parts: Readonly<
  Record<string, (client: AgentContext, id: string, prompt: string) => Promise<void>>
> = {
  async good(client, id, prompt) {
    const { text } = await ask(prompt, {
      tools: [{ type: 'web_search' }, { type: 'function', function: { name: 'write' } }],
      web_search_options: {},
    });
    writeFileSync(test, text);
    const [, command = ''] = /To run the tests of a file.* run in .*:\n\n(.*)\n/.exec(prompt) ?? [];
    const of = command.replace(/tests[./]\w+(?:\.py)?/, (file) =>
      file.includes('/') ? test : 'tests.test_lost_cent',
    );
    await run(client, id, of);
  },
  async probe(client, id) {
    const gateway = await run(client, id, 'cat /proc/net/route /proc/net/if_inet6 2>&1');
    const tried = {
      gateway,
      address: await attempt(dial('1.1.1.1', 443)),
      bridge: await attempt(dial('172.17.0.1', 80)),
      local6: await attempt(dial('::1', 80)),
      six: await attempt(dial('2606:4700:4700::1111', 443)),
      name: await attempt(dial('pypi.org', 443)),
      dns: await attempt(lookup('pypi.org')),
      proxied: await attempt(
        fetch(base.replace('/v1', '/v1/files')).then(({ status }) => {
          throw new Error(`status ${status}`);
        }),
      ),
      absolute: await run(
        client,
        id,
        `printf 'GET http://pypi.org/simple/ HTTP/1.1\\r\\nHost: pypi.org\\r\\nConnection: close\\r\\n\\r\\n' | node -e 'const s=require("net").connect(${new URL(base).port},"127.0.0.1");process.stdin.pipe(s);s.pipe(process.stdout)' | head -1`,
      ),
      key: findingsOf('sk-the-real-key'),
      environment: Object.values(process.env).filter((value) => value?.includes('sk-') === true),
      program: await attempt(Promise.resolve().then(() => writeFileSync('/agent/x', 'x'))),
      history: await run(client, id, 'git log --oneline | wc -l'),
      package: await run(client, id, 'python -m pip download tallybook 2>&1 | tail -1'),
    };
    await ask('hello');
    writeFileSync('tests/probe.txt', JSON.stringify(tried, undefined, 1));
  },
  async looks(client, id, prompt) {
    const seen = await run(
      client,
      id,
      [
        'find /testbed /swt /agent -type f ! -path "*/__pycache__/*" -printf "%p %s %m %T@\\n" | grep -v /.git/index | sort',
        'git log --format=%H%n%B --all; git status --short; find /testbed -type f ! -path "*/__pycache__/*" | sort | xargs md5sum | grep -v /.git/index',
        'ls -a / /tmp /home /root; id; hostname; cat /etc/hosts',
        // Names of images and environments. Random in every run are a port, ids, and the two layers on top.
        'env | sort | sed "s/127.0.0.1:[0-9]*/127.0.0.1:PORT/"; tr "\\0" " " < /proc/1/cmdline',
        'sed -E "s/(upperdir|workdir)=[^, ]*//g; s/lowerdir=[^:]*//; s/[0-9a-f]{12,}/ID/; s/^[0-9]+ [0-9]+ [0-9:]+ //" /proc/self/mountinfo',
        'python -m pip list 2>&1; python -c "import sys; print(sys.version, sys.path)"',
      ].join(';'),
    );
    await ask(`${prompt}\n${seen}`);
  },
  async asks(client, id) {
    for (let count = 0; count < 50; count += 1) {
      await client.request(methods.client.session.requestPermission, {
        sessionId: id,
        toolCall: { toolCallId: 'x', title: 'everything' },
        options: [
          { optionId: 'a', name: 'Allow', kind: 'allow_always' },
          { optionId: 'r', name: 'Reject', kind: 'reject_once' },
        ],
      });
    }
    const refused = await client
      .request(methods.client.fs.readTextFile, { sessionId: id, path: '/etc/passwd' })
      .then(
        () => 'given',
        () => 'refused',
      );
    writeFileSync('tests/asked.txt', `${refused}\n`);
  },
  async spends() {
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      statuses.push((await ask('more '.repeat(100), { max_tokens: 1000 })).status);
    }
    writeFileSync('tests/spent.txt', `${JSON.stringify(statuses)}\n`);
  },
  async crashes() {
    writeFileSync('tests/before.txt', 'a line\n');
    await ask('hello');
    process.stderr.write('Segmentation fault of the fake\n');
    process.exit(139);
  },
  async refuses() {
    await ask('hello');
  },
  async floods() {
    await ask('hello');
    const line = Buffer.alloc(1 << 20, 'x');
    for (let count = 0; count < 1024; count += 1) {
      if (!process.stdout.write(line)) await once(process.stdout, 'drain');
    }
  },
  async fills() {
    await ask('hello');
    writeFileSync('tests/before.txt', 'a line\n');
    for (let count = 0; count < 1024; count += 1) {
      // No file is as long as the limit of one.
      appendFileSync(`tests/large-${Math.floor(count / 128)}.bin`, Buffer.alloc(1 << 20, 7));
    }
    await sleep(2 ** 30);
  },
  async endless() {
    await ask('hello');
    writeFileSync('tests/before.txt', 'a line\n');
    // A process of its own session survives its parent.
    spawn('sh', ['-c', 'while :; do echo more >> tests/after.txt; sleep 0.1; done'], {
      detached: true,
      stdio: 'ignore',
    });
    await sleep(2 ** 30);
  },
};

const sessions = new Map<string, string>();
if (part !== 'silent') {
  agent({ name: 'fake' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 1,
      agentInfo: { name: 'fake', version: '1.2.3' },
      agentCapabilities: {},
    }))
    .onRequest(methods.agent.session.new, ({ params }) => {
      process.chdir(params.cwd);
      sessions.set('one', params.cwd);
      return { sessionId: 'one' };
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const [block] = params.prompt;
      const prompt = block?.type === 'text' ? block.text : '';
      await client.notify(methods.client.session.update, {
        sessionId: params.sessionId,
        update: {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'text', text: `I play ${part}.` },
        },
      });
      await parts[part]?.(client, params.sessionId, prompt);
      return { stopReason: part === 'refuses' ? 'refusal' : 'end_turn' };
    })
    .connect(
      ndJsonStream(
        Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
        Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
      ),
    );
} else {
  process.stdin.resume();
}
