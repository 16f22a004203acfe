import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { judgedRepairsSchema } from '../../src/repair/judgedRepairsSchema';
import { cli } from '../commandLine/cli';
import { sourceRelease } from '../environments';
import { askSweBench } from '../unit/repair/askSweBench';
import { data, onRelease, storageOfSuite } from './realData';

type Row = Readonly<Record<'instance_id' | 'FAIL_TO_PASS' | 'PASS_TO_PASS', string>>;

interface Case {
  readonly id: string;
  readonly release: readonly [string, string];
  /** The log parser that rows of SWE-bench 5 name. */
  readonly parser: string;
}

/** Instances whose listed tests are all in a source release, with the log parsers of SWE-bench. */
const cases: readonly Case[] = [
  { id: 'pallets__flask-4992', release: ['flask', '2.2.5'], parser: 'parse_log_flask' },
  { id: 'django__django-15814', release: ['django', '4.1a1'], parser: 'parse_log_django' },
  { id: 'sympy__sympy-24152', release: ['sympy', '1.11.1'], parser: 'parse_log_sympy' },
];

describe('judging code patches of real instances, in containers @full', () => {
  const storage = storageOfSuite(cases.map(({ id }) => id));

  for (const { id, release, parser } of cases) {
    it(`resolves ${id} by X*, and not by nothing`, async function () {
      const archive = await sourceRelease(this, ...release);
      const out = join(storage.path, `out-${id}`);
      const { status, stdout, stderr } = await cli([
        ...['evaluate', '--kind', 'repair', '--json', '--predictions', 'gold', 'none'],
        ...['--out', out, ...onRelease(id, archive, storage.path)],
      ]);
      assert.equal(status, 0, stderr);
      const { results } = judgedRepairsSchema.parse(JSON.parse(stdout));
      const [gold, none] = results;
      assert.equal(none?.status, 'empty patch');
      const log = join(out, 'logs', 'run_evaluation', 'run', 'gold', id, 'test_output.txt');
      const text = await readFile(log, 'utf8');
      const why = JSON.stringify(gold, null, 2);
      assert.equal(gold?.resolution, 'RESOLVED_FULL', `${why}\n${text.slice(-3000)}`);
      assert.equal(gold.lists, 'dataset');
      assert.equal(gold.notes, undefined, why);
      assert.equal(gold.strict?.resolved, true, why);
      assert.deepEqual(gold.location, { file: true, function: true, line: true });

      // SWE-bench's own code makes the same report from the same log.
      const ask = await askSweBench(this);
      const rows = (await readFile(data, 'utf8')).trim().split('\n');
      const row = rows
        .map((line) => JSON.parse(line) as Row)
        .find((each) => each.instance_id === id);
      const lists = {
        FAIL_TO_PASS: JSON.parse(row?.FAIL_TO_PASS ?? '') as string[],
        PASS_TO_PASS: JSON.parse(row?.PASS_TO_PASS ?? '') as string[],
      };
      const theirs = ask([{ name: id, log: text, parser, eval_type: 'pass_and_fail', ...lists }]);
      const written = await readFile(join(dirname(log), 'report.json'), 'utf8');
      assert.deepEqual(
        (JSON.parse(written) as Record<string, object>)[id],
        theirs.cases[0]?.report,
      );
    });
  }
});
