const vscode = require('vscode');

/** Exports the part of the Python extension's API that is about the chosen interpreter. */
exports.activate = () => {
  const changed = new vscode.EventEmitter();
  let path = '';
  return {
    environments: {
      known: [
        {
          path: process.execPath,
          executable: { uri: vscode.Uri.file('/envs/known/bin/python') },
          environment: { name: 'known' },
          version: { major: 3, minor: 9, micro: 2 },
        },
        // An environment of conda without an interpreter.
        { path: '/envs/bare', executable: {}, environment: { name: 'bare' } },
      ],
      getActiveEnvironmentPath: () => ({ path }),
      updateActiveEnvironmentPath: async (chosen) => {
        path = chosen;
        changed.fire({ path });
      },
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
