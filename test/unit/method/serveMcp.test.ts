import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { mock } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { silent } from '../../../src/domain/work';
import { LineTransport } from '../../../src/method/mcp/lineTransport';
import { serveMcp } from '../../../src/method/mcp/serveMcp';
import type { ModelView } from '../../../src/method/modelView';
import { candidateInMemory } from '../../../src/method/tools/tool';

const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('a run of tests that takes minutes', () => {
  const seconds = 1000;
  beforeEach(() => mock.timers.enable({ apis: ['setInterval', 'setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('is told of often enough for a client that gives up after a minute of silence', async () => {
    let end = (): void => undefined;
    const view = {
      read: () => Promise.reject(new Error('it is not looked at')),
      runOnR: () =>
        new Promise((done) => {
          const nothing = { applies: true, tests: [], others: [], ownTests: [], log: '' };
          end = () => done(nothing);
        }),
    } as unknown as ModelView;
    const [ofServer, ofClient] = InMemoryTransport.createLinkedPair();
    const candidate = candidateInMemory();
    await candidate.apply('a patch');
    const served = serveMcp(ofServer, {
      version: '1',
      view: () => Promise.resolve(view),
      candidate,
      timeoutSeconds: 600,
      reporter: silent,
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(ofClient);
    const told: number[] = [];
    const call = client.callTool({ name: 'run_tests' }, undefined, {
      timeout: 60 * seconds,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress }) => told.push(progress),
    });
    for (let passed = 0; passed < 300; passed += 10) {
      await settle();
      mock.timers.tick(10 * seconds);
    }
    await settle();
    end();
    const { _meta: meta } = await call;
    assert.deepEqual((meta?.['swt-bench/data'] as { counts?: unknown } | undefined)?.counts, {});
    assert.ok(told.length >= 10, `${told.length} times`);
    assert.deepEqual(
      told,
      told.toSorted((one, other) => one - other),
    );
    await client.close();
    await served;
  });
});

describe('the lines of a transport', () => {
  const input = (): {
    stream: PassThrough;
    read: unknown[];
    errors: string[];
    sent: () => string;
  } => {
    const stream = new PassThrough();
    const output = new PassThrough();
    const transport = new LineTransport(stream, output);
    const read: unknown[] = [];
    const errors: string[] = [];
    let sent = '';
    output.on('data', (chunk: Buffer) => (sent += chunk.toString()));
    transport.onmessage = (message) => read.push(message);
    transport.onerror = ({ message }) => errors.push(message);
    void transport.start();
    return { stream, read, errors, sent: () => sent };
  };
  const ping = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

  it('are put together from any pieces, also of one character', async () => {
    const { stream, read } = input();
    const text = JSON.stringify({ jsonrpc: '2.0', id: 'é', method: 'ping' });
    for (const byte of Buffer.from(`${text}\r\n\n`)) stream.write(Buffer.from([byte]));
    stream.write(`${ping(2)}\n${ping(3)}\n${ping(4)}`);
    await settle();
    assert.deepEqual(
      read.map((each) => (each as { id: unknown }).id),
      ['é', 2, 3],
    );
  });

  it('above the limit are answered with an error under their id, wherever it stands', async () => {
    const long = 'x'.repeat(11 * 1024 * 1024);
    const params = { name: 'apply_candidate', arguments: { patch: `"id":7}${long}` } };
    const message = { method: 'tools/call', params, jsonrpc: '2.0' };
    for (const [text, id] of [
      [JSON.stringify({ ...message, id: 5 }), 5],
      [JSON.stringify({ jsonrpc: '2.0', id: 'a"b', method: 'tools/call', params }), 'a"b'],
      [JSON.stringify(message), undefined],
      [JSON.stringify({ method: 'x', params: { text: long, id: 8 } }), undefined],
    ] as const) {
      const { stream, read, errors, sent } = input();
      stream.write(`${text}\n${ping(6)}\n`);
      await settle();
      assert.match(errors.join(), /The message has \d+ bytes, and the limit is 10485760/);
      assert.deepEqual(read.length, 1, 'the next line is read');
      if (id === undefined) assert.equal(sent(), '');
      else {
        const answer = JSON.parse(sent()) as { id: unknown; error: { message: string } };
        assert.equal(answer.id, id);
        assert.match(answer.error.message, /the limit is 10485760/);
      }
    }
  });

  it('that are no messages are told to the log, and the next is read', async () => {
    const { stream, read, errors } = input();
    stream.write(`{\n${ping(1)}\n`);
    await settle();
    assert.equal(errors.length, 1);
    assert.equal(read.length, 1);
  });
});
