import { turnsOf } from '../../domain/work';
import {
  checkBlocks,
  openFile,
  planCustom,
  type BlockPlan,
  type CustomOptions,
} from '../../patch/customFormat';
import { furtherFormats } from '../../patch/patchFormats';
import { toUnified } from '../../patch/toUnified';
import type { Diagnostic } from '../../patch/diagnostic';
import type { PatchTree } from '../../patch/toUnified';
import type { PythonModule } from '../../python/module';
import type { PythonParser } from '../../python/parser';
import type { CustomDiff } from '../customDiffs';

/** What the checks of a custom diff need: its tree, and the means to read it. */
export interface CheckContext {
  readonly tree: PatchTree;
  readonly python: PythonParser;
  /** URI of a file of the tree. */
  readonly uriOf: (path: string) => string;
  /** Opens a file in which blocks are placed. */
  readonly open?: CustomOptions['open'];
}

/** The outline of a Python file of the tree, by lines. Offsets refer to the file without CR. */
export function moduleOfPath(
  { open = openFile, python }: CheckContext,
  path: string,
  source: string,
): PythonModule {
  return open(path, source, python).module;
}

/** A custom diff as the engine reads it. */
export interface CheckedDiff {
  readonly diff: CustomDiff;
  /** The places of all blocks that can be read. */
  readonly plans: readonly BlockPlan[];
  /** Lines are those of the custom diff, 1-based. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads a custom diff and places its blocks in the tree.
 *
 * @throws Cancelled; HumanError when a file of the tree cannot be read
 */
export async function checkDiff(
  diff: CustomDiff,
  { tree, python, open }: CheckContext,
  signal?: AbortSignal,
): Promise<CheckedDiff> {
  const { blocks, diagnostics } = checkBlocks(diff.blocks);
  if (blocks.length === 0) {
    if (diagnostics.length > 0 || diff.text.trim() === '') return { diff, plans: [], diagnostics };
    // The engine has its own message for a text without any block.
    const found = await toUnified(diff.text, {
      ...{ format: 'custom', formats: furtherFormats, tree, python, signal },
    });
    return { diff, plans: [], diagnostics: found.diagnostics };
  }
  const planned = await planCustom(blocks, {
    ...{ tree, python, outsideTests: true, turns: turnsOf(signal) },
    ...(open !== undefined && { open }),
  });
  return {
    diff,
    plans: planned.plans,
    diagnostics: [...diagnostics, ...planned.diagnostics].sort((a, b) => a.line - b.line),
  };
}

/** The plan of the block that a line (1-based) of the custom diff is in. */
export const planAt = (checked: CheckedDiff, line: number): BlockPlan | undefined =>
  checked.plans.find(({ block }) => block.line <= line && line <= block.endLine);

/** The part of a plan that a line (1-based) of the custom diff belongs to. */
export const partAt = (plan: BlockPlan, line: number): BlockPlan['parts'][number] | undefined =>
  plan.parts.find(({ source }) => source.from <= line && line < source.to);
