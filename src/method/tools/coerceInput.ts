import { z } from 'zod';
import { parseForeignJson } from '../../files/json';

/** The parts of a JSON schema that decide how a value is read. */
const schemaOfObject = z.looseObject({
  properties: z
    .record(
      z.string(),
      z.looseObject({ type: z.string().optional(), enum: z.array(z.unknown()).optional() }),
    )
    .optional(),
});

type Property = NonNullable<z.infer<typeof schemaOfObject>['properties']>[string];

/**
 * Input as a model meant it, where it misses the schema by its writing only: `"5"` for 5, `"true"`
 * for true, one text for a list of one, `"Class"` for `"class"`, and null or an empty text for an
 * omitted field. Everything else stays as it is, for the schema to judge.
 *
 * @param schema JSON schema of the tool's input
 */
export function coerceInput(schema: unknown, input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const properties = schemaOfObject.safeParse(schema).data?.properties ?? {};
  return Object.fromEntries(
    Object.entries(input).flatMap(([key, value]: [string, unknown]) => {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      const meant = property === undefined ? value : meantBy(property, value);
      return meant === null || meant === undefined ? [] : [[key, meant]];
    }),
  );
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

function meantBy({ type, enum: values }: Property, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  switch (type) {
    case 'integer':
      return text === '' ? undefined : /^\d{1,15}$/.test(text) ? Number(text) : value;
    case 'boolean':
      return text === '' ? undefined : (booleans.get(text.toLowerCase()) ?? value);
    case 'array':
      return text === '' ? undefined : listIn(text);
    case undefined:
    default:
      return values?.find((each) => each === text.toLowerCase()) ?? value;
  }
}

/** A list that was written as JSON in a text, or a list of the text alone. */
function listIn(text: string): unknown {
  if (!text.startsWith('[')) return [text];
  try {
    return parseForeignJson(text);
  } catch {
    return [text];
  }
}
