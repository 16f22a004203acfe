// Adds a runner by its descriptor, and runs tests of its repository with the local engine. A process of its
// own, since the table of recipes is read when it is loaded.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import table from '../../src/environments/recipes.json';
import { runners } from '../../src/engine/runners/runners';
import type { TestRunner } from '../../src/engine/runners/testRunner';
import type { Trees } from '../../src/repository/trees';

/** Calls each function of a file whose name begins with `test`, and prints a line about it. */
const program = `
import runpy, sys
for path in sys.argv[1:]:
    for name, test in sorted(runpy.run_path(path).items()):
        if name.startswith('test'):
            try:
                test()
                print('+ %s::%s' % (path, name))
            except Exception:
                print('- %s::%s' % (path, name))
`;

const lines: TestRunner = {
  name: 'lines',
  packages: ['lines-of-tests'],
  plan: ({ files }) => ({
    runner: 'lines',
    args: ['-c', program, ...files.map(({ path }) => path)],
    env: {},
    cwd: '.',
    files: files.map(({ path }) => path),
    notRun: [],
  }),
  isUnrecorded: true,
  readLog: (log) => {
    const found = [...log.matchAll(/^([+-]) (.*)$/gm)].map(
      ([, sign, name = '']) => [name, sign === '+' ? 'PASSED' : 'FAILED'] as const,
    );
    return found.length === 0 ? undefined : new Map(found);
  },
};

const { instance, trees, storage, patch, file } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as { instance: Instance; trees: Trees; storage: string; patch: string; file: string };

async function main(): Promise<object> {
  (runners as TestRunner[]).push(lines);
  Object.assign(table, { [instance.repo]: { runner: 'lines' } });
  const { engines } = await import('../../src/engine/engines');
  const { openEngine } = await import('../../src/engine/sandbox');
  const { planTests } = await import('../../src/engine/runners/planTests');
  const { environments } = await import('../../src/environments/environments');
  const { recipeOf } = await import('../../src/environments/recipes');
  const { parseLog } = await import('../../src/engine/runners/parseLog');
  const engine = await openEngine({
    engines,
    environments,
    name: 'local',
    storage,
    assets: resolve('src/engine'),
  });
  try {
    const place = await engine.prepare(instance, trees, { reporter: silent });
    const pair = await place.openPair({ reporter: silent });
    const plan = await planTests(
      {
        ...{ repo: instance.repo, version: '', environment: place.environment },
        files: [{ path: file, importsPytest: false, unittestTests: 0, pytestTests: 1 }],
        readFileOfR: () => Promise.resolve(undefined),
      },
      recipeOf(instance.repo, ''),
    );
    const outcomes: Record<string, object> = {};
    for (const side of ['base', 'fixed'] as const) {
      await pair[side].load(patch);
      const request = { plan, countLines: new Map([['cat.py', [2]]]), timeoutSeconds: 60 };
      const { log, trace } = await pair[side].run(request);
      outcomes[side] = {
        ...Object.fromEntries(parseLog(log, instance.repo)),
        counted: trace.counts.length,
      };
    }
    return { runner: plan.runner, packages: place.environment.packages, ...outcomes };
  } finally {
    await engine.dispose();
  }
}

main().then(
  (said) => process.stdout.write(`${JSON.stringify(said)}\n`),
  (error: unknown) => process.stdout.write(`${String(error)}\n`),
);
