import * as vscode from 'vscode';

/**
 * The part of the Python extension's API that is used here.
 * https://github.com/microsoft/vscode-python/blob/main/pythonExtensionApi/src/main.ts
 */
interface PythonApi {
  readonly environments: {
    /** Path of an interpreter, or of an environment without one. */
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    updateActiveEnvironmentPath(path: string, resource?: vscode.Uri): Thenable<void>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
    /** Searches once in a window; absent in old versions. */
    refreshEnvironments?(): Thenable<void>;
    /** Those that are found so far; absent in old versions. */
    readonly known?: readonly {
      readonly path: string;
      readonly executable?: { readonly uri?: vscode.Uri | undefined };
      readonly environment?: { readonly name?: string | undefined } | undefined;
      readonly version?:
        | { readonly major?: number; readonly minor?: number; readonly micro?: number }
        | undefined;
    }[];
  };
}

/** An interpreter that the Python extension has found. */
export interface KnownPython {
  readonly path: string;
  /** Name of its environment; empty for an interpreter that has none. */
  readonly name: string;
  readonly version: string;
}

const installed = (): vscode.Extension<PythonApi> | undefined =>
  vscode.extensions.getExtension<PythonApi>('ms-python.python');

/** The interpreter that the Python extension has chosen; undefined while it is not active. */
export function chosenPython(scope: vscode.Uri | undefined): string | undefined {
  const extension = installed();
  if (extension?.isActive !== true) return undefined;
  // Its API is optional: another extension may have its id.
  const api = extension.exports as Partial<PythonApi> | undefined;
  const path = api?.environments?.getActiveEnvironmentPath(scope).path;
  return path === undefined || path === '' ? undefined : path;
}

/**
 * The interpreters that the Python extension has found: first those that it knows once it has
 * started, then all, after its search. Ends at once where it is not installed.
 */
export async function* knownPythons(): AsyncGenerator<readonly KnownPython[]> {
  // Its failure to start, or to search, leaves the other choices.
  try {
    const api = (await installed()?.activate()) as Partial<PythonApi> | undefined;
    if (api?.environments === undefined) return;
    yield knownTo(api.environments);
    await api.environments.refreshEnvironments?.();
    yield knownTo(api.environments);
  } catch {
    return;
  }
}

const knownTo = ({ known = [] }: PythonApi['environments']): KnownPython[] =>
  known.flatMap(({ path, executable, environment, version }) => {
    // An environment without an interpreter runs nothing.
    const file = executable === undefined ? path : executable.uri?.fsPath;
    if (file === undefined || version?.major === 2) return [];
    const { major, minor, micro } = version ?? {};
    const numbers = [major, minor, micro].filter((each) => each !== undefined && each >= 0);
    return [{ path: file, name: environment?.name ?? '', version: numbers.join('.') }];
  });

/** Makes an interpreter the one of the Python extension, where it is installed. */
export async function choosePython(path: string, scope: vscode.Uri): Promise<void> {
  const api = (await installed()?.activate()) as Partial<PythonApi> | undefined;
  await api?.environments?.updateActiveEnvironmentPath(path, scope);
}

/** Starts the Python extension where it is installed, and listens to its choice. */
export function onPythonChosen(listener: () => void): vscode.Disposable {
  const subscriptions: vscode.Disposable[] = [];
  let isOver = false;
  const listen = async (): Promise<void> => {
    const api = (await installed()?.activate()) as Partial<PythonApi> | undefined;
    if (isOver || api?.environments === undefined) return;
    subscriptions.push(api.environments.onDidChangeActiveEnvironmentPath(listener));
    listener();
  };
  // Without the Python extension, the setting and PATH still name an interpreter.
  listen().catch(() => undefined);
  return new vscode.Disposable(() => {
    isOver = true;
    for (const each of subscriptions) each.dispose();
  });
}
