import { HumanError, messageOf } from '../../domain/work';
import { unsafePath } from '../../patch/unsafePath';
import { hasDataName } from '../rows/datasetFiles';
import type { RemoteFile } from './cachedFiles';
import {
  hostOfAddress,
  NetworkTrouble,
  retryingRequest,
  troubleOf,
  type NetworkOptions,
} from '../network';

/** A dataset of the Hugging Face hub. */
export interface HuggingFaceDataset {
  /** `owner/name`. */
  readonly name: string;
  /** Branch, tag or commit. */
  readonly revision: string;
}

/** URL and token of the hub, from the same environment variables as in the hub's own tools. */
export function huggingFaceHub(env: NodeJS.ProcessEnv = process.env): {
  url: string;
  token?: string;
} {
  const url = (env['HF_ENDPOINT'] ?? '').trim().replace(/\/+$/, '');
  const token = (env['HF_TOKEN'] ?? '').trim();
  return {
    url: url === '' ? 'https://huggingface.co' : url,
    ...(token === '' ? {} : { token }),
  };
}

/**
 * Lists the files with rows of a dataset on the hub.
 *
 * @throws HumanError if there are none, or the request fails; Cancelled
 */
export async function listHuggingFaceFiles(
  { name, revision }: HuggingFaceDataset,
  options: NetworkOptions,
): Promise<RemoteFile[]> {
  const { url, token } = huggingFaceHub();
  if (token !== undefined && !token.startsWith('hf_')) {
    throw new HumanError(
      'HF_TOKEN does not begin with hf_',
      'Set it to a valid token, or unset it',
    );
  }
  const { HubApiError, listFiles } = await import('@huggingface/hub');
  options.reporter.progress(`requesting ${name} from ${hostOfAddress(url)}`);
  const files: RemoteFile[] = [];
  try {
    for await (const file of listFiles({
      repo: { type: 'dataset', name },
      recursive: true,
      revision,
      hubUrl: url,
      fetch: retryingFetch(url, `dataset ${name}`, options),
      ...(token === undefined ? {} : { accessToken: token }),
    })) {
      if (file.type !== 'file' || !hasDataName(file.path)) continue;
      if (unsafePath(file.path) !== undefined) continue;
      const path = file.path.split('/').map(encodeURIComponent).join('/');
      files.push({
        name: file.path,
        url: `${url}/datasets/${name}/resolve/${encodeURIComponent(revision)}/${path}`,
        size: file.lfs?.size ?? file.size,
        // The hub knows large files by their SHA-256, and small ones by git's digest, which is a
        // different one.
        ...(file.lfs === undefined ? {} : { sha256: file.lfs.oid }),
        ...(file.oid === undefined ? {} : { version: file.oid }),
      });
    }
  } catch (error) {
    if (options.signal?.aborted === true || error instanceof HumanError) throw error;
    if (error instanceof HubApiError) throw refused({ name, revision }, url, error.statusCode);
    throw noListing(name, url, error);
  }
  if (files.length > 0) return files.sort((a, b) => (a.name < b.name ? -1 : 1));
  throw new HumanError(
    `The dataset ${name} on ${hostOfAddress(url)} has no JSON, JSONL or Parquet file`,
    'Specify another dataset or revision',
  );
}

/** A `fetch` that tries again while the hub cannot be reached, is overloaded or has a fault. */
const retryingFetch =
  (url: string, what: string, options: NetworkOptions): typeof fetch =>
  (input, init) =>
    retryingRequest(
      async () => {
        let response: Response;
        try {
          response = await fetch(input, { ...init, signal: options.signal ?? null });
        } catch (error) {
          throw troubleOf(error) ?? error;
        }
        if (response.status === 429 || response.status >= 500) {
          await response.body?.cancel();
          throw new NetworkTrouble(
            `${hostOfAddress(url)} responded with status ${response.status}`,
          );
        }
        return response;
      },
      options,
      what,
    );

/** The error for a hub that cannot be reached, or that answers something other than a list. */
function noListing(name: string, url: string, error: unknown): HumanError {
  if (error instanceof NetworkTrouble) {
    return new HumanError(
      `The dataset ${name} cannot be downloaded from ${hostOfAddress(url)} (${error.message})`,
      'Check the network and try again, or download the file yourself and specify its path',
    );
  }
  return new HumanError(
    `${hostOfAddress(url)} does not respond like the Hugging Face Hub (${messageOf(error).slice(0, 200)})`,
    'Check HF_ENDPOINT, or try again later',
  );
}

function refused({ name, revision }: HuggingFaceDataset, url: string, status: number): HumanError {
  const at = revision === 'main' ? '' : ` with a revision ${revision}`;
  if (status === 403) {
    return new HumanError(
      `${hostOfAddress(url)} refuses the dataset ${name} (status 403): it is gated or private`,
      'Accept its conditions on its web page and set HF_TOKEN to a token with read access',
    );
  }
  // Without a token, the hub also answers 401 for datasets that do not exist.
  return status === 401 || status === 404
    ? new HumanError(
        `${hostOfAddress(url)} has no readable dataset ${name}${at} (status ${status})`,
        'Check the name; for a private or gated dataset, set HF_TOKEN to a token with read access',
      )
    : new HumanError(
        `${hostOfAddress(url)} responded with status ${status} to ${name}`,
        'Try again later',
      );
}
