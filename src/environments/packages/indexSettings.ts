/** A package index from the user's environment. */
export interface PackageIndex {
  /** Address without a login and without a slash at the end: `https://pypi.org/simple`. */
  readonly url: string;
  /** `user:password`, decoded; undefined where the address has none. */
  readonly login: string | undefined;
}

/** How the user's environment fetches packages. None of these settings reaches a container. */
export interface IndexSettings {
  /** The index that is asked last, like `--default-index` of uv. */
  readonly usual: PackageIndex;
  /** Indexes that are asked before it, in this order, like `--index` of uv. */
  readonly others: readonly PackageIndex[];
  /** `HTTP_PROXY` and similar variables by lower-case name: `http`, `https`, `all`, `no`. */
  readonly proxies: Readonly<Partial<Record<'http' | 'https' | 'all' | 'no', string>>>;
  /** Certificates of authorities (PEM) in addition to those of Node. */
  readonly certificates: string | undefined;
  /** Hosts, with or without their port, whose certificates are not checked. */
  readonly insecureHosts: readonly string[];
  /** Milliseconds without a byte after which a connection counts as broken. */
  readonly idleTimeout: number;
}

const words = (text: string | undefined): string[] => (text ?? '').split(/\s+/).filter(Boolean);

/** https://docs.astral.sh/uv/reference/environment/ and https://pip.pypa.io/en/stable/topics/configuration/ */
export function indexSettings(
  env: NodeJS.ProcessEnv,
  certificates: string | undefined,
): IndexSettings {
  const first = (...names: string[]): string | undefined =>
    names.map((name) => env[name]).find((value) => value !== undefined && value !== '');
  const usual = first('UV_DEFAULT_INDEX', 'UV_INDEX_URL', 'PIP_INDEX_URL');
  // Users mostly set pip's index, which uv does not read.
  const others =
    first('UV_INDEX', 'UV_EXTRA_INDEX_URL') === undefined
      ? words(env['PIP_EXTRA_INDEX_URL'])
      : [...words(env['UV_INDEX']), ...words(env['UV_EXTRA_INDEX_URL'])];
  const proxy = (name: string): string | undefined => first(name, name.toUpperCase());
  const proxies = Object.fromEntries(
    (['http', 'https', 'all', 'no'] as const).flatMap((kind) => {
      const value = proxy(`${kind}_proxy`);
      return value === undefined ? [] : [[kind, value]];
    }),
  );
  const seconds = Number(env['PIP_DEFAULT_TIMEOUT'] ?? env['UV_HTTP_TIMEOUT']);
  return {
    usual: packageIndex(words(usual)[0] ?? 'https://pypi.org/simple'),
    others: others.map(packageIndex),
    proxies,
    certificates,
    insecureHosts: [...words(env['UV_INSECURE_HOST']), ...words(env['PIP_TRUSTED_HOST'])],
    idleTimeout: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 60_000,
  };
}

/**
 * Splits `NAME=https://user:password@host/simple` into its parts. The name is dropped: uv uses it
 * to assign sources, which nobody does here.
 */
function packageIndex(written: string): PackageIndex {
  const address = /^[\w.-]+=(?=[a-z]+:)/i.test(written)
    ? written.slice(written.indexOf('=') + 1)
    : written;
  const { url, login } = withoutLogin(address);
  return { url: url.replace(/\/+$/, ''), login };
}

/** Splits an address into its login, decoded, and the rest. */
export function withoutLogin(address: string): { url: string; login: string | undefined } {
  let parsed: URL;
  try {
    parsed = new URL(address);
  } catch {
    return { url: address.replace(/\/\/[^/@]*@/, '//'), login: undefined };
  }
  const { username, password } = parsed;
  parsed.username = '';
  parsed.password = '';
  const login =
    username === '' && password === '' ? undefined : `${decoded(username)}:${decoded(password)}`;
  return { url: parsed.href, login };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** All spellings of the logins in some addresses: as they are, decoded, and encoded for HTTP. */
export function loginTexts(addresses: readonly string[]): string[] {
  const texts = addresses.flatMap((value) =>
    [...value.matchAll(/\/\/([^/@\s]*)@/g)].flatMap(([, login = '']) => {
      const [, password] = /^[^:]*:(.*)$/.exec(login) ?? [];
      const secret = password ?? login;
      const plain = decoded(login);
      const whole = password === undefined ? `${plain}:` : plain;
      return [secret, decoded(secret), Buffer.from(whole).toString('base64')];
    }),
  );
  return [...new Set(texts)].filter((text) => text !== '');
}
