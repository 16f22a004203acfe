import type { Instance } from '../../domain/instance';
import { messageOf, type Reporter } from '../../domain/work';
import { candidateInMemory, type CandidateSlot } from '../../method/tools';
import { predictionsFile, predictionsLock } from '../../method/predictionsFile';
import { withLock } from '../../repository/lock';

/** Milliseconds that a call waits for another command that writes the file. */
const waitMilliseconds = 5000;

/** A candidate in memory that is also a row of a file of predictions. */
export interface StoredCandidate {
  readonly slot: CandidateSlot;
  /**
   * Writes the candidate if its row could not be written before.
   *
   * @returns whether the file has the candidate, or there is none
   */
  finish(): Promise<boolean>;
}

interface StoredCandidateParts {
  readonly instance: Pick<Instance, 'id'>;
  /** The file of predictions; its other rows stay. */
  readonly out: string;
  /** `model_name_or_path` of the row. */
  readonly model: string;
  readonly storage: string;
  readonly reporter: Reporter;
}

/**
 * Keeps each candidate that a model applies as a prediction. The model learns nothing of the file:
 * what goes wrong there is in the log.
 *
 * @throws HumanError when the file exists and is no file of predictions
 */
export async function storedCandidate(parts: StoredCandidateParts): Promise<StoredCandidate> {
  const { instance, out, model, storage, reporter } = parts;
  await predictionsFile(out);
  const memory = candidateInMemory();
  let isWritten = true;
  const write = async (): Promise<void> => {
    const signal = AbortSignal.timeout(waitMilliseconds);
    try {
      const lock = await predictionsLock(storage, out);
      const row = {
        instance_id: instance.id,
        model_name_or_path: model,
        model_patch: await memory.read(),
      };
      // Others may have written the file since: servers of other instances share it.
      await withLock(lock, { signal, reporter, what: `writes ${out}` }, async () =>
        (await predictionsFile(out)).put(row),
      );
      isWritten = true;
    } catch (error) {
      const why = signal.aborted ? 'another command is using it' : messageOf(error);
      reporter.log(`swt-bench mcp: could not save the candidate to ${out}: ${why}`);
    }
  };
  return {
    slot: {
      read: () => memory.read(),
      apply: async (patch) => {
        await memory.apply(patch);
        isWritten = false;
        await write();
      },
    },
    finish: async () => {
      if (!isWritten) await write();
      return isWritten;
    },
  };
}
