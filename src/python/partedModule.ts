import type { Stepwise } from '../domain/turns';
import type { Definition } from './definitions';
import {
  joinModules,
  moduleIn,
  movedModule,
  type ImportedName,
  type ImportStatement,
  type PythonModule,
  type Statement,
} from './module';
import type { PythonParser } from './parser';
import { segmentsOf, type Segment } from './segments';

/** A part of a source, and what it holds with the ranges of the whole source once that has been read. */
interface Part {
  readonly segment: Segment;
  module?: PythonModule;
}

/**
 * A source of which only those parts are read that what is asked for can lie in: files are long, and a
 * patch is about a few of their functions. The answers are those of `readModule`.
 */
export class PartedModule implements PythonModule {
  #parts: Part[];
  /** Whether all parts are read, those that are broken joined with each other. */
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

  /** Whether `errorLine` gives any, told without mending what is broken. */
  get hasError(): boolean {
    if (this.#isWhole) return this.errorLine !== undefined;
    let broken: string | undefined;
    for (const [i, { segment }] of this.#parts.entries()) {
      if (this.#read(i) !== undefined) {
        if (broken !== undefined) return true;
        continue;
      }
      // Two that are broken may be one that is cut where it should not be.
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

  /** What the part of the source holds that a line (1-based) lies in. */
  around(line: number): PythonModule {
    const [module] = this.modules(line);
    return module ?? this.#all();
  }

  /** What the parts of the source hold, from the one that a line (1-based) lies in down, or up. */
  *modules(line: number, direction: 'down' | 'up' = 'down'): Generator<PythonModule> {
    let at = this.#indexOf(line);
    while (at >= 0 && at < this.#parts.length) {
      const module = this.#read(at);
      if (module === undefined) {
        const first = (this.#parts[at]?.segment.line ?? 0) + 1;
        this.#readAll();
        // It may be joined with others, none of which has been given out.
        at = this.#indexOf(first);
        continue;
      }
      yield module;
      at += direction === 'down' ? 1 : -1;
    }
  }

  /** The definitions of a name by the parts that may hold one; undefined if all have to be read. */
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

  /** The part that a line lies in, the last one for a line behind all. */
  #indexOf(line: number): number {
    let [low, high] = [0, this.#parts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#parts[middle]?.segment.line ?? 0) < line) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** Reads one part; undefined if that is broken and all have to be read therefore. */
  readonly #read = (at: number): PythonModule | undefined => {
    const part = this.#parts[at];
    if (part === undefined) return undefined;
    if (part.module !== undefined) return part.module;
    const module = this.python.parseSound(part.segment.text, moduleIn);
    return module && (part.module = movedModule(module, part.segment));
  };

  /** Reads all parts, one at a step: what asks for all definitions takes little time then. */
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
      // Two that are broken may be one that is cut where it should not be.
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
 * What stands behind the words that begin a definition: a name, or what the grammar passes over before
 * one, but for the end of the line, which ends the statement.
 */
const defined =
  /\b(?:def|class)(?:[ \t]+([^\s\u200b\u2060!-/:-@[-^`{-~]+)|(?![ \t\r\n])[\s\\\u200b\u2060]|[ \t]+[\\\u200b\u2060])/g;

/**
 * The parts that may define a name, told by their letters alone; below the empty name those that have to
 * be read to know what they define.
 */
function partsByName(parts: readonly Part[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [i, { segment }] of parts.entries()) {
    for (const [, name = ''] of segment.text.matchAll(defined)) {
      // What other letters belong to a name is for the grammar to say.
      const key = /^\w*$/.test(name) ? name : '';
      const own = found.get(key);
      if (own === undefined) found.set(key, [i]);
      else if (own.at(-1) !== i) own.push(i);
    }
  }
  return found;
}
