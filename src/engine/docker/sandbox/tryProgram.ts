import { setTimeout as sleep } from 'node:timers/promises';
import { throwIfAborted } from '../../../domain/work';
import { programFolder } from '../../engine';
import { wordForShell } from '../../programs/quotedForShell';
import { attachProgram } from '../attachedProgram';
import { engineProblem, type DockerConnection } from '../connection/connect';
import { containerLabels } from '../labels';
import { removeNow } from './abandonedContainers';
import { makeProgramVolume, removeVolume } from './programVolume';

interface ProgramTrial {
  /** Folder of this machine with the program. */
  readonly folder: string;
  /** An image that the engine has. */
  readonly image: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A line for its standard input. */
  readonly line: string;
  /** Whether a line of its standard output is the answer. */
  readonly isAnswer: (line: string) => boolean;
  readonly seconds: number;
}

/** As agents find their programs: containerWorkspace.ts. The words of the command are its arguments. */
const starting = `PATH="$PATH:${programFolder}/bin:${programFolder}/node_modules/.bin:${programFolder}" HOME=/tmp exec "$@"`;

/**
 * Starts an agent's program in a container without a network, says one line, and waits for an answer.
 *
 * @returns the answer, and the end of its standard error. Both are untrusted.
 * @throws HumanError when the engine does not do it, Cancelled
 */
export async function tryProgram(
  connection: DockerConnection,
  trial: ProgramTrial,
  signal: AbortSignal,
): Promise<{ readonly answer: string | undefined; readonly complaint: string }> {
  const { folder, image, argv, env } = trial;
  const volume = await makeProgramVolume(connection, folder, image, signal);
  try {
    const container = await connection.docker.createContainer({
      Image: image,
      Entrypoint: ['/bin/sh', '-c', `exec sleep ${trial.seconds + 60}`],
      Cmd: [],
      NetworkDisabled: true,
      Labels: await containerLabels('program'),
      HostConfig: {
        NetworkMode: 'none',
        Init: true,
        Mounts: [{ Type: 'volume', Source: volume, Target: programFolder, ReadOnly: true }],
      },
    });
    try {
      await container.start();
      throwIfAborted(signal);
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const command = ['/bin/sh', '-c', starting, 'sh', 'env', ...variables, ...argv];
      const program = await attachProgram(container, command);
      const answer = await answerOf(program, trial, signal).finally(() => program.close());
      throwIfAborted(signal);
      return { answer, complaint: program.complaint() };
    } finally {
      await removeNow(container);
    }
  } catch (error) {
    throwIfAborted(signal);
    throw engineProblem(
      error,
      connection,
      `starting ${argv.map(wordForShell).join(' ')} in ${image}`,
    );
  } finally {
    await removeVolume(connection, volume);
  }
}

async function answerOf(
  program: Awaited<ReturnType<typeof attachProgram>>,
  { line, isAnswer, seconds }: ProgramTrial,
  signal: AbortSignal,
): Promise<string | undefined> {
  program.write(Buffer.from(`${line}\n`), () => undefined);
  const read = async (): Promise<string | undefined> => {
    let rest = '';
    for await (const piece of program.output) {
      rest = (rest + piece.toString('utf8')).slice(-(1 << 20));
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      const answer = lines.find(isAnswer);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
  const done = new AbortController();
  const late = sleep(seconds * 1000, undefined, {
    signal: AbortSignal.any([done.signal, signal]),
  }).catch(() => undefined);
  return Promise.race([read(), late]).finally(() => done.abort());
}
