import { fork, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bytesOf } from '../../src/patch/bytes';

export const root = resolve(__dirname, '..', '..');
export const sample = join(root, 'media', 'sample');

export interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts the built command line, as a user's shell would.
 *
 * @param input descriptor of its standard input
 */
export function start(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  input: number | 'ignore' = 'ignore',
): { child: ChildProcess; answer: Promise<Answer> } {
  const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: [input, 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const answer = new Promise<Answer>((done) =>
    child.on('close', (status) => done({ status, stdout, stderr })),
  );
  return { child, answer };
}

/**
 * Runs a command in a process that runs many, which takes a third of the processor time of a process
 * of its own. A command with an environment of its own gets a process.
 */
export const cli = (
  args: readonly string[],
  env?: Readonly<Record<string, string | undefined>>,
): Promise<Answer> => (env === undefined ? withInput(args, '') : start(args, env).answer);

/** As {@link cli}, with this on standard input. `bytes` is what the command prints. */
export async function withInput(
  args: readonly string[],
  input: string | Buffer,
): Promise<Answer & { readonly bytes: Buffer }> {
  const { status, stdout, stderr } = await serverOfCommands().run(args, Buffer.from(input));
  const bytes = bytesOf(stdout);
  return { status, stdout: bytes.toString(), stderr: bytesOf(stderr).toString(), bytes };
}

interface CommandServer {
  run(args: readonly string[], input: Buffer): Promise<Answer>;
}

let server: (CommandServer & { readonly end: () => Promise<void> }) | undefined;

/** The process that runs commands. It has the environment of its start. */
function serverOfCommands(): CommandServer {
  if (server !== undefined) return server;
  const child = fork(join(__dirname, 'commandServer.cjs'), {
    cwd: root,
    execArgv: [],
    serialization: 'advanced',
  });
  const waiting = new Map<number, { done: (answer: Answer) => void; fail: (why: Error) => void }>();
  child.on('message', ({ id, ...answer }: Answer & { readonly id: number }) => {
    waiting.get(id)?.done(answer);
    waiting.delete(id);
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  void ended.then(() => {
    for (const { fail } of waiting.values()) fail(new Error('the process of commands has ended'));
    server = undefined;
  });
  let last = 0;
  server = {
    run: (args, input) =>
      new Promise((done, fail) => {
        const id = (last += 1);
        waiting.set(id, { done, fail });
        child.send({ id, args, input });
      }),
    end: () => {
      if (child.connected) child.disconnect();
      return ended;
    },
  };
  return server;
}

/** Ends the process of commands: the next command has the environment of that moment. */
const endServer = async (): Promise<void> => server?.end();
after(endServer);

/** A folder that is removed after the test file. */
export function scratch(): { path: string; file(name: string, content: string): Promise<string> } {
  const here = {
    path: '',
    async file(name: string, content: string) {
      const path = join(here.path, name);
      await writeFile(path, content);
      return path;
    },
  };
  before(async () => {
    here.path = await mkdtemp(join(tmpdir(), 'swt-bench-test-'));
  });
  after(() => rm(here.path, { recursive: true, force: true }));
  return here;
}

/** Environment variables during the tests of a suite; undefined for one that is not there. */
export function withVariables(wanted: () => Readonly<Record<string, string | undefined>>): void {
  const former = new Map<string, string | undefined>();
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  before(async () => {
    for (const [name, value] of Object.entries(wanted())) {
      former.set(name, process.env[name]);
      set(name, value);
    }
    await endServer();
  });
  after(async () => {
    for (const [name, value] of former) set(name, value);
    await endServer();
  });
}

/** Arguments that evaluate predictions for the bundled instance. */
export function onSample(storage: string, predictions: string, ...more: string[]): string[] {
  return [
    'evaluate',
    ...['--dataset', join(sample, 'instance.jsonl')],
    ...['--source', join(sample, 'repository')],
    ...['--storage', storage, '--predictions', predictions, ...more],
  ];
}

/** The parts of `evaluate --json` that the tests look at. */
export interface Evaluation {
  readonly results: readonly {
    readonly instance_id: string;
    readonly model_name_or_path: string;
    readonly error?: string;
    readonly patch_successfully_applied: boolean;
    readonly resolved: boolean;
    readonly coverage_delta_pred: number | null;
    readonly coverage_delta_gold: number | null;
    readonly added_f2p?: number;
    readonly tests_pred?: Readonly<Record<string, readonly string[]>>;
    readonly source?: { readonly kind: string; readonly from: string };
    readonly notes?: readonly string[];
    readonly runs?: Readonly<
      Record<'base' | 'fixed', { ending: string; techniques: readonly string[] } | null>
    >;
    readonly strict: null | {
      readonly success: boolean;
      readonly reason: string;
      readonly explanation: string;
      readonly well_formed: boolean;
      readonly FAIL_TO_PASS: readonly string[];
      readonly FAIL_TO_FAIL: readonly string[];
      readonly PASS_TO_PASS: readonly string[];
      readonly candidate_tests: readonly string[];
      readonly findings: readonly { readonly kind: string; readonly evidence: readonly string[] }[];
      readonly tests: readonly {
        readonly test: string;
        readonly transition: string;
        readonly base: { readonly outcome: string; readonly message?: string };
        readonly fixed: { readonly outcome: string; readonly message?: string };
      }[];
      readonly change_coverage: null | {
        readonly covered: number;
        readonly executable: number;
        readonly delta: number | null;
        readonly lines: readonly {
          readonly path: string;
          readonly line: number;
          readonly change: 'removed' | 'added';
          readonly state: string;
          readonly counts: Readonly<Record<'base' | 'candidate' | 'golden', number>>;
        }[];
      };
    };
  }[];
  readonly rates: { readonly selected: number };
  readonly problems: readonly string[];
}
