import { readFile, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import type { ArchiveEntry } from './archive';

/** What a build knows of the user's network: in no image, neither as a file nor in its configuration. */
export interface BuildNetwork {
  readonly env: Readonly<Record<string, string>>;
  /** Certificates, below the root of the container. */
  readonly files: readonly ArchiveEntry[];
  /** What no log may hold. */
  readonly secrets: readonly string[];
}

/** As pip, uv, apt and git read them. */
const values = [
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST', 'PIP_DEFAULT_TIMEOUT'],
  ...['UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INSECURE_HOST'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'],
  ...['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
];

/** Files with certificates. Whichever is set stands for those that are not. */
const certificateFiles = ['PIP_CERT', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'];

/**
 * Settings of the user's environment for indexes, proxies and certificates, as a build gets them.
 *
 * @param folder of the container that is removed before an image is made
 */
export async function buildNetwork(env: NodeJS.ProcessEnv, folder: string): Promise<BuildNetwork> {
  const found: Record<string, string> = {};
  for (const name of values) {
    const value = env[name];
    if (value !== undefined && value !== '') found[name] = value;
  }
  // pip's index is the one that is usually set; uv does not read it.
  const index = found['PIP_INDEX_URL'];
  if (index !== undefined && !('UV_INDEX_URL' in found) && !('UV_DEFAULT_INDEX' in found)) {
    found['UV_DEFAULT_INDEX'] = index;
  }
  const extra = found['PIP_EXTRA_INDEX_URL'];
  if (extra !== undefined && !('UV_EXTRA_INDEX_URL' in found) && !('UV_INDEX' in found)) {
    found['UV_INDEX'] = extra;
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
  if (first !== undefined) {
    for (const name of certificateFiles) found[name] = placed.get(name) ?? first;
    found['GIT_SSL_CAINFO'] = first;
  }
  return { env: found, files, secrets: Object.values(found).flatMap(passwordsIn) };
}

/** Passwords of addresses, `user:password@host`, as written. */
function passwordsIn(value: string): string[] {
  return [...value.matchAll(/\/\/([^/@\s]*)@/g)].flatMap(([, login = '']) => {
    const [, password] = /^[^:]*:(.*)$/.exec(login) ?? [];
    const secret = password ?? login;
    return secret === '' ? [] : [secret];
  });
}
