import type { Reporter } from '../../domain/work';
import { EXIT, type CommandContext } from '../context';
import type { ProgramContext } from '../registerCommand';
import { instanceOnR, type InstanceOnROptions } from './instanceOnR';
import { LineTransport, serveMcp, candidateInMemory } from '../../method/tools';
import { mayRunTestsOfModels, refusedLocally } from '../../method/testsOfModels';
import { storedCandidate } from './storedCandidate';

export interface McpOptions extends InstanceOnROptions {
  timeout: number;
  runTestsLocally?: boolean;
  /** File of predictions that gets the candidate. */
  out?: string;
  /** Name of the model in that file. */
  name: string;
}

/**
 * `swt-bench mcp`: serves the Model Context Protocol for one instance on stdin and stdout, until
 * the client closes stdin.
 *
 * @returns the exit status
 * @throws HumanError when options or the dataset cannot be used; Cancelled
 */
export async function serveInstance(
  options: McpOptions,
  context: ProgramContext & { readonly version: string },
): Promise<number> {
  const closed = new AbortController();
  const signal = AbortSignal.any([context.signal, closed.signal]);
  // Only messages of the protocol go to stdout; clients show stderr as the server's log.
  const reporter: Reporter = {
    log: (line) => context.stderr(`${line}\n`),
    progress: () => undefined,
  };
  const opened = await instanceOnR(options, context, {
    signal,
    permit: () => {
      if (!mayRunTestsOfModels(options)) throw refusedLocally('run_tests');
    },
  });
  const { instance, view } = opened;
  const { out, name: model, storage } = options;
  const kept =
    out === undefined
      ? undefined
      : await storedCandidate({ instance, out, model, storage, reporter });
  const { transport, release } = stdioTransport(context, closed);
  try {
    reporter.log(`${instance.id}: serving tools on stdin and stdout`);
    if (!mayRunTestsOfModels(options)) {
      reporter.log(
        `swt-bench mcp: ${refusedLocally('run_tests').message}. The tool reports this to the agent`,
      );
    }
    await serveMcp(transport, {
      version: context.version,
      view,
      candidate: kept?.slot ?? candidateInMemory(),
      timeoutSeconds: options.timeout,
      reporter,
    });
  } finally {
    release();
    await opened.dispose();
  }
  const isKept = (await kept?.finish()) ?? true;
  if (context.signal.aborted) return EXIT.interrupted;
  return isKept ? EXIT.done : EXIT.negative;
}

/**
 * A transport over standard input and output, which ends with either of them or with an interrupt.
 */
function stdioTransport(
  context: CommandContext,
  closed: AbortController,
): { readonly transport: LineTransport; readonly release: () => void } {
  // oxlint-disable-next-line no-restricted-properties -- the messages of the protocol
  const transport = new LineTransport(process.stdin, process.stdout);
  const close = (): void => {
    closed.abort();
    void transport.close();
  };
  // A client ends a server by closing the server's input; a crashed client leaves a broken pipe.
  process.stdin.once('end', close).once('close', close);
  // oxlint-disable-next-line no-restricted-properties -- nothing is printed
  process.stdout.once('error', close);
  context.signal.addEventListener('abort', close, { once: true });
  return { transport, release: () => context.signal.removeEventListener('abort', close) };
}
