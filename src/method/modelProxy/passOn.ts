import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { parseForeignJson } from '../../files/json';
import type { AnswerReader } from './conversation';

/** Bytes of an answer, and of a line of a stream: far more than any model writes. */
const answerLimit = 64 << 20;

/**
 * Passes an answer on to an agent and reads it on the way: the whole, or line by line where it is a
 * stream of events (https://html.spec.whatwg.org/multipage/server-sent-events.html). The end is left
 * to the caller.
 *
 * @throws what breaks off the connection; the reader has what came until then
 */
export async function passOn(
  answer: Response,
  response: ServerResponse,
  of: { readonly reader: AnswerReader; readonly withoutSecrets: (text: string) => string },
): Promise<void> {
  const type = answer.headers.get('content-type') ?? 'application/json';
  response.writeHead(answer.status, { 'content-type': type });
  response.flushHeaders();
  const { body } = answer;
  if (body === null) return;
  const isStream = /event-stream/i.test(type);
  if (isStream) await passEvents(body as AsyncIterable<Uint8Array>, response, of);
  else await passWhole(body as AsyncIterable<Uint8Array>, response, of);
}

type Passing = Parameters<typeof passOn>[2];

async function passWhole(
  body: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  { reader, withoutSecrets }: Passing,
): Promise<void> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > answerLimit) throw new Error('the answer is too long');
    pieces.push(piece);
  }
  const text = withoutSecrets(Buffer.concat(pieces).toString('utf8'));
  take(reader, text);
  await write(response, text);
}

async function passEvents(
  body: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  { reader, withoutSecrets }: Passing,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let bytes = 0;
  const passLines = async (text: string): Promise<void> => {
    if (text === '') return;
    for (const line of text.split('\n')) {
      const [, data] = /^data:(.*?)\r?$/s.exec(line) ?? [];
      if (data !== undefined && data.trim() !== '[DONE]') take(reader, data);
    }
    await write(response, withoutSecrets(text));
  };
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > answerLimit) throw new Error('the answer is too long');
    rest += decoder.write(Buffer.from(piece));
    const end = rest.lastIndexOf('\n') + 1;
    const lines = rest.slice(0, end);
    rest = rest.slice(end);
    await passLines(lines);
  }
  await passLines(rest + decoder.end());
}

function take(reader: AnswerReader, text: string): void {
  try {
    reader.take(parseForeignJson(text));
  } catch {
    // It is no JSON: the answer is counted by what else came.
  }
}

/** Writes when there is room. An agent that is gone does not end the reading. */
async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed || response.writableEnded) return;
  if (response.write(text)) return;
  await Promise.race([once(response, 'drain'), once(response, 'close')]).catch(() => undefined);
}
