import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isEveryday } from '../everyday';
import { sharedStorage } from '../sharedStorage';
import { cli, onSample, sample, scratch, withVariables, type Answer, type Evaluation } from './cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from './fakeModels';

const id = 'tallybook__tallybook-217';
const key = 'sk-a-key-that-nobody-may-see-0123456789';

interface Row {
  readonly instance_id: string;
  readonly model_name_or_path: string;
  readonly model_patch: string;
  readonly chosen_sample?: number;
  readonly applies: boolean;
  readonly why: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly empty_answers?: number;
  readonly dollars?: number;
}

describe('generate', () => {
  const folder = scratch();
  withVariables(() => ({ OPENAI_API_KEY: undefined }));
  let candidates: Record<string, string>;
  let server: FakeModels | undefined;
  let count = 0;
  before(async () => {
    const lines = (await readFile(join(sample, 'predictions.jsonl'), 'utf8')).trim().split('\n');
    candidates = Object.fromEntries(
      lines.map((line) => {
        const row = JSON.parse(line) as Row;
        return [row.model_name_or_path, row.model_patch];
      }),
    );
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const isJudge = (asked: Asked): boolean => asked.text.includes('YES or NO');
  const patch = (name: string): string => {
    const text = candidates[name];
    assert.ok(text, name);
    return text;
  };
  /** An answer as models write them: prose around a block. */
  const prose = (name: string): string =>
    `The report is about the lost cent.\n\n\`\`\`${patch(name).startsWith('diff --git') ? 'diff' : 'custom-diff'}\n` +
    `${patch(name).trimEnd()}\n\`\`\`\n\nThis fails now, and passes once it is solved.\n`;

  const serve = async (
    script: (asked: Asked, number: number) => Reply | Promise<Reply>,
  ): Promise<void> => {
    server = await fakeModels(script);
  };
  const newOut = (): string => join(folder.path, `out-${count++}`, 'predictions.jsonl');
  const args = (method: string, out: string, ...more: string[]): string[] => [
    ...['generate', '--method', method, '--model', 'openai-compatible/m', '--out', out],
    '--run-tests-locally',
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
    ...['--storage', sharedStorage(), '--base-url', server?.url ?? 'http://127.0.0.1:9/v1'],
    ...more,
  ];
  const generate = (method: string, out: string, ...more: string[]): Promise<Answer> =>
    cli(args(method, out, ...more));
  const rowsOf = async (out: string): Promise<Row[]> =>
    (await readFile(out, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  const traceOf = async (out: string): Promise<Record<string, unknown>[]> =>
    (await readFile(`${out}.trace.jsonl`, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const evaluate = async (out: string): Promise<Evaluation['results'][number]> => {
    const answer = await cli(onSample(sharedStorage(), out, '--json'));
    assert.equal(answer.status, 0, answer.stderr);
    const [result] = (JSON.parse(answer.stdout) as Evaluation).results;
    assert.ok(result);
    return result;
  };

  describe('leads to a resolved instance @full', () => {
    const answers: Record<string, (asked: Asked, number: number) => string> = {
      'zero-shot': () => prose('covers-some'),
      'zero-shot-plus': () => prose('custom-format'),
      'pass-at-5': (_, number) =>
        number === 3 ? prose('covers-everything') : prose('fails-on-both'),
      libro: (asked, number) =>
        isJudge(asked)
          ? `A sentence.\n\n${asked.text.includes('surplus_cent') ? 'NO' : 'YES'}`
          : prose(['passes-on-both', 'fails-on-both', 'custom-format'][number % 3] ?? ''),
    };
    for (const [method, script] of Object.entries(answers)) {
      for (const provider of ['openai-compatible', 'anthropic']) {
        it(`${method}, by ${provider}`, async () => {
          await serve((asked, number) => ({ text: script(asked, number) }));
          const out = newOut();
          const answer = await cli(
            args(method, out, '--model', `${provider}/m`, '--price', '2,8'),
            { ANTHROPIC_API_KEY: key },
          );
          assert.equal(answer.status, 0, answer.stderr);
          const [row] = await rowsOf(out);
          assert.equal(row?.instance_id, id);
          assert.equal(row.model_name_or_path, `${method}/${provider}/m`);
          assert.equal(row.requests, server?.asked.length);
          const paid = (2 * row.input_tokens + 8 * row.output_tokens) / 1e6;
          assert.ok(Math.abs((row.dollars ?? 0) - paid) < 1e-5);
          const result = await evaluate(out);
          assert.equal(result.resolved, true, row.why);
          assert.equal(result.strict?.success, true);
          const [judging, asking] = [true, false].map(
            (judge) => server?.asked.filter((asked) => isJudge(asked) === judge) ?? [],
          );
          const several = method === 'libro' || method === 'pass-at-5';
          assert.equal(asking?.length, several ? 5 : 1);
          assert.ok(asking.every(({ temperature }) => temperature === (several ? 0.7 : 0)));
          assert.equal(judging?.length, method === 'libro' ? 2 : 0);
        });
      }
    }

    it('from an answer in another format than the one that was asked for', async () => {
      await serve(() => ({ text: prose('covers-some') }));
      const out = newOut();
      assert.equal((await generate('ZeroShotPlus', out)).status, 0);
      assert.equal((await evaluate(out)).resolved, true);
    });

    it('after 429, 500 and dropped connections', async () => {
      const replies: Reply[] = [
        { status: 429, headers: { 'retry-after': '0' } },
        { status: 500 },
        { drop: 'within', text: prose('covers-some') },
      ];
      await serve((_, number) => replies[number - 1] ?? { text: prose('covers-some') });
      const out = newOut();
      const answer = await generate('zero-shot', out);
      assert.equal(answer.status, 0, answer.stderr);
      assert.equal(server?.asked.length, 4);
      assert.equal(
        (answer.stderr.match(/trying again|pausing all requests/g) ?? []).length,
        3,
        answer.stderr,
      );
      assert.equal((await evaluate(out)).resolved, true);
    });
  });

  describe('takes what a model says for what it is @full', () => {
    const answers: [string, Reply, RegExp][] = [
      ['a refusal in words', { text: 'I cannot help with that.' }, /I cannot help/],
      [
        'an answer that is cut off',
        {
          text: '```diff\n--- a/tests/test_money.py\n+++ b/tests/test_money.py\n@@ -60,3 +60,9 @@\n',
          finish: 'length',
        },
        /@@ -60/,
      ],
      [
        'a patch that does not apply',
        { text: 'diff\ntests/nothing.py\nrewrite\n1\ndef a(): pass\nend diff\n' },
        /nothing/,
      ],
      [
        'a patch that leaves the tree',
        { text: 'diff\n../out.py\ninsert\nEOF\ndef test_a(): pass\nend diff\n' },
        /out\.py/,
      ],
    ];
    for (const [what, reply, prediction] of answers) {
      it(what, async () => {
        await serve(() => reply);
        const out = newOut();
        const answer = await generate('zero-shot-plus', out);
        assert.equal(answer.status, 0, answer.stderr);
        const [row] = await rowsOf(out);
        assert.equal(row?.applies, false);
        assert.match(row.model_patch, prediction);
        const { strict } = await evaluate(out);
        assert.equal(strict?.reason, 'does not apply');
        assert.equal(server?.asked.length, 1);
      });
    }
  });

  describe('asks again where an answer says nothing', () => {
    const nothing: [string, Reply, RegExp][] = [
      ['an empty answer', { text: '' }, /the answer is empty/],
      ['a refusal of the server', { text: '', finish: 'refused' }, /the model refused to answer/],
      ['reasoning only', { text: '', reasoning: 9 }, /the answer contains only reasoning/],
      [
        'reasoning that fills the answer',
        { text: '<think>But wait', finish: 'length' },
        /went to reasoning: raise --max-output-tokens/,
      ],
      ['a tool call', { text: '', toolCall: true }, /the answer is empty/],
    ];
    for (const [what, reply, message] of isEveryday ? nothing.slice(0, 1) : nothing) {
      it(`${what}: three times, and at the next start`, async () => {
        await serve((_, number) => (number <= 4 ? reply : { text: prose('custom-format') }));
        const out = newOut();
        const failed = await generate('zero-shot-plus', out);
        assert.equal(failed.status, 1, failed.stderr);
        assert.match(failed.stderr, message);
        assert.equal(server?.asked.length, 3);
        assert.equal(existsSync(out), false);
        const answer = await generate('zero-shot-plus', out, '--price', '1,1');
        assert.equal(answer.status, 0, answer.stderr);
        assert.equal(server?.asked.length, 5);
        const [row] = await rowsOf(out);
        assert.equal(row?.requests, 5);
        assert.equal(row.empty_answers, 4);
        assert.match(answer.stdout, /retried: 4 empty answers/);
        const steps = (await traceOf(out)).filter(({ step }) => step === 'answer');
        assert.deepEqual(
          steps.map(({ attempt }) => attempt),
          [1, 2, 3, 4, 5],
        );
        assert.equal((await generate('zero-shot-plus', out, '--replay')).status, 0);
      });
    }

    it('and goes on without a sample that stays empty', async () => {
      await serve((_, number) => ({ text: number > 3 ? prose('passes-on-both') : '' }));
      const out = newOut();
      assert.equal(
        (await generate('libro', out, '--samples', '2', '--concurrency', '1')).status,
        0,
      );
      const [row] = await rowsOf(out);
      assert.deepEqual([row?.chosen_sample, row?.empty_answers], [2, 3]);
    });
  });

  describe('takes what a model says for what it is, with tests that run @full', () => {
    it('LIBRO has something to hand in, even when nothing fails on R', async () => {
      await serve((_, number) => ({ text: number === 2 ? prose('passes-on-both') : 'no' }));
      const out = newOut();
      assert.equal((await generate('libro', out)).status, 0);
      const [row] = await rowsOf(out);
      assert.equal(row?.applies, true);
      assert.match(row.why, /no answer fails on R/);
    });
  });

  it('has no answer where the server has none, says so, and asks again next time @full', async () => {
    await serve((_, number) => (number < 3 ? { status: 500 } : { text: prose('covers-some') }));
    const out = newOut();
    const failed = await generate('zero-shot', out, '--retries', '1', '--json');
    assert.equal(failed.status, 1);
    const document = JSON.parse(failed.stdout) as { failed: { error: string }[]; results: Row[] };
    assert.match(document.failed[0]?.error ?? '', /status 500/);
    assert.deepEqual(document.results, []);
    assert.equal(existsSync(out), false);
    assert.equal((await generate('zero-shot', out)).status, 0);
    assert.equal((await rowsOf(out)).length, 1);
  });

  it('asks for nothing that the trace has, and replays it without model, tests and repository @full', async () => {
    await serve((asked) => ({ text: isJudge(asked) ? 'YES' : prose('custom-format') }));
    const out = newOut();
    assert.equal((await generate('libro', out)).status, 0);
    const asked = server?.asked.length;
    const rows = await readFile(out, 'utf8');
    const trace = await readFile(`${out}.trace.jsonl`, 'utf8');
    assert.equal((await generate('libro', out)).status, 0);
    assert.equal(server?.asked.length, asked);
    await server?.close();
    await rm(out);
    const replay = await cli([
      ...['generate', '--method', 'libro', '--model', 'openai-compatible/m', '--out', out],
      ...['--dataset', join(sample, 'instance.jsonl'), '--storage', join(folder.path, 'other')],
      ...['--source', join(folder.path, 'gone'), '--replay'],
    ]);
    assert.equal(replay.status, 0, replay.stderr);
    assert.equal(await readFile(out, 'utf8'), rows);
    assert.equal(await readFile(`${out}.trace.jsonl`, 'utf8'), trace);
    const more = await cli(args('libro', out, '--replay', '--samples', '6'));
    assert.equal(more.status, 1);
    assert.match(more.stderr, /the trace has no answer/);
  });

  it('has one line for each step: prompt, answer, patch, outcomes on R, choice', async () => {
    await serve((asked) => ({ text: isJudge(asked) ? 'YES' : prose('custom-format') }));
    const out = newOut();
    await generate('libro', out, '--samples', '2');
    const steps = await traceOf(out);
    const kinds = steps.map(({ step }) => step);
    assert.deepEqual(
      ['tree', 'prompt', 'answer', 'patch', 'run', 'choice'].map((kind) => kinds.includes(kind)),
      Array(6).fill(true),
    );
    const prompt = steps.find(({ step }) => step === 'prompt');
    const answers = steps.filter(({ step }) => step === 'answer');
    assert.equal(answers.length, 2);
    for (const answer of answers) assert.equal(answer['prompt'], prompt?.['prompt']);
    // Both are read at the same time, in either order.
    assert.deepEqual(
      steps.flatMap(({ step, answer }) => (step === 'patch' ? [answer] : [])).sort(),
      answers.map(({ key: keyOfAnswer }) => keyOfAnswer).sort(),
    );
    assert.ok((prompt?.['files'] as string[] | undefined)?.includes('tests/test_money.py'));
    const run = steps.find(({ step }) => step === 'run');
    // What unittest calls an error, where the code under test throws, is a failure for pytest.
    const tests = (run?.['tests'] ?? []) as { outcome: string }[];
    const outcomes = tests.map(({ outcome }) => outcome);
    assert.ok(outcomes.length > 0 && outcomes.every((each) => /^(failed|error)$/.test(each)));
  });

  it('keeps to the tokens of a prompt', async () => {
    await serve(() => ({ text: 'words' }));
    const out = newOut();
    await generate('zero-shot', out, '--context-tokens', '3000');
    const prompt = (await traceOf(out)).find(({ step }) => step === 'prompt');
    assert.ok((prompt?.['tokens'] as number) <= 3000);
    assert.notEqual((prompt?.['files'] as string[] | undefined)?.length ?? 0, 0);
  });

  it('stops at its budget without going beyond it, and goes on with a greater one @full', async () => {
    await serve(() => ({ text: prose('custom-format') }));
    const out = newOut();
    const limited = ['--max-output-tokens', '500', '--concurrency', '5', '--price', '1,1'];
    const stopped = await generate('pass-at-5', out, ...limited, '--budget-tokens', '18000');
    assert.equal(stopped.status, 1, stopped.stderr);
    assert.match(stopped.stderr, /the budget of 18000 tokens is too small for the next request/);
    const first = server?.asked.length ?? 0;
    assert.ok(first > 0 && first < 5, String(first));
    const again = await generate('pass-at-5', out, ...limited, '--budget', '0.018');
    assert.equal(again.status, 1, again.stderr);
    assert.equal(server?.asked.length, first);
    assert.equal(
      (await generate('pass-at-5', out, ...limited, '--budget-tokens', '99999')).status,
      0,
    );
    assert.equal(server?.asked.length, 5);
  });

  it('shows its key to the provider alone', async () => {
    await serve((_, number) =>
      number === 1 ? { status: 400, error: `bad key ${key}` } : { text: prose('covers-some') },
    );
    const out = newOut();
    const texts: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      const answer = await cli(args('zero-shot', out, '--model', 'anthropic/m', '--json'), {
        ANTHROPIC_API_KEY: key,
      });
      assert.equal(answer.status, 1 - time, answer.stderr);
      texts.push(answer.stdout, answer.stderr);
    }
    assert.equal(server?.asked[1]?.headers['x-api-key'], key);
    texts.push(await readFile(out, 'utf8'), await readFile(`${out}.trace.jsonl`, 'utf8'));
    for (const text of texts) assert.equal(text.includes(key), false);
  });

  it('ends at once when no request will be answered: one line, exit status 2', async () => {
    await serve(() => ({ status: 401, error: 'invalid x-api-key' }));
    const answer = await generate('zero-shot', newOut());
    assert.equal(answer.status, 2);
    assert.match(answer.stderr, /status 401: invalid x-api-key/);
    assert.match(answer.stderr, /environment variable/);
  });

  it('keeps what a predictions file has of others, and writes over nothing else', async () => {
    await serve(() => ({ text: prose('covers-some') }));
    const out = newOut();
    await generate('zero-shot', out);
    const mine = { instance_id: id, model_name_or_path: 'by hand', model_patch: '', note: 'n' };
    await writeFile(out, `${JSON.stringify(mine)}\n${await readFile(out, 'utf8')}`);
    await generate('zero-shot', out, '--name', 'again');
    const rows = await rowsOf(out);
    assert.deepEqual(rows[0], mine);
    assert.deepEqual(
      rows.map((row) => row.model_name_or_path),
      ['by hand', 'zero-shot/openai-compatible/m', 'again'],
    );
    await writeFile(out, 'my notes\n');
    const refused = await generate('zero-shot', out);
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /predictions\.jsonl:1 is not a prediction/);
    assert.equal(await readFile(out, 'utf8'), 'my notes\n');
  });

  it('runs nothing that a model wrote on this machine unless it is allowed', async () => {
    await serve(() => ({ text: prose('covers-some') }));
    const without = (method: string, out: string): string[] =>
      args(method, out).filter((each) => each !== '--run-tests-locally');
    for (const [method, title] of [
      ['libro', 'LIBRO'],
      ['pass-at-5', 'Pass@5'],
    ] as const) {
      const out = newOut();
      const answer = await cli(without(method, out));
      assert.equal(answer.status, 2);
      assert.equal(answer.stdout, '');
      assert.match(
        answer.stderr,
        new RegExp(
          `^swt-bench: ${title} runs tests that the model writes. With the local engine, model-written code runs with your permissions.*` +
            'Add --engine docker, or --run-tests-locally .*, or choose zero-shot or zero-shot-plus.*\n$',
        ),
      );
      await assert.rejects(readFile(`${out}.trace.jsonl`), /ENOENT/);
    }
    // The refusal comes before any paid request to the model.
    assert.equal(server?.asked.length, 0);
    for (const method of isEveryday ? ['zero-shot'] : ['zero-shot', 'zero-shot-plus']) {
      const answer = await cli(without(method, newOut()));
      assert.equal(answer.status, 0, answer.stderr);
    }
  });

  const wrong: [string, string[], RegExp][] = [
    [
      'an unknown method',
      ['--method', 'agent'],
      /There is no method named "agent"\. Use one of zero-shot/,
    ],
    ['an unknown provider', ['--model', 'mistral/m'], /PROVIDER\/NAME/],
    ['a missing key', ['--model', 'openai/m'], /OPENAI_API_KEY/],
    ['dollars without a price', ['--budget', '1'], /--price/],
    ['an instance’s dollars without a price', ['--instance-budget', '1'], /--price/],
    ['a body that is no field', ['--body', 'seed'], /KEY=JSON/],
    ['a body that is no JSON', ['--body', 'seed={'], /KEY=JSON/],
    ['a body that the method has', ['--body', 'messages=[]'], /"messages"/],
    ['a header that is none', ['--header', 'x'], /NAME=VALUE/],
    ['a share that is none', ['--top-p', '2'], /from 0 to 1/],
    ['a price that is none', ['--price', '1'], /two to four numbers/],
    ['several answers of ZeroShot', ['--samples', '5'], /--samples/],
    ['a temperature that is none', ['--temperature', 'warm'], /from 0 to 2/],
    ['an unknown instance', ['--ids', 'octo__cat-1'], /octo__cat-1/],
    ['a replay of nothing', ['--replay'], /trace .* cannot be read/],
    ['an option of another engine', ['--memory', '4g'], /docker/],
  ];
  it('refuses an address of the environment that is none, without showing it', async () => {
    const of = args('zero-shot', newOut(), '--model', 'openai/m');
    const at = of.indexOf('--base-url');
    const answer = await cli(of.toSpliced(at, 2), {
      ...{ OPENAI_API_KEY: 'sk-any-key', OPENAI_BASE_URL: 'ftp://user:secret@host' },
    });
    assert.equal(answer.status, 2);
    assert.match(
      answer.stderr,
      /^swt-bench: The environment variable OPENAI_BASE_URL is not a valid URL/,
    );
    assert.doesNotMatch(answer.stderr, /secret/);
  });
  for (const [what, more, message] of wrong) {
    it(`refuses ${what}`, async () => {
      const answer = await cli(args('zero-shot', newOut(), ...more));
      assert.equal(answer.status, 2, answer.stderr);
      assert.match(answer.stderr, message);
      assert.equal(answer.stdout, '');
    });
  }
});
