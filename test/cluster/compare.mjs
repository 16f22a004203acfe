// `node compare.mjs RUN-FOLDER OTHER [RUN]`: exits with 1 and says where when the results of two
// folders differ in more than times and keys, or a candidate has no entry, or two.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [one, other] = process.argv.slice(2);

/** @returns what `entries.jsonl` says of each candidate, without times and the engine's key */
function entries(folder) {
  const found = new Map();
  const text = readFileSync(join(folder, 'runs', 'run', 'entries.jsonl'), 'utf8');
  for (const line of text.trim().split('\n')) {
    const { seconds, finished, key, cost, ...entry } = JSON.parse(line);
    const candidate = `${entry.instance} ${entry.model} ${entry.sample}`;
    if (found.has(candidate)) fail(`${folder} has two entries of ${candidate}`);
    if (!entry.evaluated) fail(`${candidate} was not evaluated: ${entry.explanation}`);
    found.set(candidate, JSON.stringify(entry));
  }
  return found;
}

/** @returns the texts of reports by their paths */
function reports(folder) {
  const paths = readdirSync(folder, { recursive: true }).filter(
    (path) => path.endsWith('report.json') || /evaluation_results.*\.json$/.test(path),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

function fail(why) {
  console.error(why);
  process.exit(1);
}

for (const read of [entries, reports]) {
  const [here, there] = [read(one), read(other)];
  if (here.size === 0) fail(`${one} has no results`);
  for (const name of new Set([...here.keys(), ...there.keys()])) {
    if (here.get(name) !== there.get(name)) {
      fail(`${name} differs:\n${here.get(name)}\n${there.get(name)}`);
    }
  }
}
