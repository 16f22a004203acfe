import { throwIfAborted } from '../../domain/work';
import type { AgentProtocol } from './agentProtocol';

/** Seconds for an agent to start, which takes a while where another processor is emulated. */
const patience = 60;

/**
 * Waits until the agent is ready. Closes the wire when that takes too long or the caller cancels.
 *
 * @throws Error with the agent's complaint, Cancelled
 */
export async function firstFrame(
  wire: AgentProtocol,
  signal: AbortSignal | undefined,
): Promise<void> {
  const close = (): void => wire.close();
  const timer = setTimeout(close, patience * 1000);
  signal?.addEventListener('abort', close, { once: true });
  try {
    const first = await wire.receive();
    throwIfAborted(signal);
    if (first?.header.kind === 'ready') return;
    const why = wire.complaint();
    throw new Error(`the agent did not start: ${why === '' ? 'no answer' : why.slice(-300)}`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', close);
  }
}
