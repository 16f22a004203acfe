import { setMaxListeners } from 'node:events';
import { posix } from 'node:path';
import {
  earliestTime,
  tarEnd,
  tarEntry,
  tarOf,
  type ArchiveEntry,
  openTunnel,
} from '../../engine/sandbox';
import { type BuildContainer, type BuildPlace, foreignUser } from '../../engine/docker';
import { scratch, toolEnvironment, uvPath } from '../image/containerPlace';
import { Downloads } from './downloads';
import { indexClient } from './indexClient';
import { openIndexRelay } from './indexRelay';
import type { IndexSettings } from './indexSettings';
import { pythonText } from '../../engine/pythonProgram';
import { uvProgram } from './uvProgram';

interface PackageRequest {
  readonly storage: string;
  readonly settings: IndexSettings;
  /** Hosts in requirements, other than the indexes, that containers may connect to. */
  readonly hosts: readonly string[];
  /** Certificates for checking these connections, and the variables that point to them. */
  readonly certificates: {
    readonly env: Readonly<Record<string, string>>;
    readonly files: readonly ArchiveEntry[];
  };
  /** MiB that a build may fetch. */
  readonly limitMb: number;
}

/** Gives the containers of one build access to packages. Only this process has a network. */
export interface PackageAccess {
  /**
   * Puts uv into a container, and opens the connection to the indexes.
   *
   * @param python interpreter of its base image
   * @returns the environment for programs that run uv there
   * @throws HumanError when the index has no uv; Cancelled
   */
  enter(container: BuildContainer, python: string): Promise<Record<string, string>>;
  /**
   * The addresses that foreign code was refused, as the end of an error; empty when there are none.
   */
  refusals(): string;
  close(): void;
}

export function packageAccess(request: PackageRequest, place: BuildPlace): PackageAccess {
  const { storage, settings, hosts, certificates } = request;
  // One signal serves the many requests that are under way at once, so the limit on listeners is
  // lifted.
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const onAbort = (): void => ended.abort();
  place.work.signal?.addEventListener('abort', onAbort, { once: true });
  const { signal } = ended;
  const say = (line: string): void => {
    place.log.line(line);
    if (/thrown away|login/.test(line)) place.work.reporter.log(line);
  };
  const client = indexClient(settings);
  const downloads = new Downloads(storage, say);
  const limit = request.limitMb * 2 ** 20;
  const relay = openIndexRelay({ settings, client, downloads, limit, hosts, say, signal });
  const tunnels: { close(): void }[] = [];
  if (hosts.length > 0) {
    say(
      `requirements refer to ${hosts.join(', ')}: the build may connect to port 443 on these hosts only, without a login`,
    );
  }
  return {
    async enter(container, python) {
      const machine = await container.machine();
      const uv = await uvProgram({
        ...{ storage, settings, client, downloads, machine, say },
        signal,
      });
      await putTools(container, uv.content, hosts.length > 0 ? certificates.files : []);
      say(`uv ${uv.version}, SHA-256 ${uv.digest}`);
      const program = await container.attach([python, '-I', '-S', '-c', pythonText('tunnel.py')]);
      const tunnel = await openTunnel(program, (connection) => relay.serve(connection));
      tunnels.push(tunnel);
      return {
        ...toolEnvironment,
        ...relay.environment(tunnel.port),
        ...(hosts.length > 0 ? certificates.env : {}),
      };
    },
    refusals: () =>
      relay.refused.size === 0
        ? ''
        : ` (refused: ${[...relay.refused].slice(0, 5).join(', ')}, which are not package indexes)`,
    close() {
      place.work.signal?.removeEventListener('abort', onAbort);
      ended.abort();
      for (const tunnel of tunnels) tunnel.close();
      relay.close();
      client.close();
    },
  };
}

/** Puts uv and certificates into a container, and makes the folder that foreign code writes to. */
async function putTools(
  container: BuildContainer,
  uv: Buffer,
  certificates: readonly ArchiveEntry[],
): Promise<void> {
  const ours = await tarOf([{ path: uvPath.slice(1), content: uv, mode: 0o755 }, ...certificates]);
  const folder = {
    type: 'Directory',
    mode: 0o755,
    time: earliestTime,
    owner: foreignUser,
  } as const;
  const theirs = [scratch, `${scratch}/home`].map((path) =>
    tarEntry({ ...folder, path: `${path.slice(1)}/` }),
  );
  const files = ours.subarray(0, ours.length - tarEnd.length);
  await container.put(Buffer.concat([files, ...(await Promise.all(theirs)), tarEnd]));
}

/** Folder of uv in a container. */
export const toolFolder = posix.dirname(uvPath);
