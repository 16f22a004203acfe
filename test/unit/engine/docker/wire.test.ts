import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import type { Container } from 'dockerode';
import { attachProgram } from '../../../../src/engine/docker/attachedProgram';
import { asciiJson, openAgentProtocol } from '../../../../src/engine/sandbox/agentProtocol';

/** Bytes of a stream as the engine sends them: 1 is output, 2 is errors (API, "attach"). */
function chunk(kind: 1 | 2, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head[0] = kind;
  head.writeUInt32BE(content.length, 4);
  return Buffer.concat([head, content]);
}

const frame = (header: object, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${asciiJson({ ...header, bytes: payload.length })}\n`), payload]);

function connection(): { readonly stream: Duplex; readonly sent: Buffer[] } {
  const sent: Buffer[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write(data: Buffer, _encoding, done) {
      sent.push(data);
      done();
    },
  });
  return { stream, sent };
}

/** The protocol over an exec of the engine with this stream. */
async function wireOver(stream: Duplex): Promise<ReturnType<typeof openAgentProtocol>> {
  const exec = { start: () => Promise.resolve(stream) };
  const container = { exec: () => Promise.resolve(exec) } as unknown as Container;
  return openAgentProtocol(await attachProgram(container, ['agent']));
}

describe('the wire to the agent', () => {
  it('gives frames as they were sent, however the stream was cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 90 }),
        async (payloads, size) => {
          const { stream } = connection();
          const wire = await wireOver(stream);
          const all = Buffer.concat(
            payloads.map((payload) => frame({ kind: 'output' }, Buffer.from(payload))),
          );
          for (let at = 0; at < all.length; at += size) {
            stream.push(chunk(1, all.subarray(at, at + size)));
          }
          stream.push(null);
          for (const payload of payloads) {
            const got = await wire.receive();
            assert.equal(got?.header.kind, 'output');
            assert.deepEqual(got.payload, Buffer.from(payload));
          }
          assert.equal(await wire.receive(), undefined);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('tells what the agent complained of, and that it is gone', async () => {
    const { stream } = connection();
    const wire = await wireOver(stream);
    stream.push(chunk(2, Buffer.from('Traceback\nMemoryError\n')));
    stream.push(chunk(1, Buffer.from('{"kind":"output","bytes":10}\nhalf')));
    stream.push(null);
    assert.equal(await wire.receive(), undefined);
    assert.match(wire.complaint(), /MemoryError$/);
  });

  it('takes what is no frame for the end', async () => {
    const { stream } = connection();
    const wire = await wireOver(stream);
    stream.push(chunk(1, Buffer.from('Killed\n')));
    assert.equal(await wire.receive(), undefined);
  });

  it('sends text that has no UTF-8 so that Python reads the same', async () => {
    const { stream, sent } = connection();
    (await wireOver(stream)).send({ kind: 'write', path: 'a\udce9é' }, Buffer.from([1, 2]));
    const text = Buffer.concat(sent).toString('latin1');
    assert.equal(text, '{"kind":"write","path":"a\\udce9\\u00e9","bytes":2}\n\u0001\u0002');
  });
});
