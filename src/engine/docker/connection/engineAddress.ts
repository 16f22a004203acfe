import { HumanError } from '../../../domain/work';
import { lineOfProblem } from './engineProblem';

/** Where an engine listens. */
export type EngineAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'pipe'; readonly path: string }
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      /** Path before that of every call, without leading and trailing slashes. */
      readonly prefix: string;
      readonly tls: Tls | undefined;
    }
  | {
      readonly kind: 'ssh';
      readonly user: string | undefined;
      readonly host: string;
      readonly port: number | undefined;
      /** Socket on the other machine; undefined for the default. */
      readonly remoteSocket: string | undefined;
    };

/** Certificates that the engine and this machine show each other, as PEM texts. */
export interface Tls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Whether the engine's certificate is checked. */
  readonly verify: boolean;
}

const example =
  'Use an address such as unix:///run/docker.sock, tcp://host:2376 or ssh://user@host';

/**
 * Texts that `ssh` and the shell of the other machine take as plain names, never as options or
 * commands.
 */
const plainName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const plainHost = /^([A-Za-z0-9_][A-Za-z0-9_.-]*|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)$/;
const plainPath = /^\/[A-Za-z0-9_./@+-]*$/;

/**
 * Reads an address as `DOCKER_HOST` and contexts write it. A path without a scheme is a socket, and
 * `host:port` is tcp.
 *
 * @param foundBy where it was written, for messages
 * @param tls the TLS settings of a tcp engine, where some are given
 * @throws HumanError when the text is no address
 */
export function parseAddress(text: string, foundBy: string, tls?: Tls): EngineAddress {
  const written = text.trim();
  // Logs must not show a password.
  const shown = lineOfProblem(written.replace(/\/\/[^/]*@/, '//…@'));
  const unusable = (why: string): HumanError =>
    new HumanError(`The engine address ${shown} (${foundBy}) is invalid: ${why}`, example);

  const [, scheme = '', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/s.exec(written) ?? [];
  if (/[\0\r\n]/.test(written))
    throw unusable('it has characters that are not allowed in an address');
  if (scheme === 'unix' || (scheme === '' && rest.startsWith('/'))) {
    if (!rest.startsWith('/'))
      throw unusable('unix:// must be followed by an absolute socket path');
    return { kind: 'socket', path: rest };
  }
  if (scheme === 'npipe' || (scheme === '' && /^[\\/]{2}/.test(rest))) {
    return { kind: 'pipe', path: rest.replace(/\\/g, '/') };
  }
  if (!['tcp', 'http', 'https', 'ssh', ''].includes(scheme)) {
    throw unusable(`${scheme}:// is not supported`);
  }
  // The scheme decides how URL splits an address: only with http does it find host, port and path.
  const url = URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : undefined;
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (url === undefined || !plainHost.test(host)) throw unusable('it has no host');
  if (url.search !== '' || url.hash !== '') throw unusable('it has a query');
  // URL drops port 80, the default of http, so the port is read from the text.
  const [, digits] = /^(?:[^/]*@)?(?:\[[^\]]*\]|[^/:]*):(\d+)(?:\/|$)/.exec(rest) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (scheme === 'ssh') {
    if (url.password !== '') {
      throw new HumanError(
        `The engine address ssh://…@${host} (${foundBy}) contains a password`,
        'Remove it and log in with a key; ssh-copy-id copies yours to the other machine',
      );
    }
    const user = url.username === '' ? undefined : decodeURIComponent(url.username);
    if (user !== undefined && !plainName.test(user))
      throw unusable('its user name has special characters');
    const remote = url.pathname === '/' ? undefined : url.pathname;
    if (remote !== undefined && !plainPath.test(remote))
      throw unusable('its path has special characters');
    return { kind: 'ssh', user, host, port, remoteSocket: remote };
  }
  if (url.username !== '') throw unusable('only ssh:// accepts a user');
  const secure = tls ?? (scheme === 'https' ? { verify: true } : undefined);
  return {
    kind: 'tcp',
    host,
    port: port ?? (scheme === 'https' ? 443 : scheme === 'http' ? 80 : secure ? 2376 : 2375),
    prefix: url.pathname.replace(/^\/+|\/+$/g, ''),
    tls: secure,
  };
}

/** An address as the user would write it. */
export function writeAddress(address: EngineAddress): string {
  switch (address.kind) {
    case 'socket':
      return `unix://${address.path}`;
    case 'pipe':
      return `npipe://${address.path}`;
    case 'tcp':
      return `tcp://${bracketed(address.host)}:${address.port}${address.prefix === '' ? '' : `/${address.prefix}`}`;
    case 'ssh': {
      const user = address.user === undefined ? '' : `${address.user}@`;
      const port = address.port === undefined ? '' : `:${address.port}`;
      return `ssh://${user}${bracketed(address.host)}${port}${address.remoteSocket ?? ''}`;
    }
  }
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
