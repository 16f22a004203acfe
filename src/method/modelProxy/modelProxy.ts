import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import PQueue from 'p-queue';
import { messageOf, type Reporter } from '../../domain/work';
import { redactKeys } from '../../engine/keysInUse';
import { parseForeignJson } from '../../files/json';
import type { AgentLimits } from '../agents/agent';
import { BudgetSpent, dollarsOf, type Budget, type Price } from '../models/budget';
import { ModelFailure, ModelUnusable, type ModelAnswer } from '../models/chatModel';
import type { ModelUpstream } from '../models/openModel';
import { statedRates } from '../models/rateHeaders';
import { TooManyRequests } from '../models/rateLimiter';
import { retryAfter } from '../models/retrying';
import { serverErrorOf } from '../models/serverError';
import { tokensOfUntrusted } from '../prompt/tokens';
import {
  AnswerReader,
  askedText,
  newToolResults,
  type AskedText,
  type ToolResult,
} from './conversation';
import { isFields, listOf, type JsonFields } from './jsonFields';
import { passedRequest, type AskedOfApi, type ModelApi, type PassedRequest } from './modelApi';
import { apiAsked, errorOf } from './modelApis';
import { passOn } from './passOn';
import { passing, RequestFindings, RequestRefused } from './requestShape';

/** A request that was answered, for the trace. */
export interface ProxiedExchange {
  /** As it was sent. Untrusted, like everything that an agent makes. */
  readonly asked: AskedText;
  /** The outcome of the calls since the answer before. */
  readonly results: readonly ToolResult[];
  /** How many tools the request offers. */
  readonly tools: number;
  /** What was taken out of the request before, in words. */
  readonly removed: readonly string[];
  readonly answer: ModelAnswer;
  /** The limit of tokens that the request had. */
  readonly mostOutput: number;
  readonly inputEstimate: number;
  readonly seconds: number;
}

interface ModelProxyParts {
  readonly upstream: ModelUpstream;
  readonly limits: Pick<AgentLimits, 'calls'>;
  /** Of the agent on this instance, within that of the run. */
  readonly budget: Budget;
  /** The limit of an answer whose request names none. */
  readonly mostOutput: number;
  /** Limits how many requests run at once. */
  readonly inTurn: <T>(request: () => Promise<T>) => Promise<T>;
  /** Writes an exchange down; the agent gets the end of the answer after that. */
  readonly record: (exchange: ProxiedExchange) => Promise<void>;
  /** Called when the agent gets no further answer. */
  readonly onEnd: () => void;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** Why the agent gets no further answer. */
type ProxyEnd = 'calls' | 'cost' | 'run cost';

const bodyLimit = 16 << 20;
/** Requests that cost nothing, or are refused: more than an agent needs, and no flood. */
const mostFree = 5000;
/** Requests whose bodies are in memory at once. */
const mostAtOnce = 8;

/**
 * The only way of an agent to a model. It listens at no address: connections from the agent's sandbox
 * are given to {@link serve}. A request goes to the configured model at the configured address, with
 * our key and within the budget; there is nothing else. Format of each request: `modelApis.ts`.
 */
export class ModelProxy {
  private readonly server: Server;
  private readonly connections = new Set<Duplex>();
  private readonly closing = new AbortController();
  private readonly underWay = new Set<Promise<void>>();
  private readonly turns = new PQueue({ concurrency: mostAtOnce });
  private free = 0;
  private started = 0;
  /** Tokens that a provider may count for one of ours: tokenizers differ by as much. */
  private margin = 1.5;
  /** The field with the limit of an answer, once the server has said which it wants. */
  private limitField: string | undefined;
  /** Answers that the model gave. */
  calls = 0;
  /** Paths that were asked for and are of no model. Untrusted. */
  readonly refused = new Set<string>();
  end: ProxyEnd | undefined;
  /** Why no request of this run will be answered. */
  unusable: ModelUnusable | undefined;
  /** The last failure of the provider. */
  failure: ModelFailure | undefined;

  constructor(private readonly parts: ModelProxyParts) {
    this.server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      const work = this.turns
        .add(() => this.answer(request, response))
        .catch((error: unknown) => {
          if (response.headersSent) response.destroy();
          else this.refuse(response, 502, messageOf(error));
        });
      this.underWay.add(work);
      void work.finally(() => this.underWay.delete(work));
    });
    this.server.requestTimeout = 0;
    this.server.on('clientError', (_error, socket) => socket.destroy());
    // Neither tunnels nor changes of protocol.
    for (const event of ['connect', 'upgrade'] as const) {
      this.server.on(event, (_request: IncomingMessage, socket: Duplex) => socket.destroy());
    }
  }

  /** Serves a connection that the agent made. */
  serve(connection: Duplex): void {
    this.connections.add(connection);
    connection.once('close', () => this.connections.delete(connection));
    connection.on('error', () => connection.destroy());
    this.server.emit('connection', connection);
  }

  /** Ends all connections. Resolves when what was under way is written down. */
  async close(): Promise<void> {
    this.closing.abort();
    for (const each of this.connections) each.destroy();
    this.server.close();
    await Promise.allSettled(this.underWay);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { upstream } = this.parts;
    const { pathname } = new URL(request.url ?? '/', 'http://proxy');
    const found = apiAsked(upstream.provider, pathname);
    if (request.method === 'GET' && /\/models(?:\/[^/]*)?$/.test(pathname)) {
      return this.isFlood() ? this.flooded(response) : this.listModel(pathname, response);
    }
    if (request.method !== 'POST' || found === undefined) {
      if (this.refused.size < 100)
        this.refused.add(`${request.method ?? ''} ${pathname.slice(0, 200)}`);
      return this.refuse(response, 404, 'Only the configured model is available.');
    }
    const body = await bodyOf(request);
    if (typeof body === 'string') return this.refuse(response, 400, body);
    const { api, asked: to } = found;
    const asking = { api, asked: body, to, headers: headersOf(api, request), response };
    try {
      await (to.action === 'count' ? this.count(asking) : this.answerWithin(asking));
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      this.refuse(response, 400, error.message);
      this.endAfterFlood();
    }
  }

  /** Answers a request within the limits. */
  private async answerWithin(asking: Asking): Promise<void> {
    const { response } = asking;
    if (this.end !== undefined) return this.refuse(response, 400, endTexts[this.end]);
    if (this.started >= this.parts.limits.calls) return this.endBy('calls', response);
    this.started += 1;
    let isAnswered = false;
    try {
      isAnswered = await this.generate(asking);
    } finally {
      if (!isAnswered) this.started -= 1;
    }
    if (!isAnswered) this.endAfterFlood();
  }

  private endAfterFlood(): void {
    if (!this.isFlood()) return;
    this.end ??= 'calls';
    this.parts.onEnd();
  }

  /** Whether too much was asked that costs nothing. */
  private isFlood(): boolean {
    this.free += 1;
    return this.free > mostFree;
  }

  private flooded(response: ServerResponse): void {
    this.refuse(response, 429, 'Too many requests.');
  }

  private refuse(response: ServerResponse, status: number, message: string): void {
    send(response, status, errorOf(this.parts.upstream.provider, message));
  }

  private endBy(end: ProxyEnd, response: ServerResponse): void {
    this.end ??= end;
    this.refuse(response, 400, endTexts[end]);
    this.parts.onEnd();
  }

  /** The configured model alone, in a form that has the fields of each provider. */
  private listModel(path: string, response: ServerResponse): void {
    const { model } = this.parts.upstream;
    const one = {
      ...{ id: model, object: 'model', type: 'model', created: 0, owned_by: 'configured' },
      ...{ display_name: model, name: `models/${model}`, created_at: new Date(0).toISOString() },
    };
    const isList = path.endsWith('/models');
    send(
      response,
      200,
      isList ? { object: 'list', data: [one], models: [one], has_more: false } : one,
    );
  }

  /** A request that counts tokens: it costs nothing, and is not written down. */
  private async count(asking: Asking): Promise<void> {
    const { api, asked, response } = asking;
    if (this.isFlood()) return this.flooded(response);
    const { upstream } = this.parts;
    const { body } = passing(api.countRequest ?? api.request, asked);
    if (api.modelField !== undefined) body[api.modelField] = upstream.model;
    const answer = await this.fetch(asking, body, AbortSignal.timeout(60_000));
    const text = upstream.withoutSecrets(await answer.text());
    send(response, answer.status, text);
  }

  /** @returns whether the model gave an answer, which counts and is paid for */
  private async generate(asking: Asking): Promise<boolean> {
    const { upstream, budget, inTurn, mostOutput } = this.parts;
    const { api, asked, response } = asking;
    const { provider, model, price } = upstream;
    const { limitField } = this;
    const passed = passedRequest(api, asked, { provider, model, mostOutput, limitField });
    const inputEstimate = await inputTokensOf(passed, api);
    const most = mostOf(Math.ceil(inputEstimate * this.margin), passed.mostOutput, price);
    let settle: Awaited<ReturnType<Budget['reserve']>>;
    try {
      settle = await budget.reserve(most);
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
      this.endBy(error.of === 'run' ? 'run cost' : 'cost', response);
      return false;
    }
    let cost = { tokens: 0, dollars: 0 };
    try {
      const sending = { ...asking, passed };
      const { exchange, isWhole } = await inTurn(() =>
        this.exchange(sending, { most, inputEstimate }),
      );
      // The provider may have written all of an answer that did not arrive as a whole.
      if (!isWhole) cost = most;
      if (exchange === undefined) return false;
      const { inputTokens, outputTokens, dollars = 0, isEstimate } = exchange.answer;
      if (isWhole) cost = { tokens: inputTokens + outputTokens, dollars };
      if (isEstimate !== true) this.learnMargin(inputTokens, inputEstimate);
      this.calls += 1;
      await this.parts.record(exchange);
      return true;
    } finally {
      settle(cost);
      response.end();
    }
  }

  /** A provider whose tokenizer makes more of a text than ours has its own margin. */
  private learnMargin(counted: number, estimate: number): void {
    this.margin = Math.max(this.margin, (counted / Math.max(1, estimate)) * 1.1);
  }

  /**
   * Sends a request within the rate limits, and passes the answer on.
   *
   * @returns the exchange where there was one, and whether what it cost is known
   */
  private async exchange(
    sending: Sending,
    of: { readonly most: { readonly tokens: number }; readonly inputEstimate: number },
  ): Promise<{ readonly exchange?: ProxiedExchange; readonly isWhole: boolean }> {
    const { upstream, signal, reporter } = this.parts;
    const { api, passed, headers, response } = sending;
    const began = performance.now();
    const asked = askedText(api, passed.body);
    // An agent that goes away ends its request.
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const late = AbortSignal.timeout(upstream.timeoutSeconds * 1000);
    const stop = AbortSignal.any([gone.signal, late, this.closing.signal]);
    const reader = new AnswerReader(api);
    const work = {
      signal: signal === undefined ? stop : AbortSignal.any([stop, signal]),
      reporter,
    };
    let isWhole = false;
    try {
      const isAnswer = await upstream.limiter.run(
        {
          tokens: of.most.tokens,
          send: (stated) => this.attempt(sending, reader, { signal: work.signal, stated }),
          used: () => {
            const { inputTokens, outputTokens } = reader.said.usage ?? {};
            return inputTokens === undefined ? of.most.tokens : inputTokens + (outputTokens ?? 0);
          },
        },
        work,
      );
      isWhole = true;
      if (!isAnswer) return { isWhole };
    } catch (error) {
      // A request that the agent breaks off is paid for, whatever came of its answer.
      if (!response.headersSent && !gone.signal.aborted) {
        const why = late.aborted ? 'no answer in time' : messageOf(error);
        this.failure = new ModelFailure(`${upstream.model}: ${upstream.withoutSecrets(why)}`);
        this.refuse(response, 502, 'The model is not reachable.');
        return { isWhole: !late.aborted };
      }
    }
    const answer = await answerOf(reader, of.inputEstimate, upstream.price);
    const { inputEstimate } = of;
    const { mostOutput } = passed;
    const removed = [...passed.removed, ...headers.removed];
    const seconds = (performance.now() - began) / 1000;
    return {
      exchange: {
        asked,
        results: newToolResults(api, passed.body),
        tools: listOf(passed.body['tools']).length,
        removed,
        answer,
        mostOutput,
        inputEstimate,
        seconds,
      },
      isWhole,
    };
  }

  /** One try. @returns whether an answer came; otherwise the agent has the provider's refusal */
  private async attempt(
    sending: Sending,
    reader: AnswerReader,
    {
      signal,
      stated,
    }: { signal: AbortSignal; stated: (rates: ReturnType<typeof statedRates>) => void },
  ): Promise<boolean> {
    const { withoutSecrets } = this.parts.upstream;
    const { api, response } = sending;
    const answer = await this.fetch(sending, sending.passed.body, signal);
    stated(statedRates((name) => answer.headers.get(name), Date.now()));
    if (answer.ok) {
      await passOn(answer, response, { reader, withoutSecrets });
      return true;
    }
    const text = withoutSecrets((await answer.text()).slice(0, 64 << 10));
    const said = `the server responded with status ${answer.status}: ${text.trim().slice(0, 300)}`;
    const { status } = answer;
    const headers = Object.fromEntries(answer.headers);
    const fields = [sending.passed.limitField];
    const { matter } = serverErrorOf({ status, headers, body: text, fields });
    if (matter.of === 'parameter' && this.takesOtherLimit(sending.passed, api, matter.name)) {
      return this.attempt(sending, reader, { signal, stated });
    }
    if (status === 429 && matter.of !== 'credit') {
      throw new TooManyRequests(said, retryAfter(headers));
    }
    this.failure = new ModelFailure(said);
    if (status in advice || status === 429) {
      const next = advice[status] ?? 'The account has no credit left; finished answers are saved';
      this.unusable ??= new ModelUnusable(said, next);
      this.parts.onEnd();
    }
    // A redirection would take the request, and the key, to another address.
    send(response, status < 400 ? 502 : status, status < 400 ? '{}' : text);
    return false;
  }

  /**
   * Puts the limit under its other name where the server does not take the field with it, once.
   *
   * @returns whether the request is worth another try
   */
  private takesOtherLimit(
    { body, limitField }: PassedRequest,
    api: ModelApi,
    refused: string,
  ): boolean {
    const other = api.limitFields(this.parts.upstream.provider).find((name) => name !== limitField);
    if (refused !== limitField || other === undefined || this.limitField !== undefined) {
      return false;
    }
    this.limitField = other;
    body[other] = body[limitField];
    delete body[limitField];
    return true;
  }

  private fetch({ to, headers }: Asking, body: JsonFields, signal: AbortSignal): Promise<Response> {
    const { upstream } = this.parts;
    return fetch(addressOf(upstream, to), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers.passed, ...upstream.headers },
      // A key that a test printed goes nowhere either.
      body: redactKeys(JSON.stringify(body)),
      redirect: 'manual',
      signal,
    });
  }
}

/** A request of the agent. */
interface Asking {
  readonly api: ModelApi;
  readonly asked: JsonFields;
  readonly to: AskedOfApi;
  readonly headers: ReturnType<typeof headersOf>;
  readonly response: ServerResponse;
}

/** What of it is on its way. */
interface Sending extends Asking {
  readonly passed: PassedRequest;
}

/** The headers that may pass, and the names of the values that may not. */
function headersOf(
  api: ModelApi,
  request: IncomingMessage,
): { readonly passed: Readonly<Record<string, string>>; readonly removed: readonly string[] } {
  const passed: Record<string, string> = {};
  const found = new RequestFindings();
  for (const [name, allowed] of Object.entries(api.headers)) {
    const given = request.headers[name];
    const values = (typeof given === 'string' ? given.split(',') : []).map((each) => each.trim());
    const kept = values.filter((each) => allowed.test(each));
    for (const each of values) if (!kept.includes(each)) found.takeOut(`${name} (${each})`);
    if (kept.length > 0) passed[name] = kept.join(',');
  }
  if ('anthropic-version' in api.headers) passed['anthropic-version'] ??= '2023-06-01';
  return { passed, removed: found.removed };
}

/** The message to an agent that gets no further answer. */
const endTexts: Readonly<Record<ProxyEnd, string>> = {
  calls: 'The request limit is reached. Finish now; further requests are rejected.',
  cost: 'The budget is used up. Finish now; further requests are rejected.',
  'run cost': 'The budget is used up. Finish now; further requests are rejected.',
};

/** What the user can do about statuses that end the run. */
const advice: Readonly<Record<number, string>> = {
  401: "Check the API key in the provider's environment variable",
  402: 'The account has no credit left; finished answers are saved',
  403: "Check the API key in the provider's environment variable",
  404: 'Check the model name and --base-url',
};

/** @returns the body, or why there is none */
async function bodyOf(request: IncomingMessage): Promise<JsonFields | string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bodyLimit) return `A request can have at most ${bodyLimit} bytes.`;
    pieces.push(piece);
  }
  try {
    const body = parseForeignJson(Buffer.concat(pieces).toString('utf8'));
    return isFields(body) ? body : 'The request is not a JSON object.';
  } catch {
    return 'The request is not JSON.';
  }
}

function send(response: ServerResponse, status: number, content: JsonFields | string): void {
  if (response.headersSent || response.destroyed) return;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    // Clients of providers would try a refused request again and again.
    'x-should-retry': status === 400 || status === 404 ? 'false' : 'true',
  };
  response.writeHead(status, headers);
  response.end(text);
}

/** The tokens of a request as our tokenizer counts them. An image costs what its provider says. */
async function inputTokensOf({ body, images }: PassedRequest, api: ModelApi): Promise<number> {
  const written = JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'object' && value !== null && images.has(value) ? 'image' : value,
  );
  return (await tokensOfUntrusted(written)) + images.size * api.imageTokens;
}

/** The most that a request can cost. */
function mostOf(
  input: number,
  output: number,
  price: Price | undefined,
): { readonly tokens: number; readonly dollars: number } {
  const counts = { inputTokens: input, outputTokens: output };
  if (price === undefined) return { tokens: input + output, dollars: 0 };
  const dearest = {
    input: Math.max(price.input, price.cacheWrite ?? price.input),
    output: price.output,
  };
  return { tokens: input + output, dollars: dollarsOf(dearest, counts) };
}

/** The answer as it arrived. Where the provider did not count, our tokenizer does. */
async function answerOf(
  reader: AnswerReader,
  inputEstimate: number,
  price: Price | undefined,
): Promise<ModelAnswer> {
  const { text, calls, finish, usage } = reader.said;
  const written = calls.length === 0 ? text : `${text}${JSON.stringify(calls)}`;
  const counts = usage ?? {
    inputTokens: Math.max(1, inputEstimate),
    outputTokens: Math.max(1, await tokensOfUntrusted(written)),
  };
  return {
    text,
    ...(calls.length > 0 && { calls }),
    finish,
    ...counts,
    ...(usage === undefined && { isEstimate: true }),
    ...(price !== undefined && { dollars: dollarsOf(price, counts) }),
  };
}

/** The address of a request: the query of the path, if it has one, goes behind that of the provider. */
function addressOf({ address, query, model }: ModelUpstream, to: AskedOfApi): string {
  const both = [query.slice(1), to.query ?? ''].filter((each) => each !== '').join('&');
  const path = to.path.replace('{model}', () => encodeURIComponent(model));
  return `${address}${path}${both === '' ? '' : `?${both}`}`;
}
