// `node compare.mjs RUN-FOLDER OTHER [RUN]`: exits with 1 and says where when the results of two
// folders differ in more than the engine and times, or a candidate has no entry, or two.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [one, other] = process.argv.slice(2);

/** @returns what `entries.jsonl` says of each candidate, without times and the engine's key */
function entries(folder) {
  const found = new Map();
  const text = readFileSync(join(folder, 'runs', 'run', 'entries.jsonl'), 'utf8');
  for (const line of text.trim().split('\n')) {
    const {
      seconds: _seconds,
      finished: _finished,
      key: _key,
      cost: _cost,
      ...entry
    } = JSON.parse(line);
    const candidate = `${entry.instance} ${entry.model} ${entry.sample}`;
    if (found.has(candidate)) fail(`${folder} has two entries of ${candidate}`);
    if (!entry.evaluated) fail(`${candidate} was not evaluated: ${entry.explanation}`);
    found.set(candidate, JSON.stringify(entry));
  }
  return found;
}

/** @returns a report without what the engine and the time decide */
const comparable = (text) =>
  JSON.stringify(
    JSON.parse(text, (key, value) => {
      if (['seconds', 'environment', 'engine'].includes(key)) return undefined;
      // Addresses of objects in messages.
      return typeof value === 'string' ? value.replace(/\b0x[0-9a-f]+/g, '0x') : value;
    }),
    null,
    1,
  );

/** @returns reports by their paths */
function reports(folder) {
  const paths = readdirSync(folder, { recursive: true }).filter(
    (path) => path.endsWith('report.json') || /evaluation_results.*\.json$/.test(path),
  );
  return new Map(paths.map((path) => [path, comparable(readFileSync(join(folder, path), 'utf8'))]));
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
      const lines = (there.get(name) ?? 'nothing').split('\n');
      const at = (here.get(name) ?? 'nothing').split('\n').find((line, at) => line !== lines[at]);
      fail(`${name} differs: ${at}`);
    }
  }
}
