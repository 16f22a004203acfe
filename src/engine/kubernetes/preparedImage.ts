import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import type { Instance } from '../../domain/instance';
import type { Trees } from '../../repository/trees';
import { compileFolder } from '../../environments/image/compileFolder';
import type { Ended, ImageCommands } from '../docker/build/buildContainer';
import { needInterpreter } from '../../environments/image/askInterpreter';
import { identityDigest } from '../../environments/image/imageRecords';
import { closeImage } from '../../environments/image/closeImage';
import { putTree } from '../../environments/image/instanceLayer';
import { installCommand, pythonsOf } from '../containerImage';
import { projectVersion } from '../../environments/projectVersion';
import { recipeOf } from '../../environments/recipes';
import { HumanError } from '../../domain/work';
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

interface Preparing {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly folder: string;
  /** Name of the image, for messages. */
  readonly image: string;
  readonly imageId: string;
}

/**
 * Does in a pod what the docker engine commits into the image of an instance: R without anything
 * later, compiled, closed to the user of the tests.
 *
 * @throws HumanError when the image has no usable Python or cannot be prepared, SandboxUnusable
 */
export async function prepareImage(agent: Agent, preparing: Preparing): Promise<PreparedImage> {
  const commands = podCommands(agent);
  const { instance, trees, folder, image, imageId } = preparing;
  const recipe = recipeOf(instance.repo, instance.version);
  const found = await needInterpreter(commands, image, pythonsOf(folder));
  const python = found.executable;
  const source = { from: 'row', name: image } as const;
  await putTree(commands, { trees, instance, source }, folder, python);
  const inherited = (await commands.attempt(['printenv', 'PATH'])).standard.trim() || defaultPath;
  const env = { PATH: `${posix.dirname(python)}:${inherited}`, HOME: '/tmp' };
  await compileFolder(commands, python, folder, { env });
  const version = `SETUPTOOLS_SCM_PRETEND_VERSION=${projectVersion(instance, recipe)}`;
  const isConda = /\/envs\/testbed\//.test(python);
  const install = isConda ? ['env', version, ...installCommand(python)] : undefined;
  const user = await closeImage(commands, { folder, python, base: undefined, inherited });
  // Closing the image closed these folders as well, which no image has.
  await commands.run(['chmod', '755', '/swt', tracerFolder], 'let tests be traced');
  await commands.run(
    ['chown', '-hR', `${user}:${user}`, folder],
    'hand the files over to the user of tests',
  );
  const after = await needInterpreter(commands, image, [python]);
  await agent.ask({ kind: 'user', user });
  return {
    ...{ folder, python, user },
    pythonVersion: after.version,
    packages: packagesOfRunners(after.packages),
    ...(install !== undefined && { install }),
    digest: identityDigest(
      ...['pod', imageId, trees.digest.base, folder, user],
      ...[install ?? [], after.version, after.packages],
    ),
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
        'Look at the image',
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
