import { access, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { isInspectLog } from '../files/inspectLog';
import { parseForeignJson } from '../files/json';
import { trialIn } from '../dataset/predictionFolders';
import { Cancelled, HumanError, messageOf, systemCode, throwIfAborted } from '../domain/work';
import {
  plainLines,
  readPlainFile,
  readPlainText,
  type PlainFileOptions,
} from '../files/plainFile';
import { stepSchema } from '../method/generating';
import { isAiderChat, readAiderChat } from './formats/aiderChat';
import { readInspectLog } from './formats/inspectLog';
import { miniSchema, readMini } from './formats/miniSweAgent';
import {
  conversationStateSchema,
  openHandsEventsSchema,
  openHandsRowSchema,
  readOpenHandsConversation,
  readOpenHandsEvents,
  readOpenHandsRow,
} from './formats/openHands';
import { withAtifFiles } from './formats/atifFiles';
import { atifSchema, isAtif } from './formats/atifShape';
import { readAtif, type AtifPlace } from './formats/readAtif';
import { OwnTrace } from './formats/ownTrace';
import { readSweAgent, sweAgentSchema } from './formats/sweAgent';
import type { Trajectory } from './trajectory';

/** A trajectory with the file that it is from. */
export interface FoundTrajectory {
  readonly trajectory: Trajectory;
  readonly source: string;
}

interface ReadOptions extends PlainFileOptions {
  /** Only this instance, or only these; undefined for all. */
  readonly instance?: string | ReadonlySet<string> | undefined;
  /** Called with a sentence for each line or file that cannot be read and is skipped. */
  readonly told: (problem: string) => void;
}

/**
 * Reads trajectories from a file, or from all files below a folder that have the name of one: the
 * traces of `generate`, `.traj` of SWE-agent, `.traj.json` of mini-SWE-agent, `output.jsonl`, saved
 * events or the folder of a conversation of OpenHands, the chat history of aider, logs of inspect_ai
 * (`.eval` and JSON), and ATIF of any program, with the files that it refers to. A file of predictions stands
 * for the trace beside it.
 *
 * @throws HumanError where there is none, or the file cannot be read; Cancelled
 */
export async function* readTrajectories(
  path: string,
  options: ReadOptions,
): AsyncGenerator<FoundTrajectory, void> {
  try {
    const isFolder = (await stat(path)).isDirectory();
    const conversation = await conversationAt(path, isFolder);
    if (conversation !== undefined) yield* readConversation(conversation, options);
    else
      yield* isFolder
        ? readFolder(path, options)
        : readTrajectoryFile(path, { ...options, named: true });
  } catch (error) {
    if (options.signal?.aborted === true) throw new Cancelled();
    const code = systemCode(error);
    if (code === undefined || error instanceof HumanError) throw error;
    throw new HumanError(
      `The trajectory ${path} cannot be read (${code})`,
      'Specify a file written by an agent or `swt-bench generate`, or a folder of such files',
    );
  }
}

/** Names of files with trajectories. Logs of inspect_ai begin with their time. */
const fileName =
  /(?:\.traj|\.traj\.json|\.atif\.json|\.eval|^\d{4}-\d\d-\d\dT[^/]+_\w{22}\.json|\.trace\.jsonl|^trajectory\.json|^output[^/]*\.jsonl|\.aider\.chat\.history\.md)$/;
/** An event of OpenHands, with its number. */
const eventName = /^event-(\d{1,12})-.*\.json$/;
/** Folders deeper than this are not looked into. */
const deepest = 8;

async function* readFolder(
  path: string,
  options: ReadOptions,
): AsyncGenerator<FoundTrajectory, void> {
  const files = await filesBelow(path, deepest, options);
  if (files.length === 0) {
    throw new HumanError(
      `No trajectory files found below ${path}`,
      'File names end in .traj, .traj.json, .atif.json, .trace.jsonl, .eval or .aider.chat.history.md, are called output.jsonl or trajectory.json, or are the folder of a conversation of OpenHands. Name another file itself',
    );
  }
  for (const file of files) {
    try {
      yield* basename(file) === 'events'
        ? readConversation(dirname(file), options)
        : readTrajectoryFile(file, options);
    } catch (error) {
      if (!(error instanceof HumanError) && systemCode(error) === undefined) throw error;
      if (options.signal?.aborted === true) throw error;
      options.told(messageOf(error));
    }
  }
}

/**
 * The files with trajectories, and the folders with the events of a conversation.
 *
 * @throws what the system says of the folder; of those below it, the problem is told
 */
async function filesBelow(folder: string, depth: number, options: ReadOptions): Promise<string[]> {
  throwIfAborted(options.signal);
  const entries = await readdir(folder, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isFile() && fileName.test(entry.name)) found.push(path);
    if (entry.isDirectory() && (await hasEvents(path))) found.push(path);
    else if (entry.isDirectory() && depth > 1 && !entry.name.startsWith('.')) {
      const below = filesBelow(path, depth - 1, options).catch((error: unknown) => {
        if (systemCode(error) === undefined) throw error;
        options.told(`${path} cannot be listed (${systemCode(error)})`);
        return [];
      });
      found.push(...(await below));
    }
  }
  return found;
}

/** Whether a folder has the events of a conversation. */
const hasEvents = async (path: string): Promise<boolean> =>
  basename(path) === 'events' &&
  (await readdir(path).catch((): string[] => [])).some((name) => eventName.test(name));

/** The folder of the conversation that a path is, or is a part of. */
async function conversationAt(path: string, isFolder: boolean): Promise<string | undefined> {
  const whole = resolve(path);
  const events = isFolder
    ? [whole, join(whole, 'events')]
    : basename(whole) === 'base_state.json'
      ? [join(dirname(whole), 'events')]
      : [dirname(whole)];
  for (const each of events) if (await hasEvents(each)) return dirname(each);
  return undefined;
}

/** Reads a conversation of OpenHands: a file for each event, and one with what all of it cost. */
async function* readConversation(
  folder: string,
  options: ReadOptions,
): AsyncGenerator<FoundTrajectory, void> {
  const name = basename(folder);
  if (!isAsked(options, name)) return;
  const place = join(folder, 'events');
  const numbered = (await plainFilesIn(place)).flatMap((each) => {
    const [, number] = eventName.exec(each) ?? [];
    return number === undefined ? [] : [{ each, number: Number(number) }];
  });
  const events: unknown[] = [];
  for (const { each } of numbered.sort((one, other) => one.number - other.number)) {
    const event = await jsonIn(join(place, each), options);
    const { success } = openHandsEventsSchema.safeParse([event]);
    if (success) events.push(event);
    else if (event !== undefined) options.told(`${join(place, each)}: skipped (not an event)`);
  }
  const hasState = (await plainFilesIn(folder)).includes('base_state.json');
  const state = hasState ? await jsonIn(join(folder, 'base_state.json'), options) : undefined;
  const trajectory = readOpenHandsConversation(
    openHandsEventsSchema.parse(events),
    conversationStateSchema.parse(state),
    name,
  );
  yield { trajectory, source: folder };
}

/** Names of the files in a folder: a pipe or a link that a stranger put there is not read. */
const plainFilesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

/** The JSON of a part of a conversation; undefined, and told, where there is none. */
async function jsonIn(path: string, options: ReadOptions): Promise<unknown> {
  const text = await readPlainText(path, { signal: options.signal });
  try {
    return parseForeignJson(text);
  } catch {
    options.told(`${path}: skipped (not JSON)`);
    return undefined;
  }
}

async function* readTrajectoryFile(
  path: string,
  options: ReadOptions,
): AsyncGenerator<FoundTrajectory, void> {
  if (path.endsWith('.jsonl')) {
    yield* readLines(path, options);
    return;
  }
  const content = await readPlainFile(path, options);
  if (path.endsWith('.eval') || isInspectLog(content)) {
    yield* readSamples(path, content, options);
    return;
  }
  const trajectory = await wholeFile(path, content.toString('utf8'), options);
  if (isAsked(options, trajectory.instance)) {
    yield { trajectory, source: path };
  }
}

/** Reads a log of inspect_ai, which has a trajectory a sample. */
async function* readSamples(
  path: string,
  log: Buffer,
  options: ReadOptions,
): AsyncGenerator<FoundTrajectory, void> {
  try {
    for await (const read of readInspectLog(log)) {
      if ('problem' in read) options.told(`${path}: skipped (${read.problem})`);
      else if (isAsked(options, read.instance)) yield { trajectory: read, source: path };
    }
  } catch (error) {
    if (systemCode(error) !== undefined) throw error;
    throw new HumanError(
      `The log ${path} of inspect_ai cannot be read (${messageOf(error)})`,
      'Copy it again',
    );
  }
}

const isAsked = ({ instance: asked }: ReadOptions, instance: string): boolean =>
  asked === undefined || (typeof asked === 'string' ? asked === instance : asked.has(instance));

/** Reads the lines of a trace, or of OpenHands' output, which has a whole trajectory a line. */
async function* readLines(
  path: string,
  options: ReadOptions,
): AsyncGenerator<FoundTrajectory, void> {
  const own = new OwnTrace((instance) => isAsked(options, instance));
  let rows = 0;
  let predictions = 0;
  for await (const { number, line } of plainLines(path, options)) {
    const read = readLine(line);
    if ('step' in read) own.add(read.step);
    else if ('prediction' in read) predictions += 1;
    else if ('problem' in read) options.told(`${path}:${number}: skipped (${read.problem})`);
    else {
      rows += 1;
      const { row } = read;
      if (isAsked(options, row.instance)) {
        yield { trajectory: row, source: path };
      }
    }
  }
  const trajectories = own.trajectories();
  for (const trajectory of trajectories) yield { trajectory, source: path };
  if (trajectories.length > 0 || rows > 0) return;
  const trace = `${path}.trace.jsonl`;
  if (predictions > 0 && (await isThere(trace))) {
    yield* readLines(trace, options);
    return;
  }
  if (options.instance !== undefined && predictions === 0) return;
  throw new HumanError(
    predictions > 0
      ? `No trajectory found next to the predictions ${path}`
      : `No line of ${path} is part of a trajectory`,
    predictions > 0
      ? `\`swt-bench generate\` writes it as ${basename(trace)}; otherwise specify the agent's own file`
      : unknownFormat,
  );
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const unknownFormat =
  'Readable are traces of `swt-bench generate`, files of ATIF, of SWE-agent and of mini-SWE-agent, files and conversations of OpenHands, the chat history of aider, and logs of inspect_ai';

type ReadLine =
  | { readonly step: z.infer<typeof stepSchema> }
  | { readonly row: Trajectory }
  | { readonly prediction: true }
  | { readonly problem: string };

function readLine(line: string): ReadLine {
  let value: unknown;
  try {
    value = parseForeignJson(line);
  } catch {
    return { problem: 'it is not JSON' };
  }
  if (!isObject(value)) return { problem: 'it is not an object' };
  if ('step' in value) {
    const parsed = stepSchema.safeParse(value);
    return parsed.success ? { step: parsed.data } : { problem: firstIssue(parsed.error) };
  }
  if ('history' in value) {
    const parsed = openHandsRowSchema.safeParse(value);
    return parsed.success
      ? { row: readOpenHandsRow(parsed.data) }
      : { problem: firstIssue(parsed.error) };
  }
  return 'model_patch' in value
    ? { prediction: true }
    : { problem: 'it is neither a step nor an OpenHands row' };
}

/** @throws HumanError naming what the file lacks */
async function wholeFile(path: string, text: string, options: ReadOptions): Promise<Trajectory> {
  if (isAiderChat(text)) return readAiderChat(text, nameOfChat(path));
  if (/\.(?:history|log|md|txt)$/.test(path)) throw notReadable(path);
  let value: unknown;
  try {
    value = parseForeignJson(text);
  } catch (error) {
    throw new HumanError(
      `The trajectory ${path} is not JSON (${messageOf(error).slice(0, 120)})`,
      'Copy it again. JSON Lines files must end in .jsonl',
    );
  }
  if (isObject(value) && isAtif(value)) return atifFile(path, value, options);
  const name = basename(path).replace(/(?:\.traj)?\.json$|\.traj$/, '');
  const { success, data, error } = read(value, name);
  if (success) return data;
  throw new HumanError(`${path} is not a trajectory (${error})`, unknownFormat);
}

async function atifFile(path: string, value: unknown, options: ReadOptions): Promise<Trajectory> {
  const { data, error } = atifSchema.safeParse(value);
  if (data === undefined) {
    throw new HumanError(
      `${path} is not a trajectory (${firstIssue(error)})`,
      'Of ATIF all versions 1.x are readable',
    );
  }
  return readAtif(await withAtifFiles(data, path, options), await placeOfAtif(path, options));
}

/** The trial of Harbor that it lies in, or else the name of the file, or of its folder where that says more. */
async function placeOfAtif(path: string, { signal }: ReadOptions): Promise<AtifPlace> {
  const folder = dirname(resolve(path));
  const above = dirname(folder);
  // The trial of a task of several steps has a folder for each.
  const at = basename(dirname(above)) === 'steps' ? dirname(dirname(above)) : above;
  const trial = basename(folder) === 'agent' ? await trialIn(at, signal) : undefined;
  if (trial !== undefined) {
    const { task: instance, patch: submission } = trial;
    return { instance, ...(submission !== undefined && submission !== '' && { submission }) };
  }
  const name = basename(path).replace(/(?:\.atif)?\.json$/, '');
  return { instance: name === 'trajectory' ? basename(folder) : name };
}

/** aider gives its history the same name everywhere: the folder tells them apart. */
const nameOfChat = (path: string): string =>
  basename(path) === '.aider.chat.history.md'
    ? basename(dirname(resolve(path)))
    : basename(path).replace(/(?:\.aider\.chat\.history)?\.md$/, '');

const notReadable = (path: string): HumanError =>
  /\.aider\.(?:llm|input)\.history$/.test(path)
    ? new HumanError(
        `${path} is an aider log, not a chat history`,
        'Specify .aider.chat.history.md, which aider writes next to it',
      )
    : new HumanError(`${path} is not a trajectory`, unknownFormat);

type Read =
  | { readonly success: true; readonly data: Trajectory; readonly error?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly error: string };

/** Reads a value by the format that its keys are of. */
function read(value: unknown, name: string): Read {
  const as = <Shape extends z.ZodType>(
    shape: Shape,
    make: (data: z.infer<Shape>) => Trajectory,
  ): Read => {
    const parsed = shape.safeParse(value);
    return parsed.success
      ? { success: true, data: make(parsed.data) }
      : { success: false, error: firstIssue(parsed.error) };
  };
  if (Array.isArray(value)) {
    const [first] = (value as unknown[]).flat();
    return isObject(first) && 'role' in first
      ? as(miniSchema, (file) => readMini(file, name))
      : as(openHandsEventsSchema, (events) => readOpenHandsEvents(events, name));
  }
  if (!isObject(value)) return { success: false, error: 'it is not an object' };
  if ('messages' in value) return as(miniSchema, (file) => readMini(file, name));
  if ('instance_id' in value && 'history' in value) return as(openHandsRowSchema, readOpenHandsRow);
  return as(sweAgentSchema, (file) => readSweAgent(file, name));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues;
  const place = issue?.path.join('.') ?? '';
  return `${place === '' ? '' : `${place}: `}${issue?.message ?? 'it does not match the format'}`;
}
