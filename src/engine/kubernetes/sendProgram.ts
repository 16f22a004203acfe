import { HumanError, messageOf, throwIfAborted } from '../../domain/work';
import { programFolder, SandboxUnusable } from '../engine';
import { programArchive } from '../sandbox/programArchive';
import type { Cluster } from './cluster';
import { programContainer, withPython } from './podSpec';
import { attachInPod } from './podStream';
import { pythonText } from '../pythonProgram';

/** Milliseconds without a sign of life after which the container counts as dead. */
const deadAfter = 23_000;

/**
 * Sends the program of an agent into a pod whose container for it runs. That container ends
 * afterwards, so that the sandbox starts.
 *
 * @param folder on this machine
 * @throws HumanError when the folder cannot be read, SandboxUnusable, Cancelled
 */
export async function sendProgram(
  cluster: Cluster,
  pod: string,
  { folder, pythons }: { readonly folder: string; readonly pythons: readonly string[] },
  signal: AbortSignal | undefined,
): Promise<void> {
  const command = withPython(pythons, pythonText('unpack_program.py'), programFolder);
  const options = { silence: deadAfter, container: programContainer };
  const program = await attachInPod(cluster, pod, command, options);
  const stop = (): void => program.close();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const output = program.output[Symbol.asyncIterator]();
    const unpacked = isUnpacked(output);
    let hasEnded = false;
    void unpacked.then((done) => (hasEnded = !done));
    for await (const piece of await programArchive(folder, signal)) {
      if (hasEnded) break;
      await new Promise<void>((sent) => program.write(piece as Buffer, sent));
    }
    if (!(await unpacked)) throw new Error(program.complaint() || 'the connection ended');
    await new Promise<void>((sent) => program.write(Buffer.from('q'), sent));
    // The end of the container ends the stream.
    while ((await output.next()).done !== true);
    throwIfAborted(signal);
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof HumanError) throw error;
    throw new SandboxUnusable(
      `Could not send the agent in ${folder} to the pod ${pod}: ${messageOf(error)}`,
      'Run it again; if it happens again, check the cluster and --disk',
    );
  } finally {
    signal?.removeEventListener('abort', stop);
    program.close();
  }
}

/** Whether a program says that all is unpacked before its output ends. */
async function isUnpacked(output: AsyncIterator<Buffer>): Promise<boolean> {
  for (;;) {
    const next = await output.next();
    if (next.done === true) return false;
    if (next.value.includes('!')) return true;
  }
}
