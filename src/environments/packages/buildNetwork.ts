import { readFile, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import type { ArchiveEntry } from '../../engine/sandbox';
import { indexSettings, loginTexts, type IndexSettings } from './indexSettings';

/**
 * The parts of the user's network settings that building an environment uses. No foreign code gets
 * any of them.
 */
export interface BuildNetwork {
  /** Proxies and certificates, for Debian's package manager. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that point to the certificates only. */
  readonly certificates: Readonly<Record<string, string>>;
  /** The certificate files, with paths relative to the root of the container. */
  readonly files: readonly ArchiveEntry[];
  /** Texts that no log may contain. */
  readonly secrets: readonly string[];
  /** How this process, rather than a container, fetches packages. */
  readonly index: IndexSettings;
}

/** Variables with addresses that may contain a login. */
const indexes = [
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL'],
  ...['UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX'],
];

/** Variables in the spelling that apt and git read. */
const proxies = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/**
 * Variables that name files with certificates. One that is set also stands for those that are not.
 */
const certificateFiles = ['PIP_CERT', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'];

/**
 * Settings for indexes, proxies and certificates, from the user's environment, as a build gets
 * them.
 *
 * @param folder a folder of the container that is removed before an image is made
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
