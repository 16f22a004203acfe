import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { checkedId } from '../domain/instance';
import { outcomes, sides, transitions } from '../domain/outcome';
import { HumanError, silent, type Reporter } from '../domain/work';
import {
  type CandidateStatus,
  type GoldenStatus,
  type InstanceStatus,
  soundnessOf,
  unvalidatedKinds,
  unsoundKinds,
  type Validation,
} from '../domain/soundness';
import { withLock } from './lock';
import { noSpace, instanceFolder, instancesFolder, treesFolder } from './storage';
import { writeWholeFile } from '../files/wholeFile';

/**
 * What is stored about an instance between windows and command lines, in
 * `instances/<id>/state.json`.
 */
interface KeptState {
  readonly validation?: Validation;
  readonly verdict?: KeptVerdict;
  /** ISO 8601: when its workspace was last opened. */
  readonly openedAt?: string;
}

/** The stored state of an instance, with what is looked up each time. */
export interface InstanceState extends KeptState {
  /** Whether its trees exist; looked up, not stored. */
  readonly treesReady: boolean;
}

const texts = z.array(z.string());
const counts = z.partialRecord(z.enum(transitions), z.number());

const validationSchema = z.object({
  id: z.string(),
  reasons: z.array(
    z.object({
      kind: z.enum([...unsoundKinds, ...unvalidatedKinds]),
      explanation: z.string(),
      tests: texts,
    }),
  ),
  repetitions: z.number(),
  date: z.string(),
  engine: z.string(),
  environment: z.string(),
  source: z.string().exactOptional(),
  flaky: z.array(
    z.object({
      test: z.string(),
      tests: z.enum(['golden', 'base']),
      side: z.enum(sides),
      outcomes: z.array(z.enum(outcomes)),
    }),
  ),
  golden: counts,
  goldenAdded: counts.exactOptional(),
  base: counts,
  added: z.number(),
  removed: z.number(),
  baseCoverage: z.number().exactOptional(),
  failToPass: texts.exactOptional(),
  disagreement: z.object({ listedOnly: texts, seenOnly: texts }).exactOptional(),
  remarks: texts.exactOptional(),
  seconds: z.number(),
});

/** The last verdict on a candidate, as lists show it. */
const verdictSchema = z.object({
  success: z.boolean(),
  /** The reason in the words of strict grading; empty for a success. */
  reason: z.string(),
  /** How many tests of the candidate go F→P. */
  failToPass: z.number(),
  /** ISO 8601. */
  date: z.string(),
  /** Digest of the candidate's patch. */
  digest: z.string().exactOptional(),
});
export type KeptVerdict = Readonly<z.infer<typeof verdictSchema>>;

/** Raised when the meaning of a stored state changes. */
const format = 1;

/**
 * Schema of the file. A field that cannot be read loses only itself, since it can be made again.
 */
const stateSchema = z.object({
  format: z.literal(format),
  validation: validationSchema.optional().catch(undefined),
  verdict: verdictSchema.optional().catch(undefined),
  openedAt: z.string().optional().catch(undefined),
});

const newerSchema = z.object({ format: z.number().gt(format) });

/** The states of all instances in the storage folder, by id. A broken state is left out. */
export async function readStates(storage: string): Promise<Map<string, InstanceState>> {
  const names = await readdir(instancesFolder(storage)).catch(() => []);
  const ids = names.filter((name) => {
    try {
      return checkedId(name) === name;
    } catch {
      return false;
    }
  });
  const states = new Map<string, InstanceState>();
  for (const [index, id] of ids.entries()) {
    // Asynchronous reads cost several trips to another thread for each file and take four times as
    // long for thousands. The pauses let the editor answer in between.
    if (index % 50 === 49) await setImmediate();
    const ready = hasTrees(namesIn(treesFolder(storage, id)));
    const kept = parseKept(textOf(statePath(storage, id)));
    const state = { ...(kept === 'newer' ? {} : kept), treesReady: ready };
    if (ready || Object.keys(state).length > 1) states.set(id, state);
  }
  return states;
}

/**
 * Changes what is stored about an instance. Changes by several processes follow one another, each
 * based on the result of the one before.
 *
 * @param change receives the stored state and returns the state to store
 * @throws HumanError when it cannot be written, Cancelled
 */
export async function updateState(
  storage: string,
  id: string,
  change: (kept: KeptState) => KeptState,
  work: { readonly signal?: AbortSignal | undefined; readonly reporter?: Reporter } = {},
): Promise<KeptState> {
  const path = statePath(storage, id);
  const options = { signal: work.signal, reporter: work.reporter ?? silent, what: `notes ${id}` };
  return withLock(join(storage, 'locks', `state-${checkedId(id)}`), options, async () => {
    const kept = await readKept(storage, id);
    if (kept === 'newer') {
      throw new HumanError(
        `${path} was written by a newer version of SWT-Bench`,
        'Update SWT-Bench, or remove the file',
      );
    }
    const { validation, verdict, openedAt } = change(kept);
    const state = present({ validation, verdict, openedAt });
    try {
      await writeWholeFile(path, `${JSON.stringify({ format, ...state }, null, 1)}\n`);
    } catch (error) {
      throw noSpace(error, storage) ?? error;
    }
    return state;
  });
}

/**
 * The status of the work on an instance: its validation and its candidate's verdict, the later one
 * first. At equal dates the verdict is first, since it is about a candidate of the validated
 * instance. An unsound instance is named by the kinds of all its reasons.
 */
export function statusOf(state: InstanceState | undefined): InstanceStatus {
  const { validation, verdict, treesReady: ready = false } = state ?? {};
  const at = (of: { readonly date: string } | undefined): number =>
    of === undefined ? -Infinity : Date.parse(of.date) || 0;
  const golden = validation && goldenStatus(validation);
  const candidate = verdict && candidateStatus(verdict);
  if (candidate !== undefined && at(verdict) >= at(validation)) {
    return { ...candidate, ...(golden === undefined ? {} : { golden }) };
  }
  if (golden !== undefined) return { ...golden, ...(candidate === undefined ? {} : { candidate }) };
  return { kind: ready ? 'opened' : 'not opened' };
}

function goldenStatus(validation: Validation): GoldenStatus {
  const reason = validation.reasons.map(({ kind }) => kind).join(', ');
  switch (soundnessOf(validation)) {
    case 'sound':
      return { kind: 'golden valid' };
    case 'not validated':
      return { kind: 'not validated', reason };
    case 'not sound':
      return { kind: 'golden invalid', reason };
  }
}

const candidateStatus = ({ success, reason }: KeptVerdict): CandidateStatus => ({
  kind: 'candidate',
  success,
  reason,
});

/**
 * Whether the trees of R and R∘X* exist, of whatever source. Trees in the making, and marks of
 * their users, have a dot in their names.
 */
const hasTrees = (names: readonly string[]): boolean =>
  names.some((name) => /^[0-9a-f]+$/.test(name));

const statePath = (storage: string, id: string): string =>
  join(instanceFolder(storage, id), 'state.json');

async function readKept(storage: string, id: string): Promise<KeptState | 'newer'> {
  return parseKept(await readFile(statePath(storage, id), 'utf8').catch(() => undefined));
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The content of a state file; empty for a text that cannot be read. */
function parseKept(text: string | undefined): KeptState | 'newer' {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {};
  }
  const parsed = stateSchema.safeParse(value);
  if (!parsed.success) return newerSchema.safeParse(value).success ? 'newer' : {};
  const { validation, verdict, openedAt } = parsed.data;
  return present({ validation, verdict, openedAt });
}

function present(fields: { [Name in keyof KeptState]-?: KeptState[Name] | undefined }): KeptState {
  const { validation, verdict, openedAt } = fields;
  return {
    ...(validation === undefined ? {} : { validation }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(openedAt === undefined ? {} : { openedAt }),
  };
}
