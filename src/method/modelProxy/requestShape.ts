import { isFields, kindOf, stringOrEmpty, type JsonFields } from './jsonFields';

/**
 * Which parts of a value may pass to a provider. A shape builds the value again from what it describes, so
 * that whatever nobody described stays behind: a field, a tool or a part of a message that a provider
 * understands and this program does not.
 *
 * @returns the value that passes, {@link nothing} where it is left out without a word, or undefined
 *   where it is not of this shape
 */
export type Shape = (value: unknown, at: Place) => unknown;

/** Stands for a value that is left out and need not be named. */
const nothing = Symbol('nothing');

/** The request cannot be sent, since without a part of it the rest means something else. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
}

/** What was found in a request while its shape was followed. */
export class RequestFindings {
  private readonly counts = new Map<string, number>();
  /** The objects with an image: their bytes are no text. */
  readonly images = new Set<object>();

  /** @param name untrusted */
  takeOut(name: string): void {
    const shown = name.replace(/[^\w .()$-]/g, '_').slice(0, 100);
    const known = this.counts.size < mostNames || this.counts.has(shown) ? shown : 'others';
    this.counts.set(known, (this.counts.get(known) ?? 0) + 1);
  }

  /** What was taken out, such as `tools (web_search)`. */
  get removed(): string[] {
    return [...this.counts].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
  }
}

/** Different names of what is taken out of one request. */
const mostNames = 100;

/** A place in a request, for the names of what is taken out there. */
class Place {
  constructor(
    readonly found: RequestFindings,
    private readonly path = '',
  ) {}

  field(name: string): Place {
    return new Place(this.found, this.path === '' ? name : `${this.path}.${name}`);
  }

  takeOut(value?: unknown): void {
    const kind = isFields(value) ? kindOf(value) : '';
    this.found.takeOut(kind === '' ? this.path : `${this.path} (${kind})`);
  }
}

/** The part of a request that may pass. */
export function passing(
  shape: Shape,
  request: JsonFields,
): { readonly body: JsonFields; readonly found: RequestFindings } {
  const found = new RequestFindings();
  return { body: shape(request, new Place(found)) as JsonFields, found };
}

/** Data that no provider acts on, such as the JSON schema of a function or the arguments of a call. */
export const anything: Shape = (value) => value;

export const text: Shape = (value) => (typeof value === 'string' ? value : undefined);
export const number: Shape = (value) => (Number.isFinite(value) ? value : undefined);
export const flag: Shape = (value) => (typeof value === 'boolean' ? value : undefined);

/** A value without parts. */
export const scalar: Shape = (value) =>
  ['string', 'number', 'boolean'].includes(typeof value) ? value : undefined;

export const oneOf =
  (...values: readonly unknown[]): Shape =>
  (value) =>
    values.includes(value) ? value : undefined;

export const matching =
  (pattern: RegExp): Shape =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? value : undefined;

/** Whether an address has the image itself; the provider would fetch any other. */
export const isImageContent = (address: unknown): boolean =>
  /^data:image\//i.test(stringOrEmpty(address));

/** The first of these shapes that a value has. */
export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value, at) => {
    for (const shape of shapes) {
      const passed = shape(value, at);
      if (passed !== undefined) return passed;
    }
    return undefined;
  };

/** A field whose absence changes what the request means. */
export const refused =
  (why: string): Shape =>
  () => {
    throw new RequestRefused(why);
  };

type Fields = Readonly<Record<string, Shape>>;

/** @param nameOf the name of a field in `fields`, where an API has two spellings */
export const object =
  (fields: Fields, nameOf = (name: string): string => name): Shape =>
  (value, at) => {
    if (!isFields(value)) return undefined;
    const passed: JsonFields = {};
    for (const [given, each] of Object.entries(value)) {
      const name = nameOf(given);
      const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
      const place = at.field(given);
      const kept = shape === undefined || each === null ? undefined : shape(each, place);
      if (kept !== undefined && kept !== nothing) passed[name] = kept;
      // Null is the absence of a value, which some servers want to see.
      else if (each === null && shape !== undefined) passed[name] = null;
      else if (kept === undefined && each !== null) place.takeOut(each);
    }
    return passed;
  };

/** An object with any names and values of one shape. */
export const record =
  (of: Shape): Shape =>
  (value, at) => {
    if (!isFields(value)) return undefined;
    return Object.fromEntries(
      Object.entries(value).filter(([, each]) => {
        const isKept = each === null || of(each, at) !== undefined;
        if (!isKept) at.takeOut(each);
        return isKept;
      }),
    );
  };

/** An object with its `type` apart from these fields. */
export const typed = (fields: Fields): Shape => object({ type: text, ...fields });

/** An object whose `type` says what it has: the fields, or a shape that knows more. */
export const ofType = (types: Readonly<Record<string, Fields | Shape>>): Shape => {
  const shapes = new Map(
    Object.entries(types).map(([type, of]) => [type, typeof of === 'function' ? of : typed(of)]),
  );
  return (value, at) =>
    isFields(value) ? shapes.get(stringOrEmpty(value['type']))?.(value, at) : undefined;
};

/** An object that fulfils a condition. */
export const when =
  (condition: (value: JsonFields) => boolean, shape: Shape): Shape =>
  (value, at) =>
    isFields(value) && condition(value) ? shape(value, at) : undefined;

/** A list; an element that is not of the shape is taken out. */
export const list =
  (of: Shape): Shape =>
  (value, at) => {
    if (!Array.isArray(value)) return undefined;
    return value.flatMap((each: unknown): unknown[] => {
      const kept = of(each, at);
      if (kept === undefined) at.takeOut(each);
      return kept === undefined || kept === nothing ? [] : [kept];
    });
  };

/** A list of tools. Providers refuse an empty one. */
export const tools =
  (of: Shape): Shape =>
  (value, at) => {
    const kept = list(of)(value, at);
    return Array.isArray(kept) && kept.length === 0 ? nothing : kept;
  };

/** Parts of a message. In place of one that may not pass stands a note, which the model reads. */
export const parts = (of: Shape, note: (text: string) => JsonFields): Shape =>
  list((value, at) => {
    const kept = of(value, at);
    if (kept !== undefined) return kept;
    at.takeOut(value);
    const kind = isFields(value) ? stringOrEmpty(value['type']).replace(/\W/g, '') : '';
    return note(`[${kind === '' ? 'a part' : kind.slice(0, 40)} that is not passed on]`);
  });

/** An object with an image, which costs what the provider says and not what its bytes say. */
export const image =
  (shape: Shape): Shape =>
  (value, at) => {
    const kept = shape(value, at);
    if (isFields(kept)) at.found.images.add(kept);
    return kept;
  };
