import type { Readable } from 'node:stream';
import { HumanError } from '../../domain/work';
import { sha256OfJson } from '../../files/digest';
import type { Ended, ImageCommands } from '../environmentMaker';
import type { EnvironmentMaker, FillRequest } from '../environmentMaker';
import { packagesOfRunners } from '../runners/runners';
import type { Agent } from '../sandbox/agent';
import { tarEnd } from '../sandbox/archive';
import { tracerFolder, type SandboxImage } from '../sandbox/containerSandbox';

/** What is known of an image once a pod runs it. */
export interface PreparedImage extends SandboxImage {
  readonly pythonVersion: string;
  /** Versions of the packages that runners need. */
  readonly packages: Readonly<Record<string, string>>;
  /** Digest of everything that tests could see. */
  readonly digest: string;
}

/** PATH where the image sets none. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

interface Preparing extends Omit<FillRequest, 'path'> {
  readonly environments: EnvironmentMaker;
  readonly imageId: string;
}

/**
 * Does in a pod what the docker engine commits into the image of an instance: R without anything
 * later, compiled, closed to the user of the tests.
 *
 * @throws HumanError when the image has no usable Python or cannot be prepared, SandboxUnusable
 */
export async function prepareImage(
  agent: Agent,
  { environments, imageId, ...filling }: Preparing,
): Promise<PreparedImage> {
  const commands = podCommands(agent);
  const { trees, folder } = filling;
  const path = (await commands.attempt(['printenv', 'PATH'])).standard.trim() || defaultPath;
  const filled = await environments.fillImage(commands, { ...filling, path });
  const { python, user, after, install } = filled;
  // Closing the image closed these folders as well, which no image has.
  await commands.run(['chmod', '755', '/swt', tracerFolder], 'prepare the image for tracing');
  await agent.ask({ kind: 'user', user });
  return {
    ...{ folder, python, user },
    pythonVersion: after.version,
    packages: packagesOfRunners(after.packages),
    ...(install.length > 0 && { install }),
    digest: sha256OfJson([
      ...['pod', imageId, trees.digest.base, folder, user],
      ...[install, after.version, after.packages],
    ]).slice(0, 24),
  };
}

/** Bytes of an archive that are sent in one request. */
const partBytes = 8 << 20;

/** The agent of a pod as the place where an image is prepared. */
export function podCommands(agent: Agent): ImageCommands {
  const attempt: ImageCommands['attempt'] = async (argv, command = {}) => {
    const pieces: Buffer[] = [];
    const { header } = await agent.untilDone(
      {
        kind: 'prepare',
        argv,
        env: command.env ?? {},
        bin: '',
        cwd: command.cwd ?? '/',
        user: command.user ?? 0,
        seconds: stepSeconds + 30,
        disk: 1 << 30,
      },
      { seconds: stepSeconds, onOutput: (data) => void pieces.push(data) },
    );
    const output = Buffer.concat(pieces).toString('utf8').slice(-outputKept);
    return { code: header.exit ?? 1, output, standard: output };
  };
  return {
    attempt,
    async run(argv, doing, command) {
      const ended: Ended = await attempt(argv, command);
      if (ended.code === 0) return ended.standard;
      throw new HumanError(
        `Could not ${doing} in a pod: ${ended.output.trim().slice(-300) || `status ${ended.code}`}`,
        'Check the image',
      );
    },
    async put(archive, folder = '/') {
      for await (const part of partsOf(archive)) {
        await agent.ask({ kind: 'unpack', folder }, part);
      }
    },
  };
}

/** Seconds of one step of preparing an image. */
const stepSeconds = 600;

/** Characters of the output of a step. */
const outputKept = 1 << 20;

/** Whole archives of some entries each. A stream of an archive gives an entry at a time. */
async function* partsOf(archive: Buffer | Readable): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(archive)) {
    yield archive;
    return;
  }
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of archive as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat([...pieces, tarEnd]);
    pieces = [];
    bytes = 0;
  }
  yield Buffer.concat([...pieces, tarEnd]);
}
