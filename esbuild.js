// Bundles the entry points into dist/ and copies what cannot be bundled: grammars, tracer and agent.
const { build, context } = require('esbuild');
const { cpSync, copyFileSync, mkdirSync, rmSync } = require('node:fs');
const { dirname, join } = require('node:path');

const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');
const dist = join(__dirname, 'dist');

/**
 * Leaves out optional packages of dockerode that nothing here uses. gRPC and Protocol Buffers serve
 * sessions of BuildKit, which are never opened. The user's own ssh program connects to remote
 * engines.
 * @type {import('esbuild').Plugin}
 */
const notNeeded = {
  name: 'not-needed',
  setup(build) {
    build.onResolve({ filter: /^(@grpc\/.*|protobufjs.*|ssh2)$/ }, ({ path }) => ({
      path,
      namespace: 'not-needed',
    }));
    build.onLoad({ filter: /.*/, namespace: 'not-needed' }, () => ({
      contents: 'module.exports = {};',
    }));
  },
};

/** @type {import('esbuild').BuildOptions} */
const shared = {
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  outdir: dist,
  minify: production,
  sourcemap: production ? false : 'linked',
  logLevel: 'warning',
  // The package's ES module uses import.meta.url, which a CommonJS bundle does not have.
  alias: { 'web-tree-sitter': require.resolve('web-tree-sitter') },
  plugins: [notNeeded],
};

/**
 * Keeps `import('./parts')` an import at run time, so that code which activation does not need has
 * its own bundle.
 * @type {import('esbuild').Plugin}
 */
const partsApart = {
  name: 'parts-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\.?\/(shell\/)?parts$/ }, () => ({
      path: './parts.js',
      external: true,
    }));
  },
};

/** Packages that only methods or the kubernetes engine need, with the bundle of each; they are loaded on first use. */
const loadedLate = {
  '@agentclientprotocol/sdk': 'acp',
  ai: 'ai',
  '@ai-sdk/anthropic': 'ai-anthropic',
  '@ai-sdk/google': 'ai-google',
  '@ai-sdk/openai-compatible': 'ai-openai',
  'gpt-tokenizer/encoding/o200k_base': 'tokenizer',
  '@kubernetes/client-node': 'kubernetes',
};

/**
 * Keeps dynamic imports of these packages as imports at run time. Only packages are split off,
 * never our own files: a class that is in two bundles would be two classes.
 * @type {import('esbuild').Plugin}
 */
const packagesApart = {
  name: 'packages-apart',
  setup(build) {
    build.onResolve(
      {
        filter:
          /^(ai|@ai-sdk\/.*|@agentclientprotocol\/sdk|gpt-tokenizer\/.*|@kubernetes\/client-node)$/,
      },
      ({ path, kind }) => {
        const bundle = kind === 'dynamic-import' ? loadedLate[path] : undefined;
        return bundle === undefined ? undefined : { path: `./${bundle}.js`, external: true };
      },
    );
  },
};

const bundles = [
  {
    ...shared,
    entryPoints: Object.fromEntries(Object.entries(loadedLate).map(([from, to]) => [to, from])),
  },
  {
    ...shared,
    entryPoints: { extension: 'src/extension.ts' },
    external: ['vscode'],
    plugins: [partsApart, packagesApart],
  },
  {
    ...shared,
    entryPoints: { parts: 'src/editor/shell/parts.ts' },
    external: ['vscode'],
    plugins: [notNeeded, packagesApart],
  },
  { ...shared, entryPoints: { server: 'src/server.ts' } },
  {
    ...shared,
    entryPoints: { cli: 'src/cli.ts' },
    plugins: [notNeeded, packagesApart],
    banner: { js: '#!/usr/bin/env node' },
  },
  // The dashboard and the viewer of trajectories run in a page: a webview, or the file that
  // `report` or `trajectory` with `--format html` writes.
  {
    ...shared,
    entryPoints: {
      dashboard: 'src/dashboard/main.ts',
      trajectory: 'src/dashboard/trajectory/main.ts',
    },
    format: 'iife',
    platform: 'browser',
    target: ['chrome120', 'firefox120', 'safari17'],
    // It is inlined into other files, where no source map can be found at its address.
    sourcemap: false,
    minify: true,
  },
  {
    ...shared,
    entryPoints: {
      dashboard: 'src/dashboard/dashboard.css',
      trajectory: 'src/dashboard/trajectory/trajectory.css',
    },
    sourcemap: false,
    minify: true,
  },
];

function copyAssets() {
  mkdirSync(dist, { recursive: true });
  for (const name of ['tracer', 'agent']) {
    rmSync(join(dist, name), { recursive: true, force: true });
    cpSync(join(__dirname, 'src/engine', name), join(dist, name), {
      recursive: true,
      filter: (path) => !path.includes('__pycache__') && !path.endsWith('.ts'),
    });
  }
  const wasm = dirname(require.resolve('web-tree-sitter'));
  copyFileSync(join(wasm, 'tree-sitter.wasm'), join(dist, 'tree-sitter.wasm'));
  copyFileSync(
    require.resolve('tree-sitter-wasms/out/tree-sitter-python.wasm'),
    join(dist, 'tree-sitter-python.wasm'),
  );
}

async function main() {
  copyAssets();
  if (watch) {
    const contexts = await Promise.all(bundles.map((options) => context(options)));
    await Promise.all(contexts.map((each) => each.watch()));
  } else {
    await Promise.all(bundles.map((options) => build(options)));
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
