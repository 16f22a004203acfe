import type { Instance } from '../../domain/instance';
import type { Reporter } from '../../domain/work';
import type { Engine } from '../../engine/engine';
import { evaluateCandidate } from '../../evaluation/candidate';
import { isResolved, readCodePatch } from '../../evaluation/prepareCandidate';
import type { RunStore } from '../../evaluation/testRun';
import { openSession, type InstanceSession } from '../../evaluation/session';
import { furtherFormats } from '../../patch/patchFormats';
import type { PythonParser } from '../../python/parser';
import type { Trees } from '../../repository/trees';
import type { OracleVerdict } from '../steps/picks';

/**
 * The labelled exception to the rule that no method knows the answer. Pass@k picks by the verdict,
 * and nothing but the verdict leaves this file. A request to a model follows it only in a setting of
 * Table 5 with a wrong patch, which is marked too.
 */
export interface Oracle {
  /** @throws HumanError when nothing can be run, Cancelled */
  judge(patch: string): Promise<OracleVerdict & { readonly reason: string }>;
  /**
   * Reads an answer as a code patch on R, and runs T* with it.
   *
   * @throws HumanError when nothing can be run, Cancelled
   */
  judgeFix(answer: string): Promise<JudgedFix>;
  dispose(): Promise<void>;
}

/** A fix that a model wrote, and whether it solves the issue. */
interface JudgedFix {
  /** Unified diff on R without edits of tests; empty if the answer is not one. */
  readonly patch: string;
  /** Why the answer is no code patch on R. */
  readonly problem?: string;
  /** Whether T* passes with it as on R∘X*; undefined where that is unknown. */
  readonly resolved?: boolean;
}

export function oracleOf(parts: {
  readonly instance: Instance;
  readonly trees: () => Promise<Trees>;
  readonly python: PythonParser;
  readonly engine: () => Promise<Engine>;
  readonly store: RunStore;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}): Oracle {
  const { instance, python, store, timeoutSeconds, signal, reporter } = parts;
  let session: Promise<InstanceSession> | undefined;
  const open = async (): Promise<InstanceSession> =>
    openSession({
      instance,
      trees: await parts.trees(),
      engine: await parts.engine(),
      python,
      formats: furtherFormats,
      store,
    });
  return {
    async judge(patch) {
      session ??= open();
      const { strict, changeCoverage } = await evaluateCandidate(
        await session,
        { model: 'candidate', text: patch, format: 'unified', mode: 'unit-test' },
        { timeoutSeconds, signal, reporter, reuse: true },
      );
      return {
        applies: strict.wellFormed,
        success: strict.success,
        reason: strict.reason,
        failToPass: strict.failToPass.length,
        delta: changeCoverage?.delta ?? null,
      };
    },
    async judgeFix(answer) {
      session ??= open();
      const opened = await session;
      const patch = await readCodePatch(opened, answer, { format: 'auto', signal });
      if (typeof patch !== 'string') return { patch: '', problem: patch.failure };
      const resolved = await isResolved(opened, patch, { timeoutSeconds, signal, reporter });
      return { patch, ...(resolved !== undefined && { resolved }) };
    },
    async dispose() {
      await (await session?.catch(() => undefined))?.dispose();
    },
  };
}
