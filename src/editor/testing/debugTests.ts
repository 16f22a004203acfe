import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { sideName, type Side } from '../../domain/outcome';
import { fileOf, functionOf } from '../../domain/testId';
import { Cancelled, HumanError, throwIfAborted, type Reporter } from '../../domain/work';
import type { DebuggedProgram } from '../../engine/engine';
import { runsInContainers } from '../../engine/engines';
import { resultsOf } from '../../evaluation/results';
import { parseUnified } from '../../patch/parseUnified';
import { copyToShow, debugConfiguration, idsToDebug, isSubstituted } from './debugConfiguration';
import { goldenRedactionOf } from './goldenRedaction';
import type {
  FilesOfR,
  InstanceSource,
  Revealing,
  TestsOfInstance,
} from '../instance/instanceRoles';
import { engineSettings } from '../shell/settings';
import { append, type RunningTests, type TestRuns } from './testRuns';
import { outcomeInWords } from './transitionTexts';

/** Id of the extension that contains debugpy. */
const debuggerId = 'ms-python.debugpy';
const debuggerType = 'debugpy';
/** Key of a configuration that identifies its session. */
const sessionKey = 'swtBenchSession';

/**
 * Runs tests on one side under the Python Debugger, in separate sandboxes. If that is impossible,
 * it says what is missing and leaves the environment as it is. The states of tests stay as the last
 * verdict has them, since a debugged run is no part of it.
 */
export class DebugTests {
  constructor(
    private readonly open: InstanceSource & Revealing & FilesOfR & TestsOfInstance,
    private readonly runs: TestRuns,
    private readonly reporter: Reporter,
  ) {}

  /** Every path must end the run, as with other profiles. */
  async debug(
    side: Side,
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const name = vscode.l10n.t('Debug on {0}', sideName[side]);
    let isMissing = false;
    const kind = { name, saves: true, leavesStates: true };
    await this.runs.during(request, token, kind, async (running) => {
      const { run, items, signal, underWay } = running;
      const { folder } = this.open;
      if (runsInContainers(engineSettings(folder.uri).name)) throw notLocal();
      if (vscode.extensions.getExtension(debuggerId) === undefined) {
        isMissing = true;
        const text = vscode.l10n.t(
          'The Python Debugger extension ({0}) is not installed. Install it, then debug again.',
          debuggerId,
        );
        append(run, `${text}\n`);
        return;
      }
      // Rows stay as they are: VS Code calls a row skipped that began and got no state.
      underWay.starts(this.runs.ownIds(items), sideName[side]);
      const ids = idsToDebug(items.map((item) => item.id));
      const { plan, trace } = await this.open.runs.debugOn(
        side,
        [...new Set(ids.map(fileOf))],
        ids,
        { signal, reporter: this.reporter },
        (program) => this.start(running, side, program),
      );
      const record = { ending: 'exited', exitCode: 0, killedBy: undefined, trace } as const;
      const results = resultsOf(
        { ...record, startError: undefined, log: '', seconds: 0 },
        ids.map(functionOf),
      );
      if (trace.sessions.length === 0 && plan.files.length > 0) throw didNotStart();
      const shown = await goldenRedactionOf(this.open);
      for (const each of results) {
        const { test } = each;
        const told = outcomeInWords(side, shown.result(side, each));
        append(run, `${test}: ${told}\n`);
      }
    });
    // Asked after the run has ended, since the answer may take a while.
    if (isMissing) void offerToInstall();
  }

  /** Starts the debugger and waits for its end. */
  private async start(
    { run, signal }: RunningTests,
    side: Side,
    program: DebuggedProgram,
  ): Promise<void> {
    throwIfAborted(signal);
    const { folder } = this.open;
    const changed = side === 'fixed' ? await this.changedFiles() : [];
    const shown =
      side === 'fixed' && this.open.revealed
        ? await copyToShow(
            program.tree,
            changed,
            filesOf(await this.open.candidatePatch(signal)),
            join(program.scratch, 'shown'),
          )
        : undefined;
    if (changed.length > 0 && shown === undefined) {
      append(
        run,
        `${vscode.l10n.t('The fix is hidden, so the debugger skips files that it changes. The workspace shows those files as they are on R.')}\n`,
      );
    }
    const configuration = debugConfiguration(program, {
      side,
      workspace: folder.uri.fsPath,
      changed,
      shown,
      inherited: Object.keys(process.env),
    });
    if (isSubstituted(configuration)) throw wouldBeSubstituted();
    const id = randomUUID();
    const subscriptions: vscode.Disposable[] = [];
    try {
      const toTell = await goldenRedactionOf(this.open);
      const session = new DebugSession(id, (output) => append(run, toTell.text(side, output)));
      subscriptions.push(session);
      const cancel = (): void => session.stop();
      signal.addEventListener('abort', cancel, { once: true });
      subscriptions.push({ dispose: () => signal.removeEventListener('abort', cancel) });
      const started = await vscode.debug.startDebugging(
        folder,
        {
          ...configuration,
          type: debuggerType,
          name: `SWT-Bench: ${sideName[side]}`,
          [sessionKey]: id,
        },
        { testRun: run },
      );
      if (signal.aborted) session.stop();
      if (!started) throw signal.aborted ? new Cancelled() : didNotStart();
      await session.ended;
      throwIfAborted(signal);
    } finally {
      for (const each of subscriptions) each.dispose();
    }
  }

  private async changedFiles(): Promise<string[]> {
    const { goldenPatch } = await this.open.instance();
    return filesOf(goldenPatch);
  }
}

/** Files that a patch changes or adds. */
const filesOf = (patch: string): string[] =>
  parseUnified(patch).files.flatMap(({ newPath }) => newPath ?? []);

/** One session of the debugger: its output, and its end. */
class DebugSession implements vscode.Disposable {
  readonly ended: Promise<void>;
  private readonly subscriptions: vscode.Disposable[];
  private session: vscode.DebugSession | undefined;
  private isStopped = false;

  constructor(id: string, onOutput: (output: string) => void) {
    const isOurs = ({ configuration }: vscode.DebugSession): boolean =>
      configuration[sessionKey] === id;
    let end = (): void => undefined;
    this.ended = new Promise<void>((resolve) => (end = resolve));
    this.subscriptions = [
      vscode.debug.onDidStartDebugSession((session) => {
        // A process that tests start has its own session, whose parent is this one.
        if (!isOurs(session) || session.parentSession !== undefined) return;
        this.session = session;
        if (this.isStopped) this.stop();
      }),
      vscode.debug.onDidTerminateDebugSession((session) => {
        if (isOurs(session) && session.parentSession === undefined) end();
      }),
      vscode.debug.registerDebugAdapterTrackerFactory(debuggerType, {
        createDebugAdapterTracker: (session) =>
          isOurs(session)
            ? { onDidSendMessage: (message: unknown) => onOutput(outputOf(message)) }
            : undefined,
      }),
    ];
  }

  /** Ends the session now, or as soon as it starts. */
  stop(): void {
    this.isStopped = true;
    if (this.session !== undefined) void vscode.debug.stopDebugging(this.session);
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

/**
 * What the program printed, from a message of the debug adapter; empty for other messages.
 * https://microsoft.github.io/debug-adapter-protocol/specification#Events_Output
 */
function outputOf(message: unknown): string {
  if (typeof message !== 'object' || message === null) return '';
  const { event, body } = message as { event?: unknown; body?: unknown };
  if (event !== 'output' || typeof body !== 'object' || body === null) return '';
  const { category, output } = body as { category?: unknown; output?: unknown };
  const isPrinted = category === 'stdout' || category === 'stderr';
  return isPrinted && typeof output === 'string' ? output : '';
}

async function offerToInstall(): Promise<void> {
  const install = vscode.l10n.t('Install');
  const chosen = await vscode.window.showWarningMessage(
    vscode.l10n.t('Debugging needs the Python Debugger extension ({0}).', debuggerId),
    install,
  );
  if (chosen === install) {
    await vscode.commands.executeCommand('workbench.extensions.installExtension', debuggerId);
  }
}

const notLocal = (): HumanError =>
  new HumanError(
    vscode.l10n.t('The debugger cannot attach to containers of the docker engine'),
    vscode.l10n.t(
      'Run “SWT-Bench: Select Python or Container Environment…” and open the folder in it, or set swt-bench.engine to local',
    ),
  );

const wouldBeSubstituted = (): HumanError =>
  new HumanError(
    vscode.l10n.t(
      'A debugger cannot get a name, path or variable that contains ${, since VS Code replaces it',
    ),
    vscode.l10n.t('Rename it, or run the tests without the debugger'),
  );

const didNotStart = (): HumanError =>
  new HumanError(
    vscode.l10n.t('The Python Debugger did not start the tests'),
    vscode.l10n.t(
      'See the Debug Console. The bundled debugpy requires Python 3.9 or later. For an older Python, install an older version of the Python Debugger extension',
    ),
  );
