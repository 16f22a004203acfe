import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(__dirname, '..', '..', '..', 'src');
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));

/** The files that each file imports, including imports of types. */
const imports = new Map(
  files.map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const targets = [...text.matchAll(/(?:from|import\()\s*'(\.[^']*)'/g)].map(
      ([, to = '']) => `${join(dirname(file), to).replaceAll('\\', '/')}.ts`,
    );
    return [file, targets.filter((target) => files.includes(target))] as const;
  }),
);

/** Names that cross the borders of rooms. It goes down, not up. */
const mostShared = 1_140;

/** Where the core begins: `evaluate`, and the engines of one machine, which entry points hand in. */
const coreBegins = [
  'commands/evaluate.ts',
  'engine/local/localDescriptor.ts',
  'engine/docker/dockerDescriptor.ts',
];

/** What entry points hand to the core, so that nobody has to read it to understand a verdict. */
const beyondTheCore = [
  ...['dashboard/', 'editor/', 'language/', 'method/', 'repair/', 'trajectory/', 'validation/'],
  ...['engine/engines.ts', 'engine/kubernetes/'],
  ...['environments/environment', 'environments/image', 'environments/packages/'],
  ...['environments/plan/', 'environments/virtual/'],
  ...['dataset/predictionFolders', 'dataset/folders/'],
  ...['mutation/mutants', 'mutation/operators', 'mutation/testMutants'],
  ...['patch/custom', 'patch/fuzzy/', 'patch/patchFormats', 'patch/searchReplace/'],
  ...['study/document', 'study/measures', 'study/resolution', 'study/studyReport', 'study/tables'],
];

/** Lines of the core. It goes down, not up. */
const mostLines = 39_500;

/** Files that read names as logs and people write them. */
const readsNamesInLogs = [
  'engine/runners/',
  'evaluation/runs/difference.ts',
  'study/resolution/',
  'python/references.ts',
  'method/',
];

/** Code that takes an id of a test apart, or makes one. */
const ofIds = /(?:split|indexOf|lastIndexOf|includes|join|endsWith)\('(?:::|\[)'|\}::|::\$\{/;

const roomOf = (file: string): string => file.split('/')[0] ?? '';

/** The names that a file outside of the entry points imports, with the files they come from. */
function namesTakenBy(file: string): { readonly from: string; readonly name: string }[] {
  if (!file.includes('/')) return [];
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']*)';/gm)].flatMap(
    ([, list = '', to = '']) => {
      const from = `${join(dirname(file), to).replaceAll('\\', '/')}.ts`;
      return list
        .split(',')
        .map((name) =>
          name
            .trim()
            .replace(/^type /, '')
            .replace(/ as .*/, ''),
        )
        .filter((name) => name !== '')
        .map((name) => ({ from, name }));
    },
  );
}

/** A circle of imports that contains a file; undefined where there is none. */
function circleOf(start: string): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    for (const target of imports.get(file) ?? []) {
      if (target === start) {
        const circle = [file];
        for (let at = cameFrom.get(file); at !== undefined; at = cameFrom.get(at)) circle.push(at);
        return circle.reverse();
      }
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      waiting.push(target);
    }
  }
  return undefined;
}

describe('the rooms of src', () => {
  it('have no circle of imports, of types either', () => {
    const circles = files.flatMap((file) => {
      const circle = circleOf(file);
      return circle === undefined ? [] : [circle.join(' → ')];
    });
    assert.deepEqual(circles, []);
  });

  it('have front halls of some twelve files', () => {
    const halls = new Map<string, number>();
    for (const file of files) {
      const [room = '', ...rest] = file.split('/');
      if (rest.length === 1) halls.set(room, (halls.get(room) ?? 0) + 1);
    }
    const crowded = [...halls].filter(([, count]) => count > 12);
    assert.deepEqual(crowded, []);
  });

  it('are entered through their halls alone', () => {
    const past = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => roomOf(target) !== roomOf(file) && target.split('/').length > 2)
        .filter((target) => roomOf(target) !== 'editor')
        .map((target) => `${file} → ${target}`),
    );
    assert.deepEqual(past, []);
  });

  it('share few names', () => {
    const names = new Set(
      files.flatMap((file) =>
        namesTakenBy(file)
          .filter(({ from }) => from.includes('/') && roomOf(from) !== roomOf(file))
          .map(({ from, name }) => `${from}#${name}`),
      ),
    );
    console.log(`      names across the borders of rooms: ${names.size}`);
    assert.ok(names.size <= mostShared, `${names.size} names cross borders: at most ${mostShared}`);
  });

  it('take ids of tests apart, and make them, in domain/testId.ts alone', () => {
    const places = files
      .filter((file) => !readsNamesInLogs.some((start) => file.startsWith(start)))
      .filter((file) => ofIds.test(readFileSync(join(root, file), 'utf8')));
    assert.deepEqual(places, ['domain/testId.ts']);
  });

  it('leave the core alone: grading knows only what it needs', () => {
    const core = new Set(coreBegins);
    for (const file of core) for (const target of imports.get(file) ?? []) core.add(target);
    assert.deepEqual(
      [...core].filter((file) => beyondTheCore.some((start) => file.startsWith(start))),
      [],
    );
    const lines = [...core]
      .map((file) => readFileSync(join(root, file), 'utf8').split('\n').length)
      .reduce((sum, count) => sum + count, 0);
    console.log(`      lines of the core: ${lines}`);
    assert.ok(lines <= mostLines, `the core has ${lines} lines: at most ${mostLines}`);
  });
});
