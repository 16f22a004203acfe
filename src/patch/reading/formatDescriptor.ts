import type { Turns } from '../../domain/work';
import type { PythonParser } from '../../python/parser';
import type { Diagnostic } from '../diagnostic';
import type { Conversion } from './conversion';
import type { PatchTree } from './patchTree';

/**
 * All that reading a text must know of a format of patches. The unified format is built in; a
 * program hands in those that it has in addition. It imports its conversion when it converts: a command
 * lists the formats before it reads any patch.
 */
export interface FormatDescriptor {
  /** As in `--format`. */
  readonly name: string;
  /**
   * How it is written, to tell the user whose text has no patch. Absent where another format says
   * the same.
   */
  readonly written?: string;
  /**
   * Whether it places diffs that the unified format refuses, so that messages of that format name
   * it.
   */
  readonly placesAnyDiff?: boolean;
  /**
   * Whether a text has the beginning of a patch in this format. Absent for a format that is only
   * requested, never detected.
   */
  holds?(text: string): boolean;
  /** The parts of a text in this format, in order. */
  partsOf(text: string): Part[];
  /**
   * The error for a text that ends within a part, where half of that part would apply without a
   * warning. Absent where such a part does not convert.
   */
  cutOff?(text: string): Diagnostic | undefined;
  /** @throws Cancelled, and any error of `tree.read` */
  convert(text: string, work: ConversionWork): Promise<Conversion>;
}

/** What a format converts a text with. */
export interface ConversionWork {
  readonly tree: PatchTree;
  /** Needed only for the custom format. */
  readonly python: PythonParser;
  /** The formats apart from the unified one. */
  readonly formats: readonly FormatDescriptor[];
  /** The turns of the conversion with other work. */
  readonly turns: Turns;
}

/** A part of a text that changes one file: a part of a unified diff, or one block. */
export interface Part {
  /** Name of its format. */
  readonly format: string;
  /** 1-based lines, both included. */
  readonly line: number;
  readonly endLine: number;
  /** Paths that it changes. */
  readonly paths: readonly string[];
  /** False when its end is missing. */
  readonly complete: boolean;
  /**
   * Whether another part of the same format and path makes the same change, or an alternative to
   * it.
   */
  readonly isSame: (other: Part) => boolean;
}

/** Parts of which two are the same where their keys are. */
export function partsWithKeys(
  parts: readonly (Omit<Part, 'isSame'> & { readonly key: string })[],
): Part[] {
  const keys = new Map<Part, string>();
  return parts.map(({ key, ...of }): Part => {
    const part: Part = { ...of, isSame: (other) => keys.get(other) === key };
    keys.set(part, key);
    return part;
  });
}
