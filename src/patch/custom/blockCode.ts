import type { Definition } from '../../python/definitions';
import type { ImportStatement } from '../../python/module';
import type { IndentedCode } from '../reading/indentation';

/** A function or class of a block, with 0-based lines of its code, `to` excluded. */
export interface BlockDefinition {
  readonly definition: Definition;
  readonly from: number;
  readonly to: number;
  /** 0-based line of `def` or `class`. */
  readonly defLine: number;
  /** 0-based line of the first member of a class. */
  readonly firstMember?: number;
  /** Names of the definitions in a class. */
  readonly methods: readonly string[];
}

/** An import at the head of a block. */
export interface BlockImport {
  readonly statement: ImportStatement;
  /** Its lines, with the comments directly above. */
  readonly text: readonly string[];
  /** These lines in the given text, 1-based, `to` excluded. */
  readonly source: { readonly from: number; readonly to: number };
}

/** The parsed code of a block. */
export interface BlockCode {
  readonly code: IndentedCode;
  /** 1-based line of the given text at which `code` begins. */
  readonly firstLine: number;
  /** The outermost functions and classes. */
  readonly definitions: readonly BlockDefinition[];
  readonly imports: readonly BlockImport[];
  /** Whether the code has a syntax error, which is already reported. */
  readonly broken: boolean;
}
