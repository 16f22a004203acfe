import { readFile, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import type { ArchiveEntry } from '../../archive';
import { indexSettings, loginTexts, type IndexSettings } from '../packages/indexSettings';

/** What building an environment knows of the user's network. No foreign code gets any of it. */
export interface BuildNetwork {
  /** Proxies and certificates, for Debian's package manager. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that lead to the certificates alone. */
  readonly certificates: Readonly<Record<string, string>>;
  /** Certificates, below the root of the container. */
  readonly files: readonly ArchiveEntry[];
  /** What no log may hold. */
  readonly secrets: readonly string[];
  /** How packages are fetched, here and not in a container. */
  readonly index: IndexSettings;
}

/** Addresses that may hold a login. */
const indexes = [
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL'],
  ...['UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX'],
];

/** As apt and git read them. */
const proxies = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** Files with certificates. Whichever is set stands for those that are not. */
const certificateFiles = ['PIP_CERT', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'];

/**
 * Settings of the user's environment for indexes, proxies and certificates, as a build gets them.
 *
 * @param folder of the container that is removed before an image is made
 */
export async function buildNetwork(env: NodeJS.ProcessEnv, folder: string): Promise<BuildNetwork> {
  const found: Record<string, string> = {};
  for (const name of proxies) {
    const value = env[name];
    if (value !== undefined && value !== '') found[name] = value;
  }
  const files: ArchiveEntry[] = [];
  const placed = new Map<string, string>();
  for (const name of certificateFiles) {
    const path = env[name];
    if (path === undefined || path === '') continue;
    const isFile = await stat(path).then(
      (info) => info.isFile(),
      () => false,
    );
    if (!isFile) continue;
    const content = await readFile(path);
    const place = posix.join(folder, `${name.toLowerCase()}.pem`);
    files.push({ path: place.slice(1), content });
    placed.set(name, place);
  }
  const [first] = placed.values();
  const certificates: Record<string, string> = {};
  if (first !== undefined) {
    for (const name of certificateFiles) certificates[name] = placed.get(name) ?? first;
    certificates['GIT_SSL_CAINFO'] = first;
  }
  const authorities = files.map(({ content }) => content.toString('utf8')).join('\n');
  const addresses = [...indexes, ...proxies].map((name) => env[name] ?? '');
  return {
    env: { ...found, ...certificates },
    certificates,
    files,
    secrets: loginTexts(addresses),
    index: indexSettings(env, files.length === 0 ? undefined : authorities),
  };
}
