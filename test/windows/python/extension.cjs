const vscode = require('vscode');

/** Exports the part of the Python extension's API that is about the chosen interpreter. */
exports.activate = () => {
  const changed = new vscode.EventEmitter();
  let path = '';
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ path }),
      updateActiveEnvironmentPath: async (chosen) => {
        path = chosen;
        changed.fire({ path });
      },
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
