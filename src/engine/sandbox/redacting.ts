import { redactedStream, longestKey, redactKeys } from '../keysInUse';
import { sides } from '../../domain/outcome';
import {
  sandboxesOf,
  type Engine,
  type Pair,
  type RunRecord,
  type RunRequest,
  type Sandbox,
  type TestPlace,
} from '../engine';
import type { Workspace } from './workspace';

/**
 * Wraps an engine so that no output, outcome or failure text of its runs contains a key in use.
 * Tests of the local engine may read keys wherever the user can. What they print goes into kept
 * runs, reports and traces, and to models.
 */
export function redacting(engine: Engine): Engine {
  return {
    ...engine,
    // Spreading would copy values that change while the engine is open.
    get description() {
      return engine.description;
    },
    get environment() {
      return engine.environment;
    },
    prepare: async (...asked) => redactingPlace(await engine.prepare(...asked)),
    dispose: () => engine.dispose(),
  };
}

function redactingPlace(place: TestPlace): TestPlace {
  const openPair: TestPlace['openPair'] = async (...asked) => {
    const pair = await place.openPair(...asked);
    const boxes = sides.flatMap((side) => (pair as Partial<Pair>)[side] ?? []);
    const sandboxes = boxes.map(redactingSandbox);
    return { ...sandboxesOf(sandboxes), dispose: () => pair.dispose() };
  };
  const { openWorkspace } = place;
  return {
    ...place,
    get environment() {
      return place.environment;
    },
    openPair,
    ...(openWorkspace !== undefined && {
      openWorkspace: async (work) => redactingWorkspace(await openWorkspace(work)),
    }),
  };
}

/** A workspace whose commands print no key in use. */
function redactingWorkspace(workspace: Workspace): Workspace {
  return {
    folder: workspace.folder,
    home: workspace.home,
    run: async (request) => {
      const result = await workspace.run(request);
      return { ...result, output: redactKeys(result.output) };
    },
    start: async (request) => {
      const { stdio, done } = await workspace.start(request);
      const redactedEnd = done.then((result) => ({
        ...result,
        output: redactKeys(result.output),
      }));
      // Whoever awaits it, later, gets the error.
      redactedEnd.catch(() => undefined);
      return { stdio, done: redactedEnd };
    },
    listen: (onConnection) => workspace.listen(onConnection),
    read: (...asked) => workspace.read(...asked),
    write: (...asked) => workspace.write(...asked),
    changes: () => workspace.changes(),
    reset: (signal) => workspace.reset(signal),
    dispose: () => workspace.dispose(),
  };
}

function redactingSandbox(sandbox: Sandbox): Sandbox {
  const { debug, expect } = sandbox;
  return {
    side: sandbox.side,
    load: (...asked) => sandbox.load(...asked),
    run: async (request) => {
      const { watched, end } = watching(request);
      const record = await sandbox.run(watched);
      end();
      return redacted(record);
    },
    ...(debug !== undefined && {
      debug: async (...asked) => redacted(await debug.call(sandbox, ...asked)),
    }),
    ...(expect !== undefined && {
      expect: async (request) => {
        const why = await expect.call(sandbox, request);
        return why === undefined ? undefined : redactKeys(why);
      },
    }),
  };
}

/**
 * The request with listeners that receive redacted text, and a function that passes on the rest of
 * the output.
 */
function watching(request: RunRequest): { watched: RunRequest; end: () => void } {
  const { onOutput, onOutcome } = request;
  const stream = redactedStream(redactKeys, longestKey());
  const pass = (text: string): void => {
    if (text !== '') onOutput?.(text);
  };
  return {
    watched: {
      ...request,
      ...(onOutput !== undefined && { onOutput: (text) => pass(stream.write(text)) }),
      ...(onOutcome !== undefined && {
        onOutcome: (test, outcome) => onOutcome(redactKeys(test), outcome),
      }),
    },
    end: () => pass(stream.end()),
  };
}

/** The same value with every text in it redacted. */
function redacted<T extends RunRecord | RunRecord['trace']>(value: T): T {
  return longestKey() === 0 ? value : (visit(value) as T);
}

function visit(value: unknown): unknown {
  if (typeof value === 'string') return redactKeys(value);
  if (Array.isArray(value)) return value.map(visit);
  if (value instanceof Map)
    return new Map([...value].map(([key, each]) => [visit(key), visit(each)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, visit(each)]));
}
