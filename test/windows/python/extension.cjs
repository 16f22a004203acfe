const vscode = require('vscode');

const known = (id, name, version, uri) => ({
  id,
  path: id,
  executable: { uri, bitness: undefined, sysPrefix: undefined },
  environment: {
    type: 'VirtualEnvironment',
    name,
    folderUri: vscode.Uri.file(`/envs/${name}`),
    workspaceFolder: undefined,
  },
  version,
  tools: [],
});

const interpreterOf = (name, version) => {
  const file = `/envs/${name}/bin/python`;
  return known(file, name, version, vscode.Uri.file(file));
};

/**
 * Exports the documented API of the Python extension as far as it is about interpreters:
 * https://github.com/microsoft/vscode-python/blob/main/pythonExtensionApi/src/main.ts. Like the
 * real one, it knows some environments from the start and the others after a search. It keeps one
 * choice for each workspace folder.
 */
exports.activate = () => {
  const changed = new vscode.EventEmitter();
  const appeared = new vscode.EventEmitter();
  const numbers = { release: undefined, sysVersion: undefined };
  const found = [
    interpreterOf('known', { major: 3, minor: 9, micro: 2, ...numbers }),
    // An environment of conda without an interpreter.
    known('/envs/bare', 'bare', undefined, undefined),
  ];
  const hidden = [
    interpreterOf('searched', { major: undefined, minor: undefined, micro: undefined, ...numbers }),
    interpreterOf('old', { major: 2, minor: 7, micro: 18, ...numbers }),
  ];
  const paths = new Map();
  const folderOf = (resource) =>
    resource === undefined
      ? vscode.workspace.workspaceFolders?.[0]
      : vscode.workspace.getWorkspaceFolder(resource.uri ?? resource);
  return {
    ready: Promise.resolve(),
    environments: {
      get known() {
        return [...found];
      },
      getActiveEnvironmentPath: (resource) => {
        const path = paths.get(folderOf(resource)?.uri.toString()) ?? '';
        return { id: path, path };
      },
      updateActiveEnvironmentPath: async (environment, resource) => {
        const path = typeof environment === 'string' ? environment : environment.path;
        const folder = folderOf(resource);
        paths.set(folder?.uri.toString(), path);
        changed.fire({ id: path, path, resource: folder });
      },
      onDidChangeActiveEnvironmentPath: changed.event,
      onDidChangeEnvironments: appeared.event,
      refreshEnvironments: async () => {
        for (const env of hidden.splice(0)) {
          found.push(env);
          appeared.fire({ env, type: 'add' });
        }
      },
      resolveEnvironment: async (environment) =>
        found.find(({ path }) => path === (environment.path ?? environment)),
    },
  };
};
