// Listing a large dataset and opening an instance, in times and ratios within one run. A benchmark, not a
// test: `npm run bench -- list [--dataset F]` and
// `npm run bench -- open --dataset F --id ID --source REPOSITORY`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openDataset } from '../../src/dataset/dataset';
import { silent } from '../../src/domain/work';
import { sourceOf, parseSources } from '../../src/repository/source';
import { prepareTrees } from '../../src/repository/trees';
import { makeWorkspace } from '../../src/repository/workspace';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    dataset: { type: 'string' },
    id: { type: 'string' },
    source: { type: 'string' },
    rows: { type: 'string', default: '2294' },
  },
});
// Beside the project: on some machines the temporary folder is a slow or a very fast file system.
const scratch = mkdtempSync(join(__dirname, '..', '..', '.cache', 'bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const timed = async <T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> => {
  const started = performance.now();
  const result = await work();
  return { ms: performance.now() - started, result };
};
const line = (what: string, ms: number, against?: number): void =>
  console.log(
    `${what.padEnd(44)} ${ms.toFixed(0).padStart(6)} ms` +
      (against === undefined ? '' : `   × ${(ms / against).toFixed(2)}`),
  );

/** Repeats and renames the rows of a dataset until there are as many as asked for. */
function repeated(dataset: string, count: number): string {
  const rows = readFileSync(dataset, 'utf8')
    .split('\n')
    .filter((each) => each.trim() !== '');
  const path = join(scratch, 'rows.jsonl');
  const lines = Array.from({ length: count }, (_, index) => {
    const row = JSON.parse(rows[index % rows.length] ?? '{}') as { instance_id: string };
    const id = index < rows.length ? row.instance_id : `${row.instance_id}-${index}`;
    return JSON.stringify({ ...row, instance_id: id });
  });
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

async function list(): Promise<void> {
  const sample = join(__dirname, '..', '..', 'media', 'sample', 'instance.jsonl');
  const path = repeated(values.dataset ?? sample, Number(values.rows));
  const storage = join(scratch, 'storage');
  const open = () => openDataset(path, { storage, reporter: silent });
  const parse = await timed(async () =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((each) => JSON.parse(each) as unknown),
  );
  const megabytes = (statSync(path).size / 1e6).toFixed(1);
  console.log(`${parse.result.length} rows, ${megabytes} MB`);
  parse.result.length = 0;
  line('JSON.parse of every line', parse.ms);
  line('listed for the first time', (await timed(open)).ms, parse.ms);
  const again = await timed(open);
  line('listed again', again.ms, parse.ms);
  const { entries } = again.result;
  const ids = entries.filter((_, index) => index % 100 === 0).map((entry) => entry.id);
  line(`${ids.length} whole instances read`, (await timed(() => again.result.read(ids))).ms);
}

async function open(): Promise<void> {
  const { dataset, id, source } = values;
  if (dataset === undefined || id === undefined || source === undefined) {
    throw new Error('name --dataset, --id and --source');
  }
  const storage = join(scratch, 'storage');
  const [instance] = await (
    await openDataset(resolve(dataset), { storage, reporter: silent })
  ).read([id]);
  if (instance === undefined) throw new Error(`${id} is not in ${dataset}`);
  const from = await sourceOf(instance, parseSources([source]));
  const worktree = join(scratch, 'worktree');
  const plain = await timed(async () =>
    execFileSync(
      'git',
      ['-C', from.from, 'worktree', 'add', '--detach', worktree, instance.baseCommit],
      { stdio: 'ignore' },
    ),
  );
  const files = execFileSync('git', ['-C', worktree, 'ls-files'], { maxBuffer: 1e9 });
  console.log(`${id}: ${files.toString().trimEnd().split('\n').length} files`);
  line('git worktree add, for comparison', plain.ms);
  execFileSync('git', ['-C', from.from, 'worktree', 'remove', '--force', worktree]);
  const whole = async (to: string): Promise<void> => {
    const trees = await prepareTrees(instance, from, storage, { reporter: silent });
    await makeWorkspace(instance, trees, { dataset, sources: [source] }, join(scratch, to));
  };
  line('opened for the first time', (await timed(() => whole('first'))).ms, plain.ms);
  line('opened again elsewhere', (await timed(() => whole('second'))).ms, plain.ms);
}

const [what] = positionals;
void (what === 'open' ? open() : list());
