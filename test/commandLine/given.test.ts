import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedStorage } from '../sharedStorage';
import { cli, onSample, sample, scratch, type Answer } from './cli';
import { fakeModels, type Asked, type FakeModels } from './fakeModels';
import { jsonLinesOf } from './jsonLinesOf';
import { bundledRow } from './recordedSession';

interface Row {
  readonly model_name_or_path: string;
  readonly given?: readonly string[];
  readonly from?: string;
  readonly oracle?: boolean;
  readonly why: string;
}

interface TraceLine {
  readonly step: string;
  readonly purpose?: string;
  readonly method?: string;
  readonly resolved?: boolean;
  readonly oracle?: boolean;
}

/** A fix that applies and makes some golden tests pass, but not all. */
const wrongFix = `diff --git a/tallybook/money.py b/tallybook/money.py
--- a/tallybook/money.py
+++ b/tallybook/money.py
@@ -47,3 +47,3 @@
         for weight in weights:
-            shares.append(round(self.cents * weight / total))
+            shares.append(int(self.cents * weight / total))
         missing = self.cents - sum(shares)
`;

describe('generate in the settings of Table 5', () => {
  const folder = scratch();
  let server: FakeModels;
  let tests: string;
  let goldenPatch: string;
  /** What the model answers to requests for a fix, in this order. */
  let fixes: string[];
  let count = 0;

  const isFix = ({ text }: Asked): boolean =>
    text.includes("Resolve the issue in the repository's code");
  const block = (text: string): string => `Here.\n\n\`\`\`diff\n${text}\`\`\`\n`;
  before(async () => {
    goldenPatch = (await bundledRow()).patch;
    const lines = (await readFile(join(sample, 'predictions.jsonl'), 'utf8')).trim().split('\n');
    tests = lines
      .map((line) => JSON.parse(line) as { model_name_or_path: string; model_patch: string })
      .filter((row) => row.model_name_or_path === 'covers-some')
      .map((row) => row.model_patch)
      .join('');
    assert.ok(tests !== '');
  });
  beforeEach(async () => {
    fixes = [];
    server = await fakeModels((asked) => ({
      text: isFix(asked) ? block(fixes.shift() ?? 'no diff') : block(tests),
    }));
  });
  afterEach(() => server.close());

  const newOut = (): string => join(folder.path, `out-${count++}`, 'predictions.jsonl');
  const generate = (out: string, setting: string, ...more: string[]): Promise<Answer> =>
    cli([
      ...['generate', '--method', 'zero-shot-plus', '--model', 'openai-compatible/m', '--out', out],
      ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', sharedStorage(), '--base-url', server.url, ...setting.split(' '), ...more],
    ]);
  const rowOf = async (out: string): Promise<Row> => {
    const [row] = await jsonLinesOf<Row>(out);
    assert.ok(row);
    return row;
  };
  /** Evaluates predictions into a folder of results. */
  const evaluated = async (out: string): Promise<{ folder: string; stdout: string }> => {
    const results = `${out}.results`;
    const { status, stdout, stderr } = await cli(onSample(sharedStorage(), out, '--out', results));
    assert.equal(status, 0, stderr);
    return { folder: results, stdout };
  };
  const reported = async (results: string, format: string): Promise<string> => {
    const { status, stdout, stderr } = await cli(['report', results, '--format', format]);
    assert.equal(status, 0, stderr);
    return stdout;
  };

  const golden = '--given test-file,patch,files --from golden --oracle';
  const goldenName =
    'zero-shot-plus+golden-test-file+golden-patch+golden-files/openai-compatible/m';

  it('marks golden input in predictions, trace, run folder and every report', async () => {
    const out = newOut();
    const answer = await generate(out, golden);
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, /^ZeroShotPlus given golden-test-file, .* \(oracle\), openai/);
    assert.ok(server.asked[0]?.text.includes(goldenPatch.trimEnd()));
    const row = await rowOf(out);
    assert.equal(row.model_name_or_path, goldenName);
    assert.deepEqual(
      [row.given, row.from, row.oracle],
      [['test-file', 'patch', 'files'], 'golden', true],
    );
    const marked = (await jsonLinesOf<TraceLine>(`${out}.trace.jsonl`))
      .filter(({ oracle }) => oracle === true)
      .map(({ step }) => step);
    assert.deepEqual(marked, ['prompt', 'answer', 'choice']);

    const { folder: results, stdout } = await evaluated(out);
    assert.ok(stdout.includes(`${goldenName} (oracle)`), stdout);
    const [line] = await jsonLinesOf<{ oracle?: boolean; report: string }>(
      join(results, 'runs', 'run', 'entries.jsonl'),
    );
    assert.equal(line?.oracle, true);
    const report = JSON.parse(await readFile(join(results, line.report), 'utf8')) as Record<
      string,
      { oracle?: boolean }
    >;
    assert.equal(Object.values(report)[0]?.oracle, true);

    assert.ok((await reported(results, 'table')).includes(`${goldenName} (oracle)`));
    assert.match(
      await reported(results, 'markdown'),
      /golden-files\/openai-compatible\/m \(oracle\)/,
    );
    const csv = (await reported(results, 'csv')).split('\r\n');
    const at = csv[0]?.split(',').indexOf('oracle') ?? -1;
    assert.equal(csv[1]?.split(',')[at], 'true');
    const { methods } = JSON.parse(await reported(results, 'json')) as {
      methods: { name: string; oracle: boolean }[];
    };
    assert.deepEqual(
      methods.map(({ name, oracle }) => [name, oracle]),
      [[`${goldenName} (oracle)`, true]],
    );
    // Reports that lie apart from their run keep the mark.
    await rm(join(results, 'runs'), { recursive: true });
    assert.ok((await reported(results, 'table')).includes(`${goldenName} (oracle)`));
  });

  it('marks nothing that is retrieved', async () => {
    const out = newOut();
    const answer = await generate(out, '--given test-file --from retrieved');
    assert.equal(answer.status, 0, answer.stderr);
    const row = await rowOf(out);
    assert.equal(row.model_name_or_path, 'zero-shot-plus+retrieved-test-file/openai-compatible/m');
    assert.deepEqual([row.given, row.from, row.oracle], [['test-file'], 'retrieved', undefined]);
    assert.equal((await readFile(`${out}.trace.jsonl`, 'utf8')).includes('oracle'), false);
    const { folder: results, stdout } = await evaluated(out);
    assert.equal(stdout.includes('(oracle)'), false);
    const report = await reported(results, 'table');
    assert.ok(report.includes('zero-shot-plus+retrieved-test-file/openai-compatible/m'), report);
    assert.equal(report.includes('(oracle)'), false);
  });

  it('gives a wrong patch that the golden tests refute, and replays all of it', async () => {
    const setting = '--given test-file,patch,files --from wrong --oracle';
    fixes = ['no patch\n', goldenPatch, wrongFix];
    const out = newOut();
    const answer = await generate(out, setting, '--run-tests-locally');
    assert.equal(answer.status, 0, answer.stderr);
    assert.deepEqual(server.asked.map(isFix), [true, true, true, false]);
    assert.deepEqual(
      server.asked.map(({ temperature }) => temperature),
      [0, 0.7, 0.7, 0],
    );
    const text = server.asked[3]?.text ?? '';
    assert.ok(text.includes('+            shares.append(int(self.cents * weight / total))'), text);
    assert.equal(text.includes('by_loss'), false);
    // No request for a fix holds anything of the answer.
    for (const { text: asked } of server.asked.slice(0, 3)) {
      assert.equal(asked.includes('by_loss'), false);
      assert.equal(asked, server.asked[0]?.text);
    }
    const row = await rowOf(out);
    assert.equal(row.oracle, true);
    assert.match(
      row.model_name_or_path,
      /^zero-shot-plus\+golden-test-file\+wrong-patch\+wrong-files\//,
    );
    const steps = await jsonLinesOf<TraceLine>(`${out}.trace.jsonl`);
    assert.deepEqual(
      steps.filter(({ step }) => step === 'fix').map(({ resolved }) => resolved),
      [undefined, true, false],
    );
    const rows = await readFile(out, 'utf8');
    await rm(out);
    const replay = await generate(out, setting, '--replay');
    assert.equal(replay.status, 0, replay.stderr);
    assert.equal(await readFile(out, 'utf8'), rows);
    assert.equal(server.asked.length, 4);
  });

  const price = ['--price', '2,8'];
  /** What a dry run says of a setting. */
  const estimated = async (out: string, setting: string): Promise<Record<string, unknown>> => {
    const asked = server.asked.length;
    const answer = await generate(out, setting, ...price, '--dry-run', '--json');
    assert.equal(answer.status, 0, answer.stderr);
    assert.equal(server.asked.length, asked);
    return JSON.parse(answer.stdout) as Record<string, unknown>;
  };
  const tokensIn = async (out: string): Promise<number[]> =>
    (await jsonLinesOf<TraceLine & { tokens: number }>(`${out}.trace.jsonl`))
      .filter(({ step }) => step === 'prompt')
      .map(({ tokens }) => tokens);

  it('says in a dry run what a setting asks and costs, from its own prompt', async () => {
    const out = newOut();
    const before = await estimated(out, golden);
    assert.equal(existsSync(`${out}.trace.jsonl`), false);
    assert.equal((await generate(out, golden)).status, 0);
    const [tokens = 0] = await tokensIn(out);
    assert.deepEqual(
      [before['method'], before['requests'], before['input_tokens'], before['at_most']],
      ['zero-shot-plus+golden-test-file+golden-patch+golden-files', 1, tokens, undefined],
    );
    assert.ok(tokens > 0);
    const { requests, answered } = await estimated(out, golden);
    assert.deepEqual([requests, answered], [0, 1]);
  });

  it('bounds in a dry run what a wrong patch costs, until the trace has it @full', async () => {
    const out = newOut();
    const setting = '--given patch,files --from wrong --oracle';
    const before = await estimated(out, setting);
    fixes = [goldenPatch, wrongFix];
    assert.equal((await generate(out, setting, '--run-tests-locally')).status, 0);
    const [fix = 0] = await tokensIn(out);
    // Five fixes and the candidate, whose prompt is not known yet.
    assert.deepEqual(
      [before['requests'], before['input_tokens'], before['at_most']],
      [6, 5 * fix + 27_000, true],
    );
    // Another setting uses the same fixes, so that its own prompt is known.
    const other = '--given patch --from wrong --oracle';
    const after = await estimated(out, other);
    assert.deepEqual([after['requests'], after['answered'], after['at_most']], [1, 2, undefined]);
    assert.equal((await generate(out, other, '--run-tests-locally')).status, 0);
    assert.equal(after['input_tokens'], (await tokensIn(out)).at(-1));
    const text = await generate(newOut(), setting, ...price, '--dry-run');
    assert.match(
      text.stdout,
      /^1 instance, at most 6 requests\ninput: at most \d+ tokens .*\ncost: at most \$/s,
    );
  });

  it('has no prediction where five fixes have no wrong one @full', async () => {
    const out = newOut();
    const answer = await generate(
      out,
      '--given patch --from wrong --oracle',
      '--run-tests-locally',
    );
    assert.equal(answer.status, 1, answer.stderr);
    assert.match(answer.stderr, /no wrong patch in 5 fixes: 0 resolve the issue, 5 cannot be used/);
    assert.equal(server.asked.length, 5);
    assert.equal(existsSync(out), false);
    const dry = await generate(out, '--given patch --from wrong --oracle', '--dry-run');
    assert.equal(dry.status, 1);
    assert.match(dry.stderr, /no wrong patch in 5 fixes/);
    assert.equal(server.asked.length, 5);
  });

  it('uses no answer of one setting in another', async () => {
    const out = newOut();
    const settings = [
      '--samples 1',
      '--given files --from retrieved',
      '--given files --from golden --oracle',
    ];
    for (const setting of [...settings, ...settings]) {
      assert.equal((await generate(out, setting)).status, 0);
    }
    // Each is asked once, although the first two have the same prompt.
    assert.equal(server.asked.length, 3);
    assert.equal(server.asked[0]?.text, server.asked[1]?.text);
    assert.deepEqual(
      (await jsonLinesOf<Row>(out)).map((row) => row.model_name_or_path.split('/')[0]),
      ['zero-shot-plus', 'zero-shot-plus+retrieved-files', 'zero-shot-plus+golden-files'],
    );
  });

  it('marks what Pass@5 chose with the answer, and not the answers that it chose from', async () => {
    const out = newOut();
    const more = ['--method', 'pass-at-5', '--run-tests-locally'];
    const answer = await generate(out, '--samples 2', ...more);
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, /^Pass@5 \(oracle\), openai/);
    const row = await rowOf(out);
    assert.deepEqual([row.given, row.oracle], [undefined, true]);
    const marked = (await jsonLinesOf<TraceLine>(`${out}.trace.jsonl`))
      .filter(({ oracle }) => oracle === true)
      .map(({ step }) => step);
    assert.deepEqual(marked, ['choice']);
  });

  const refused: [what: string, setting: string, message: RegExp][] = [
    ['golden input without --oracle', '--given patch --from golden', /Add --oracle/],
    ['a wrong patch without --oracle', '--given patch --from wrong', /Add --oracle/],
    ['parts without their origin', '--given patch', /--from retrieved, --from golden/],
    ['an origin without parts', '--from golden', /Add --given/],
    ['a patch that is retrieved', '--given patch --from retrieved', /a patch cannot/],
    ['a wrong test file', '--given test-file --from wrong --oracle', /not to the test file/],
    [
      'another method',
      '--given files --from golden --oracle --method zero-shot',
      /Use --method zero-shot-plus/,
    ],
    [
      'code of a model on this machine',
      '--given patch --from wrong --oracle',
      /runs code that the model writes.*--run-tests-locally/,
    ],
  ];
  for (const [what, setting, message] of refused) {
    it(`refuses ${what}`, async () => {
      const answer = await generate(newOut(), setting);
      assert.equal(answer.status, 2, answer.stderr);
      assert.match(answer.stderr, message);
      assert.equal(answer.stdout, '');
      assert.equal(server.asked.length, 0);
    });
  }
});
