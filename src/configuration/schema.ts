import { z } from 'zod';
import { engineNames, settingGroups } from '../engine/engines';
import type { NamedSetting } from '../engine/settings';
import {
  agentlessNumbers,
  numberBounds,
  regressionChoices,
  skippableStages,
} from '../method/agentless';
import { defaultAcpSeconds, limitProfiles, type Template, variableName } from '../method/agents';
import { providers } from '../method/models';
import { configurationKeys, type KeyKind, type OwnPath } from './keys';

/** MiB, or such as `4g` and `512m`. */
const size = z
  .union([
    z.int(),
    z.string().regex(/^\d+(?:\.\d+)?[mg]?i?b?$/i, 'Write it as 4g, 512m, or as a number of MiB'),
  ])
  .transform((value) => {
    if (typeof value === 'number') return value;
    return Math.floor(Number.parseFloat(value) * (/g/i.test(value) ? 1024 : 1));
  });

const address = z
  .string()
  .regex(/^https?:\/\/[^\s/]/, 'Write it as https://host/v1')
  .refine((text) => {
    if (!URL.canParse(text)) return true;
    const { username, password, search, hash } = new URL(text);
    // Some servers accept a key there.
    return [username, password, search, hash].every((part) => part === '');
  }, 'The file must not contain a user, a password or a query; set keys in environment variables')
  .transform((text) => text.replace(/\/+$/, ''));

const kinds = {
  address,
  fields: z.record(z.string(), z.json()),
  natural: z.int().min(0),
  path: z.string().min(1),
  positive: z.number().positive(),
  share: z.number().min(0).max(1),
  switch: z.boolean(),
  text: z.string().min(1),
  whole: z.int().min(1),
} as const satisfies Readonly<Record<KeyKind, z.ZodType>>;

type Optional<Path extends OwnPath> = z.ZodOptional<
  (typeof kinds)[(typeof configurationKeys)[Path]['kind']]
>;

/** The schema of an own key, with what its descriptor says. */
function own<Path extends OwnPath>(path: Path): Optional<Path> {
  const { kind, meaning, ...rest } = configurationKeys[path];
  const about = { description: meaning, ...('default' in rest && { default: rest.default }) };
  return kinds[kind].meta(about).optional() as Optional<Path>;
}

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const template: z.ZodType<Template> = z.lazy(() =>
  z.union([scalar, z.array(template), z.record(z.string(), template)]),
);

/** A path that stays in the home. */
const homePath = z
  .string()
  .refine(
    (path) => path !== '' && path.split('/').every((part) => !['', '.', '..'].includes(part)),
    'a path in files is not a path below the home folder',
  );

/**
 * An agent of the Agent Client Protocol, of the file and of the setting `swt-bench.generate.agents`.
 * One that is known by name needs no command.
 */
export const agentEntry = z.strictObject({
  title: z.string().min(1).optional(),
  command: z.string().optional(),
  program: z.string().optional(),
  providers: z.array(z.enum(providers)).min(1).optional(),
  authMethod: z.string().optional(),
  env: z.record(z.string().regex(variableName, 'not a valid variable name'), template).optional(),
  files: z.record(homePath, template).optional(),
  timeout: z
    .number()
    .positive()
    .max(1e6)
    .meta({ description: 'session timeout in seconds', default: defaultAcpSeconds })
    .optional(),
});

/** What the user says of an agent. */
export type AgentEntry = z.output<typeof agentEntry>;

const dollars = z.number().min(0).max(1e6);

const price = z.strictObject({
  input: dollars.meta({ description: 'dollars per million input tokens' }),
  output: dollars.meta({ description: 'dollars per million output tokens' }).optional(),
  cached: dollars
    .meta({ description: 'dollars per million input tokens from the cache' })
    .optional(),
  cacheWrite: dollars
    .meta({ description: 'dollars per million input tokens written to the cache' })
    .optional(),
});

const model = z.strictObject({
  baseUrl: own('models.{model}.baseUrl'),
  window: own('models.{model}.window'),
  contextTokens: own('models.{model}.contextTokens'),
  maxOutputTokens: own('models.{model}.maxOutputTokens'),
  topP: own('models.{model}.topP'),
  reasoningEffort: own('models.{model}.reasoningEffort'),
  body: own('models.{model}.body'),
  stream: z
    .boolean()
    .meta({ description: 'false: request whole answers', default: true })
    .optional(),
  concurrency: own('models.{model}.concurrency'),
  requestsPerMinute: own('models.{model}.requestsPerMinute'),
  tokensPerMinute: own('models.{model}.tokensPerMinute'),
});

function ofSetting(setting: NamedSetting): z.ZodType {
  const { type, minimum, pattern, expected, option, default: value } = setting;
  const text = pattern === undefined ? z.string() : z.string().regex(pattern, expected);
  const about = {
    description: option?.description ?? expected,
    ...(value !== undefined && { default: value }),
  };
  const number = (of: z.ZodNumber): z.ZodNumber =>
    minimum === undefined ? of : of.min(minimum, expected);
  const schemas = {
    string: () => text,
    strings: () => z.array(text),
    boolean: () => z.boolean(),
    number: () => number(z.number()),
    integer: () =>
      option?.writing === 'size'
        ? size.refine((mebibytes) => mebibytes >= (minimum ?? 0), expected)
        : number(z.int()),
  };
  return schemas[type]().meta(about).optional();
}

/** A group of keys for each group of settings of the engines, by the name of its engine. */
const engineGroups = Object.fromEntries(
  settingGroups().map(({ engine, all }) => [
    engine,
    z
      .strictObject(Object.fromEntries(all.map((each) => [each.fileKey, ofSetting(each)])))
      .optional(),
  ]),
);

const agentlessKeys = Object.fromEntries(
  Object.entries(agentlessNumbers).map(([name, { kind, stage, meaning, default: value }]) => {
    const { minimum, isWhole, ...rest } = numberBounds[kind];
    const number = (isWhole ? z.int() : z.number()).min(minimum);
    const bounded = 'maximum' in rest ? number.max(rest.maximum) : number;
    return [name, bounded.meta({ description: `${stage}: ${meaning}`, default: value }).optional()];
  }),
) as Record<keyof typeof agentlessNumbers, z.ZodOptional<z.ZodNumber>>;

/** What a configuration file may have. Every group and every key may be left out. */
export const configurationSchema = z.strictObject({
  engine: z.enum(engineNames()).meta({ description: configurationKeys.engine.meaning }).optional(),
  storage: own('storage'),
  timeout: own('timeout'),
  workers: own('workers'),
  models: z
    .record(
      z.string().regex(/^(?:\*|[a-z-]+\/.+)$/, 'Write PROVIDER/NAME, or "*" for every model'),
      model,
    )
    .meta({ description: 'by PROVIDER/NAME; "*" applies to every model' })
    .optional(),
  prices: z
    .record(z.string().regex(/^[a-z-]+\/.+$/, 'Write PROVIDER/NAME'), price)
    .meta({ description: 'dollars per million tokens, by PROVIDER/NAME' })
    .optional(),
  agents: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/i, 'Write letters, digits, . _ -'), agentEntry)
    .meta({ description: 'agents of the Agent Client Protocol, by the name after acp:' })
    .optional(),
  generate: z
    .strictObject({
      refine: own('generate.refine'),
      limits: z
        .enum(limitProfiles)
        .meta({
          description: configurationKeys['generate.limits'].meaning,
          default: configurationKeys['generate.limits'].default,
        })
        .optional(),
    })
    .optional(),
  agentless: z
    .strictObject({
      ...agentlessKeys,
      regression: z.enum(regressionChoices).optional(),
      skip: z.array(z.enum(skippableStages)).optional(),
    })
    .optional(),
  repair: z.strictObject({ embeddingModel: own('repair.embeddingModel') }).optional(),
  budgets: z
    .strictObject({
      dollars: own('budgets.dollars'),
      instanceDollars: own('budgets.instanceDollars'),
      tokens: own('budgets.tokens'),
    })
    .optional(),
  retries: z
    .strictObject({
      count: own('retries.count'),
      requestTimeout: own('retries.requestTimeout'),
    })
    .optional(),
  ...engineGroups,
});

export type ConfigurationValues = z.output<typeof configurationSchema>;

/** The JSON schema of the file, for completion in editors. */
export const configurationJsonSchema = (): Readonly<Record<string, unknown>> => ({
  ...{ title: 'Configuration of SWT-Bench', description: 'The contents of swt.yaml.' },
  ...z.toJSONSchema(configurationSchema, { io: 'input' }),
});

/** The keys that the file may have below a path; none below a value. */
export function keysOf(path: readonly PropertyKey[]): string[] {
  let at: unknown = configurationSchema;
  for (const part of path) {
    const { shape, valueType } = at === undefined ? {} : definitionOf(at);
    at = shape === undefined ? valueType : shape[String(part)];
  }
  return at === undefined ? [] : Object.keys(definitionOf(at).shape ?? {});
}

/** What a schema is made of, without what says that it may be absent. */
function definitionOf(schema: unknown): {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly valueType?: unknown;
} {
  const { def } = schema as {
    readonly def: ReturnType<typeof definitionOf> & { readonly innerType?: unknown };
  };
  return def.innerType === undefined ? def : definitionOf(def.innerType);
}
