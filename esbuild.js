// Bundles the entry points into dist/ and copies what cannot be bundled: grammars, tracer and agent.
const { build, context, transform } = require('esbuild');
const { cpSync, copyFileSync, mkdirSync, readdirSync, rmSync } = require('node:fs');
const { readFileSync, watch: watchFolder, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');

const production = process.argv.includes('--production');
const isWatching = process.argv.includes('--watch');
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

/**
 * Leaves out what `z` of zod brings along and nothing here uses: its messages in other languages, and
 * schemas from JSON schemas. It is half of the package.
 * @type {import('esbuild').Plugin}
 */
const smallZod = {
  name: 'small-zod',
  setup(build) {
    build.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
    build.onLoad({ filter: /zod[\\/]v4[\\/]classic[\\/]from-json-schema\.js$/ }, () => ({
      contents: 'export const fromJSONSchema = undefined;',
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
  plugins: [notNeeded, smallZod],
};

/**
 * Keeps `import('./parts')` an import at run time, so that code which activation does not need has
 * its own bundle. What else is imported on first use, such as an engine, is used by that bundle
 * alone.
 * @type {import('esbuild').Plugin}
 */
const partsApart = {
  name: 'parts-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\.?\// }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './parts.js', external: true } : undefined,
    );
  },
};

/** Packages that only methods or the kubernetes engine need, with the bundle of each; they are loaded on first use. */
const loadedLate = {
  '@agentclientprotocol/sdk': 'acp',
  ai: 'ai',
  '@ai-sdk/anthropic': 'ai-anthropic',
  '@ai-sdk/google': 'ai-google',
  '@ai-sdk/openai': 'ai-responses',
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
    for (const [name, bundle] of Object.entries(loadedLate)) {
      build.onResolve({ filter: new RegExp(`^${name}$`) }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: `./${bundle}.js`, external: true } : undefined,
      );
    }
  },
};

/** What the names of the parts of the command line begin with. */
const chunk = 'chunk-';

/**
 * Writes a build that is split into chunks as CommonJS, since esbuild can only split ES modules, and
 * tests load the command line with `require`. Leaves out what no chunk loads, such as the second face of a
 * file with a schema, and removes the chunks of earlier builds.
 * @type {import('esbuild').Plugin}
 */
const splitCommonJs = {
  name: 'split-commonjs',
  setup(build) {
    build.onEnd(async ({ errors, outputFiles = [] }) => {
      if (errors.length > 0) return;
      const files = new Map(outputFiles.map((file) => [basename(file.path), file]));
      const needed = new Set(['cli.js']);
      for (const name of needed) {
        const loads = files.get(name)?.text.matchAll(/"\.\/([\w-]+\.js)"/g) ?? [];
        for (const [, to] of loads) if (files.has(to)) needed.add(to);
      }
      for (const name of readdirSync(dist)) {
        if (name.startsWith(chunk) && !needed.has(name.replace(/\.map$/, ''))) {
          rmSync(join(dist, name));
        }
      }
      await Promise.all([...needed].map((name) => writeCommonJs(files.get(name))));
    });
  },
};

/** @param {import('esbuild').OutputFile} file an ES module, with its source map in it */
async function writeCommonJs({ path, text }) {
  const { platform, target, minify } = shared;
  // The build itself has warned.
  const options = { platform, target, logLevel: 'error' };
  const { code, map } = await transform(text, {
    ...{ ...options, format: 'cjs', sourcefile: basename(path) },
    sourcemap: production ? false : 'external',
    // `import()` would start the loader of ES modules, which takes longer.
    supported: { 'dynamic-import': false },
  });
  const lazy = loadedOnUse(code);
  const written = minify ? (await transform(lazy, { ...options, minify })).code : lazy;
  const start = basename(path) === 'cli.js' ? '#!/usr/bin/env node\n' : '';
  const end = production ? '' : `//# sourceMappingURL=${basename(path)}.map\n`;
  writeFileSync(path, start + written + end);
  if (!production) writeFileSync(`${path}.map`, map);
}

/**
 * Lets a file load another one when it first uses something of it. What a command imports for its
 * action is then not loaded for its help. Lines stay where they are, for the source map.
 *
 * @param {string} code CommonJS as esbuild writes it, not minified
 */
function loadedOnUse(code) {
  const names = new Set();
  const declared = code.replaceAll(
    /^var (import_\w+) = ((?:__toESM\()?require\("[^"]+"\)\)?);$/gm,
    (_, name, value) => {
      names.add(name);
      return `var ${name}$loaded, ${name} = () => ${name}$loaded ??= ${value};`;
    },
  );
  return declared.replaceAll(/\b(import_\w+)(?=\.)/g, (name) =>
    names.has(name) ? `(${name}())` : name,
  );
}

/**
 * The files with schemas, each as a chunk of its own: what lies beside a schema in a chunk would load
 * zod, which takes longer than a start of all else.
 *
 * @returns {Record<string, string>}
 */
function schemaFiles() {
  const files = readdirSync(join(__dirname, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      /^(?!editor\b).*\.ts$/.test(path) &&
      /^import \{ z \} from 'zod';$/m.test(readFileSync(join(__dirname, 'src', path), 'utf8')),
  );
  return Object.fromEntries(
    files.map((path) => [
      `${chunk}${path.slice(0, -'.ts'.length).replaceAll(/\W/g, '-')}`,
      join('src', path),
    ]),
  );
}

const bundles = [
  {
    ...shared,
    entryPoints: Object.fromEntries(Object.entries(loadedLate).map(([from, to]) => [to, from])),
  },
  {
    ...shared,
    entryPoints: { extension: 'src/extension.ts' },
    external: ['vscode'],
    plugins: [smallZod, partsApart, packagesApart],
  },
  {
    ...shared,
    entryPoints: { parts: 'src/editor/shell/parts.ts' },
    external: ['vscode'],
    plugins: [notNeeded, smallZod, packagesApart],
  },
  { ...shared, entryPoints: { server: 'src/server.ts' } },
  // A command loads what it needs, and `--help` nothing of that.
  {
    ...shared,
    entryPoints: { cli: 'src/cli.ts', ...schemaFiles() },
    plugins: [notNeeded, smallZod, packagesApart, splitCommonJs],
    format: 'esm',
    splitting: true,
    chunkNames: `${chunk}[hash]`,
    minify: false,
    sourcemap: production ? false : 'inline',
    write: false,
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

let building = 0;
/**
 * Prints the lines that the problem matcher of .vscode/tasks.json reads. All bundles together count
 * as one build, since a debugger needs each of them.
 * @type {import('esbuild').Plugin}
 */
const tellsEditor = {
  name: 'tells-editor',
  setup(build) {
    build.onStart(() => {
      building += 1;
      if (building === 1) console.log('build started');
    });
    build.onEnd(({ errors }) => {
      for (const { location, text } of errors) {
        const { file = 'esbuild.js', line = 1, column = 0 } = location ?? {};
        console.log(`error: ${file}:${line}:${column + 1}: ${text}`);
      }
      building -= 1;
      if (building === 0) console.log('build finished');
    });
  },
};

/**
 * The folders with programs that run elsewhere: beside the tests, in the containers of exported tasks,
 * and one that installs.
 */
const programFolders = [
  ...['engine/tracer', 'engine/agent', 'engine/programs'],
  ...['method/acp/install', 'commands/exporting/exported'],
];

function copyAssets() {
  mkdirSync(dist, { recursive: true });
  for (const name of programFolders) {
    const to = join(dist, basename(name));
    rmSync(to, { recursive: true, force: true });
    cpSync(join(__dirname, 'src', name), to, {
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
  // The package takes whatever lies in this folder.
  if (production) rmSync(dist, { recursive: true, force: true });
  copyAssets();
  if (isWatching) {
    for (const name of programFolders) watchFolder(join(__dirname, 'src', name), copyAssets);
    const told = bundles.map((options) => ({
      ...options,
      logLevel: 'silent',
      plugins: [...options.plugins, tellsEditor],
    }));
    const contexts = await Promise.all(told.map((options) => context(options)));
    await Promise.all(contexts.map((each) => each.watch()));
  } else {
    await Promise.all(bundles.map((options) => build(options)));
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
