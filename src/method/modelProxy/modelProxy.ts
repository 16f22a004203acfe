import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import PQueue from 'p-queue';
import { messageOf } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import { redactKeys } from '../../engine/keysInUse';
import type { AgentLimits } from '../agents/agent';
import { BudgetSpent, dollarsOf, type Budget, type Price } from '../models/budget';
import { ModelFailure, ModelUnusable, type ModelAnswer } from '../models/chatModel';
import type { ModelUpstream } from '../models/openModel';
import { statedRates } from '../models/rateHeaders';
import { TooManyRequests } from '../models/rateLimiter';
import { retryAfter } from '../models/retrying';
import { tokensOfUntrusted } from '../tokens';
import { allowedBetas } from './anthropicMessages';
import { apiAsked, errorOf } from './modelApis';
import {
  isFields,
  type AnswerReader,
  type AskedText,
  type JsonFields,
  type ModelApi,
} from './modelApi';
import { passOn } from './passOn';

/** A request that was answered, for the trace. */
export interface ProxiedExchange {
  /** As it was sent. Untrusted, like everything that an agent makes. */
  readonly asked: AskedText;
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
      return this.refuse(response, 404, 'Only the configured model can be reached from here.');
    }
    const body = await bodyOf(request);
    if (typeof body === 'string') return this.refuse(response, 400, body);
    const { api, asked } = found;
    const isStream = asked.isStream ?? body['stream'] === true;
    const sending = { api, body, to: { action: asked.action, isStream }, request, response };
    if (asked.action === 'count') return this.count(sending);
    if (this.end !== undefined) return this.refuse(response, 400, endTexts[this.end]);
    if (this.started >= this.parts.limits.calls) return this.endBy('calls', response);
    this.started += 1;
    const isAnswered = await this.generate(sending);
    if (isAnswered) return;
    this.started -= 1;
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
  private async count(sending: Sending): Promise<void> {
    if (this.isFlood()) return this.flooded(sending.response);
    const { upstream, mostOutput } = this.parts;
    const { api, body } = sending;
    api.restrict(body, { model: upstream.model, mostOutput });
    if (api.providers.includes('anthropic')) delete body['max_tokens'];
    else delete body['generationConfig'];
    const answer = await this.fetch(sending, AbortSignal.timeout(60_000));
    const text = upstream.withoutSecrets(await answer.text());
    send(sending.response, answer.status, text);
  }

  /** @returns whether the model gave an answer, which counts and is paid for */
  private async generate(sending: Sending): Promise<boolean> {
    const { upstream, budget, inTurn, mostOutput } = this.parts;
    const { api, body, response } = sending;
    const removed = api.restrict(body, { model: upstream.model, mostOutput });
    const inputEstimate = await tokensOfBody(body);
    const most = mostOf(inputEstimate, api.mostOutput(body), upstream.price);
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
      const exchange = await inTurn(() => this.exchange(sending, { most, removed, inputEstimate }));
      if (exchange === undefined) return false;
      const { inputTokens, outputTokens, dollars = 0 } = exchange.answer;
      cost = { tokens: inputTokens + outputTokens, dollars };
      this.calls += 1;
      await this.parts.record(exchange);
      return true;
    } finally {
      settle(cost);
      response.end();
    }
  }

  /** Sends a request within the rate limits, and passes the answer on. */
  private async exchange(
    sending: Sending,
    of: {
      readonly most: { readonly tokens: number };
      readonly removed: readonly string[];
      readonly inputEstimate: number;
    },
  ): Promise<ProxiedExchange | undefined> {
    const { upstream, signal, reporter } = this.parts;
    const { api, body, response } = sending;
    const began = Date.now();
    const asked = api.askedText(body);
    // An agent that goes away ends its request.
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const late = AbortSignal.timeout(upstream.timeoutSeconds * 1000);
    const stop = AbortSignal.any([gone.signal, late, this.closing.signal]);
    const reader = api.reader();
    const work = {
      signal: signal === undefined ? stop : AbortSignal.any([stop, signal]),
      reporter,
    };
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
      if (!isAnswer) return undefined;
    } catch (error) {
      // A request that the agent breaks off is paid for, whatever came of its answer.
      if (!response.headersSent && !gone.signal.aborted) {
        const why = late.aborted ? 'no answer in time' : messageOf(error);
        this.failure = new ModelFailure(`${upstream.model}: ${upstream.withoutSecrets(why)}`);
        this.refuse(response, 502, 'The model cannot be reached.');
        return undefined;
      }
    }
    const answer = await answerOf(reader, of.inputEstimate, upstream.price);
    const seconds = (Date.now() - began) / 1000;
    return { asked, ...of, answer, mostOutput: api.mostOutput(body), seconds };
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
    const { response } = sending;
    const answer = await this.fetch(sending, signal);
    stated(statedRates((name) => answer.headers.get(name), Date.now()));
    if (answer.ok) {
      await passOn(answer, response, { reader, withoutSecrets });
      return true;
    }
    const text = withoutSecrets((await answer.text()).slice(0, 64 << 10));
    const said = `the server answers with status ${answer.status}: ${text.trim().slice(0, 300)}`;
    const { status } = answer;
    if (status === 429 && !/insufficient_quota|billing/.test(text)) {
      throw new TooManyRequests(said, retryAfter(Object.fromEntries(answer.headers)));
    }
    this.failure = new ModelFailure(said);
    if (status in advice || status === 429) {
      const next = advice[status] ?? 'The account has no credit left; finished answers are kept';
      this.unusable ??= new ModelUnusable(said, next);
      this.parts.onEnd();
    }
    // A redirection would take the request, and the key, to another address.
    send(response, status < 400 ? 502 : status, status < 400 ? '{}' : text);
    return false;
  }

  private fetch({ api, body, to, request }: Sending, signal: AbortSignal): Promise<Response> {
    const { upstream } = this.parts;
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    for (const name of api.headers) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    if ('anthropic-beta' in headers) {
      const betas = allowedBetas(headers['anthropic-beta'] ?? '');
      if (betas === '') delete headers['anthropic-beta'];
      else headers['anthropic-beta'] = betas;
    }
    if (api.headers.includes('anthropic-version')) headers['anthropic-version'] ??= '2023-06-01';
    return fetch(`${upstream.address}${api.pathOf(upstream.model, to)}`, {
      method: 'POST',
      headers: { ...headers, ...upstream.headers },
      // A key that a test printed goes nowhere either.
      body: redactKeys(JSON.stringify(body)),
      redirect: 'manual',
      signal,
    });
  }
}

/** A request on its way. */
interface Sending {
  readonly api: ModelApi;
  readonly body: JsonFields;
  readonly to: Required<NonNullable<ReturnType<ModelApi['asked']>>>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What an agent is told when it gets no further answer. */
const endTexts: Readonly<Record<ProxyEnd, string>> = {
  calls: 'The limit of requests is reached. Finish now: no further request is answered.',
  cost: 'The budget is spent. Finish now: no further request is answered.',
  'run cost': 'The budget is spent. Finish now: no further request is answered.',
};

/** What a person can do about statuses that end the run. */
const advice: Readonly<Record<number, string>> = {
  401: 'Check the key in the environment variable of the provider',
  402: 'The account has no credit left; finished answers are kept',
  403: 'Check the key in the environment variable of the provider',
  404: 'Check the name of the model and --base-url',
};

/** @returns the body, or why there is none */
async function bodyOf(request: IncomingMessage): Promise<JsonFields | string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bodyLimit) return `A request may have ${bodyLimit} bytes.`;
    pieces.push(piece);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'));
    return isFields(body) ? body : 'The request is no JSON object.';
  } catch {
    return 'The request is no JSON.';
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

const tokensOfBody = (body: JsonFields): Promise<number> => tokensOfUntrusted(JSON.stringify(body));

/** The most that a request can cost, with a margin of a tenth for other tokenizers. */
function mostOf(
  input: number,
  output: number,
  price: Price | undefined,
): { readonly tokens: number; readonly dollars: number } {
  const counts = { inputTokens: Math.ceil(input * 1.1), outputTokens: output };
  if (price === undefined) return { tokens: counts.inputTokens + output, dollars: 0 };
  const dearest = {
    input: Math.max(price.input, price.cacheWrite ?? price.input),
    output: price.output,
  };
  return { tokens: counts.inputTokens + output, dollars: dollarsOf(dearest, counts) };
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
