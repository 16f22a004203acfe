import type { Definition } from '../../python/definitions';
import type { ImportStatement } from '../../python/module';
import type { IndentedCode } from '../indentation';

/** A function or class of a block, by 0-based lines of its code, `to` excluded. */
export interface BlockDefinition {
  readonly definition: Definition;
  readonly from: number;
  readonly to: number;
  /** 0-based line of `def` or `class`. */
  readonly defLine: number;
  /** 0-based line of the first member of a class. */
  readonly firstMember?: number;
  /** Names of what a class defines. */
  readonly methods: readonly string[];
}

/** An import at the head of a block. */
export interface BlockImport {
  readonly statement: ImportStatement;
  /** Its lines, with the comments right above. */
  readonly text: readonly string[];
  /** Those lines in the text that was given, 1-based, `to` excluded. */
  readonly source: { readonly from: number; readonly to: number };
}

/** What the code of a block holds. */
export interface BlockCode {
  readonly code: IndentedCode;
  /** 1-based line, in the text that was given, of the first line of `code`. */
  readonly firstLine: number;
  /** Functions and classes that do not lie in one another. */
  readonly definitions: readonly BlockDefinition[];
  readonly imports: readonly BlockImport[];
  /** Whether it has a syntax error, which has been told. */
  readonly broken: boolean;
}
