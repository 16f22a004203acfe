import * as vscode from 'vscode';
import { retryingMemoOf } from '../../domain/work';
import type { Side, TestResult, TestTransition } from '../../domain/outcome';
import {
  goldenLinesOf,
  hideGoldenLines,
  withoutGoldenLines,
  type GoldenLines,
} from '../coverage/goldenLines';
import type { InstanceSource, Revealing } from '../instance/instanceRoles';

const known = new WeakMap<object, Promise<GoldenLines>>();

/** Removes the lines of the golden patch from results of tests while the patch is hidden. */
export interface GoldenRedaction {
  result(side: Side, result: TestResult): TestResult;
  both(transition: TestTransition): TestTransition;
  text(side: Side, text: string): string;
}

/**
 * The redaction for now: none once the golden patch is revealed. Until then it removes the lines of
 * the patch from tracebacks of R∘X*, since they give the fix away.
 *
 * @throws HumanError when the row of the instance is gone
 */
export async function goldenRedactionOf(
  open: InstanceSource & Revealing,
): Promise<GoldenRedaction> {
  if (open.revealed) return asItIs;
  const golden = await retryingMemoOf(known, open, async () =>
    goldenLinesOf((await open.instance()).goldenPatch),
  );
  const result = (side: Side, of: TestResult): TestResult =>
    side === 'base' ? of : withoutGoldenLines(of, golden, hiddenNote());
  return {
    result,
    both: (each) => ({ ...each, fixed: result('fixed', each.fixed) }),
    text: (side, text) => (side === 'base' ? text : hideGoldenLines(text, golden, hiddenNote())),
  };
}

const asItIs: GoldenRedaction = {
  result: (_side, result) => result,
  both: (transition) => transition,
  text: (_side, text) => text,
};

const hiddenNote = (): string => vscode.l10n.t('[lines of the fix are hidden until you reveal it]');
