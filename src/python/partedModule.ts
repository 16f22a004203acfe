import type { Stepwise } from '../domain/work';
import type { Definition } from './definitions';
import {
  joinModules,
  moduleIn,
  movedModule,
  type ImportedName,
  type ImportStatement,
  type PythonModule,
  type Statement,
  segmentsOf,
  type Segment,
} from './module';
import type { PythonParser } from './parser';

/**
 * A part of a source. `module` is its outline with ranges of the whole source, once the part has
 * been read.
 */
interface Part {
  readonly segment: Segment;
  module?: PythonModule;
}

/**
 * A module that parses only the parts of its source that a request needs, since files are long and
 * a patch concerns few functions. Its results are those of `readModule`.
 */
export class PartedModule implements PythonModule {
  #parts: Part[];
  /** Whether all parts are read, and broken ones joined with each other. */
  #isWhole = false;
  #whole: PythonModule | undefined;
  #importing: Pick<PythonModule, 'imports' | 'guarded'> | undefined;
  #partsByName: Map<string, number[]> | undefined;
  #wholeByName: Map<string, Definition[]> | undefined;
  readonly #byName = new Map<string, readonly Definition[]>();

  constructor(
    private readonly python: PythonParser,
    source: string,
  ) {
    this.#parts = segmentsOf(source).map((segment) => ({ segment }));
  }

  get definitions(): readonly Definition[] {
    return this.#all().definitions;
  }

  get statements(): readonly Statement[] {
    return this.#all().statements;
  }

  get imports(): readonly ImportStatement[] {
    return this.#allImports().imports;
  }

  get guarded(): readonly ImportedName[] {
    return this.#allImports().guarded;
  }

  get bodies(): PythonModule['bodies'] {
    return this.#all().bodies;
  }

  get longStrings(): PythonModule['longStrings'] {
    return this.#all().longStrings;
  }

  get errorLine(): number | undefined {
    return this.#all().errorLine;
  }

  /** Whether there is an `errorLine`, found without error recovery. */
  get hasError(): boolean {
    if (this.#isWhole) return this.errorLine !== undefined;
    let broken: string | undefined;
    for (const [i, { segment }] of this.#parts.entries()) {
      if (this.#read(i) !== undefined) {
        if (broken !== undefined) return true;
        continue;
      }
      // Two broken segments may be one statement with a wrong cut in it.
      const joined: string | undefined = broken && broken + segment.text;
      const mended = joined !== undefined && this.python.parseSound(joined, () => true) === true;
      broken = mended ? undefined : (joined ?? segment.text);
    }
    return broken !== undefined;
  }

  /** The definitions of one name, in the order of the source. */
  named(name: string): readonly Definition[] {
    let found = this.#byName.get(name);
    if (found === undefined) {
      found = this.#readNamed(name) ?? this.#allByName().get(name) ?? [];
      this.#byName.set(name, found);
    }
    return found;
  }

  /** The outline of the part that contains a line (1-based). */
  around(line: number): PythonModule {
    const [module] = this.modules(line);
    return module ?? this.#all();
  }

  /**
   * The outlines of the parts, starting with the one that contains a line (1-based), downwards or
   * upwards.
   */
  *modules(line: number, direction: 'down' | 'up' = 'down'): Generator<PythonModule> {
    let at = this.#indexOf(line);
    while (at >= 0 && at < this.#parts.length) {
      const module = this.#read(at);
      if (module === undefined) {
        const first = (this.#parts[at]?.segment.line ?? 0) + 1;
        this.#readAll();
        // This part may now be joined with others, none of which has been yielded yet.
        at = this.#indexOf(first);
        continue;
      }
      yield module;
      at += direction === 'down' ? 1 : -1;
    }
  }

  /**
   * The definitions of a name, from the parts that may contain one; undefined if all parts must be
   * read.
   */
  #readNamed(name: string): Definition[] | undefined {
    if (this.#isWhole) return undefined;
    this.#partsByName ??= partsByName(this.#parts);
    const at = [...(this.#partsByName.get('') ?? []), ...(this.#partsByName.get(name) ?? [])];
    const found: Definition[] = [];
    for (const i of [...new Set(at)].sort((a, b) => a - b)) {
      const module = this.#read(i);
      if (module === undefined) return undefined;
      found.push(...module.definitions.filter((each) => each.name === name));
    }
    return found;
  }

  #allByName(): Map<string, Definition[]> {
    if (this.#wholeByName !== undefined) return this.#wholeByName;
    const names = new Map<string, Definition[]>();
    for (const definition of this.definitions) {
      const same = names.get(definition.name);
      if (same === undefined) names.set(definition.name, [definition]);
      else same.push(definition);
    }
    return (this.#wholeByName = names);
  }

  /** The index of the part that contains a line; the last part for a line after the end. */
  #indexOf(line: number): number {
    let [low, high] = [0, this.#parts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#parts[middle]?.segment.line ?? 0) < line) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** Reads one part; undefined if the part is broken, so that all must be read. */
  readonly #read = (at: number): PythonModule | undefined => {
    const part = this.#parts[at];
    if (part === undefined) return undefined;
    if (part.module !== undefined) return part.module;
    const module = this.python.parseSound(part.segment.text, moduleIn);
    return module && (part.module = movedModule(module, part.segment));
  };

  /**
   * Reads all parts and yields before each. Later requests for all definitions take little time
   * then.
   */
  *reading(): Stepwise<void> {
    if (this.#isWhole) return;
    for (const at of this.#parts.keys()) {
      if (this.#parts[at]?.module === undefined) yield;
      this.#read(at);
    }
  }

  #readAll(): void {
    if (this.#isWhole) return;
    const parts: Part[] = [];
    for (const [i, part] of this.#parts.entries()) {
      const last = parts.at(-1);
      const isSound = this.#read(i) !== undefined;
      if (!isSound && last?.module?.errorLine === undefined) {
        part.module = movedModule(this.python.parse(part.segment.text, moduleIn), part.segment);
      }
      if (isSound || last?.module?.errorLine === undefined) {
        parts.push(part);
        continue;
      }
      // Two broken segments may be one statement with a wrong cut in it.
      const segment = { ...last.segment, text: last.segment.text + part.segment.text };
      const module = movedModule(this.python.parse(segment.text, moduleIn), segment);
      parts[parts.length - 1] = { segment, module };
    }
    this.#parts = parts;
    this.#isWhole = true;
  }

  #all(): PythonModule {
    this.#readAll();
    this.#whole ??= joinModules(this.#parts.flatMap(({ module }) => module ?? []));
    return this.#whole;
  }

  #allImports(): Pick<PythonModule, 'imports' | 'guarded'> {
    if (this.#importing !== undefined) return this.#importing;
    const modules = this.#parts.flatMap(({ segment }, i) =>
      segment.text.includes('import') ? [this.#read(i)] : [],
    );
    if (modules.includes(undefined)) return (this.#importing = this.#all());
    const found = modules.filter((module) => module !== undefined);
    return (this.#importing = {
      imports: found.flatMap((module) => module.imports),
      guarded: found.flatMap((module) => module.guarded),
    });
  }
}

/**
 * Matches the text after `def` or `class`: a name, or characters that the grammar skips before one.
 * The end of the line is not such a character, since it ends the statement.
 */
const defined =
  /\b(?:def|class)(?:[ \t]+([^\s\u200b\u2060!-/:-@[-^`{-~]+)|(?![ \t\r\n])[\s\\\u200b\u2060]|[ \t]+[\\\u200b\u2060])/g;

/**
 * Indices of the parts that may define a name, judged by the text alone. The empty name lists the
 * parts that must be parsed to know their names.
 */
function partsByName(parts: readonly Part[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [i, { segment }] of parts.entries()) {
    for (const [, name = ''] of segment.text.matchAll(defined)) {
      // Only the grammar can say which other letters belong to a name.
      const key = /^\w*$/.test(name) ? name : '';
      const own = found.get(key);
      if (own === undefined) found.set(key, [i]);
      else if (own.at(-1) !== i) own.push(i);
    }
  }
  return found;
}
