import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { isIP, connect as plainConnect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  connect as secureConnect,
  createSecureContext,
  rootCertificates,
  type SecureContext,
} from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { throwIfAborted } from '../../domain/work';
import { withoutLogin, type IndexSettings, type PackageIndex } from './indexSettings';

/** A request without a usable answer. The message leaves out the secret parts of the address. */
export class IndexTrouble extends Error {
  override readonly name = 'IndexTrouble';
}

interface IndexAnswer {
  readonly status: number;
  readonly type: string;
  /** Address that answered, after redirects. */
  readonly url: string;
  readonly body: IncomingMessage;
}

/**
 * Asks package indexes with the logins, proxies and certificates of the user's environment. A login
 * is sent only to the host, scheme and port of its own index, redirects included.
 */
export interface IndexClient {
  /** @throws IndexTrouble, Cancelled */
  get(
    url: string,
    index: PackageIndex,
    options: { readonly accept?: string; readonly signal?: AbortSignal | undefined },
  ): Promise<IndexAnswer>;
  /** Connects to a host, through the user's proxy where there is one. @throws IndexTrouble */
  connect(host: string, port: number): Promise<Duplex>;
  close(): void;
}

const tries = 4;
const firstWait = 300;
const redirections = 8;
const connections = 24;

type Agent = PlainAgent | SecureAgent;

export const indexClient = (settings: IndexSettings): IndexClient => new ProxiedClient(settings);

class ProxiedClient implements IndexClient {
  private readonly agents = new Map<string, Agent>();
  /** The certificates for checking TLS connections, beyond the defaults. */
  private readonly secure: { readonly secureContext?: SecureContext };

  constructor(private readonly settings: IndexSettings) {
    const { certificates } = settings;
    this.secure =
      certificates === undefined
        ? {}
        : { secureContext: createSecureContext({ ca: [...rootCertificates, certificates] }) };
  }

  async get(
    url: string,
    index: PackageIndex,
    { accept = '*/*', signal }: Parameters<IndexClient['get']>[2],
  ): Promise<IndexAnswer> {
    const where = hostOf(url);
    for (let left = tries - 1; ; left--) {
      throwIfAborted(signal);
      let trouble: string;
      try {
        const answer = await this.follow(url, index, accept, signal);
        if (answer.status !== 429 && answer.status < 500) return answer;
        answer.body.resume();
        trouble = `${where} responded with status ${answer.status}`;
      } catch (error) {
        throwIfAborted(signal);
        const { code, message } = error as NodeJS.ErrnoException;
        trouble =
          error instanceof IndexTrouble
            ? message
            : `${where} cannot be reached: ${message.includes(code ?? '') ? message : `${code}: ${message}`}`;
      }
      if (left <= 0) throw new IndexTrouble(trouble);
      await sleep(firstWait * 2 ** (tries - 1 - left), undefined, {
        ...(signal ? { signal } : {}),
      }).catch(() => undefined);
    }
  }

  async connect(host: string, port: number): Promise<Duplex> {
    const proxy = proxyFor(new URL(`https://${host}:${port}`), this.settings);
    if (proxy !== undefined) return this.tunnel(proxy, host, port);
    return new Promise((resolve, reject) => {
      const socket = plainConnect({ host, port, timeout: this.settings.idleTimeout });
      socket
        .once('connect', () => resolve(socket))
        .once('timeout', () => socket.destroy(new IndexTrouble(`${host} does not respond`)))
        .once('error', reject);
    });
  }

  close(): void {
    for (const agent of this.agents.values()) agent.destroy();
  }

  /** Makes a request and follows redirects. */
  private async follow(
    start: string,
    index: PackageIndex,
    accept: string,
    signal: AbortSignal | undefined,
  ): Promise<IndexAnswer> {
    let url = new URL(start);
    for (let left = redirections; left > 0; left--) {
      if (!/^https?:$/.test(url.protocol)) {
        throw new IndexTrouble(`it redirects to a ${url.protocol} URL`);
      }
      const body = await this.ask(url, index, accept, signal);
      const { statusCode = 0, headers } = body;
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
        body.resume();
        const next = new URL(headers.location, url);
        // Nothing secret may be redirected from an encrypted to an unencrypted connection.
        if (url.protocol === 'https:' && next.protocol === 'http:') {
          throw new IndexTrouble(`${url.host} redirects from https to http`);
        }
        url = new URL(withoutLogin(next.href).url);
        continue;
      }
      const type = String(headers['content-type'] ?? '');
      return { status: statusCode, type, url: url.href, body };
    }
    throw new IndexTrouble(`${url.host} redirects in a loop`);
  }

  private ask(
    url: URL,
    index: PackageIndex,
    accept: string,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const isSecure = url.protocol === 'https:';
      const proxy = isSecure ? undefined : proxyFor(url, this.settings);
      const headers: Record<string, string> = { 'user-agent': 'swt-bench', accept };
      headers['accept-encoding'] = 'identity';
      if (index.login !== undefined && url.origin === new URL(index.url).origin) {
        headers['authorization'] = basic(index.login);
      }
      const timeout = this.settings.idleTimeout;
      const usual = { agent: this.agentFor(url), timeout, ...(signal ? { signal } : {}) };
      const sent = isSecure
        ? secureRequest(url, { ...usual, headers })
        : proxy === undefined
          ? plainRequest(url, { ...usual, headers })
          : plainRequest({
              ...{ ...usual, host: proxy.hostname, port: proxy.port || 80, path: url.href },
              headers: { ...headers, host: url.host, ...proxyLogin(proxy) },
            });
      sent
        .once('response', resolve)
        .once('timeout', () => sent.destroy(new IndexTrouble(`${url.host} does not respond`)))
        .once('error', reject)
        .end();
    });
  }

  private agentFor(url: URL): Agent {
    const isSecure = url.protocol === 'https:';
    const proxy = proxyFor(url, this.settings);
    const isChecked = !isInsecure(url, this.settings);
    const key = JSON.stringify([isSecure, proxy?.href, isChecked]);
    const known = this.agents.get(key);
    if (known !== undefined) return known;
    const usual = { keepAlive: true, maxSockets: connections, timeout: this.settings.idleTimeout };
    const made = isSecure
      ? new SecureAgent({ ...usual, rejectUnauthorized: isChecked, ...this.secure })
      : new PlainAgent(usual);
    if (isSecure && proxy !== undefined) this.leadThrough(proxy, made, isChecked);
    this.agents.set(key, made);
    return made;
  }

  /** Makes an agent send HTTPS through a tunnel of a proxy (CONNECT, RFC 9110, 9.3.6). */
  private leadThrough(proxy: URL, agent: Agent, isChecked: boolean): void {
    const open = (
      { host = '', port = 443 }: { host?: string; port?: number | string },
      done: (error: Error | null, socket?: Duplex) => void,
    ): undefined => {
      this.tunnel(proxy, host, Number(port)).then(
        (socket) => {
          const secured = secureConnect({
            socket,
            rejectUnauthorized: isChecked,
            ...(isIP(host) === 0 ? { servername: host } : {}),
            ...this.secure,
          });
          secured.once('secureConnect', () => done(null, secured)).once('error', done);
        },
        (error: Error) => done(error),
      );
    };
    Object.assign(agent, { createConnection: open });
  }

  private tunnel(proxy: URL, host: string, port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const asked = plainRequest({
        ...{ host: proxy.hostname, port: proxy.port || 80, method: 'CONNECT', agent: false },
        ...{ path: `${host}:${port}`, timeout: this.settings.idleTimeout },
        headers: { host: `${host}:${port}`, ...proxyLogin(proxy) },
      });
      asked
        .once('connect', ({ statusCode = 0 }, socket) => {
          if (statusCode === 200) return resolve(socket);
          socket.destroy();
          reject(new IndexTrouble(`the proxy ${proxy.host} responded with status ${statusCode}`));
        })
        .once('timeout', () => asked.destroy(new IndexTrouble(`${proxy.host} does not respond`)))
        .once('error', reject)
        .end();
    });
  }
}

const basic = (login: string): string => `Basic ${Buffer.from(login).toString('base64')}`;

function proxyLogin(proxy: URL): Record<string, string> {
  const { login } = withoutLogin(proxy.href);
  return login === undefined ? {} : { 'proxy-authorization': basic(login) };
}

/** The proxy for an address, by the standard variables; undefined for none. */
export function proxyFor(url: URL, { proxies }: Pick<IndexSettings, 'proxies'>): URL | undefined {
  const written = (url.protocol === 'https:' ? proxies.https : proxies.http) ?? proxies.all;
  if (written === undefined || isExempt(url, proxies.no ?? '')) return undefined;
  try {
    const proxy = new URL(/^[a-z0-9]+:\/\//i.test(written) ? written : `http://${written}`);
    if (proxy.protocol === 'http:') return proxy;
    throw new IndexTrouble(`${proxy.protocol} proxies are not supported for packages`);
  } catch (error) {
    if (error instanceof IndexTrouble) throw error;
    throw new IndexTrouble('the proxy URL is invalid');
  }
}

function isExempt({ hostname, port }: URL, list: string): boolean {
  return list
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = '', number] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      const suffix = name.replace(/^\*?\.?/, '');
      if (number !== undefined && number !== port) return false;
      return hostname === suffix || hostname.endsWith(`.${suffix}`);
    });
}

const isInsecure = ({ host, hostname }: URL, { insecureHosts }: IndexSettings): boolean =>
  insecureHosts.some((each) => each === host || each === hostname);

/** Host and port of an address for messages; its other parts may be secret. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'the package index';
  }
}
