import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silent } from '../../../../src/domain/work';
import {
  rankingsOf,
  rankRepairs,
  defaultRanking,
  type RankingSettings,
} from '../../../../src/method/agentless/rankRepairs';
import type { ReproductionAnswer } from '../../../../src/domain/ranking';
import type { MethodCandidate } from '../../../../src/method/method';
import { budgetOf } from '../../../../src/method/models/budget';
import type { ChatModel } from '../../../../src/method/models/chatModel';
import { Steps } from '../../../../src/method/steps/steps';
import { openTrace, type MethodTrace } from '../../../../src/method/trace';
import { makeUnified } from '../../../../src/patch/makeUnified';
import { viewForTests } from '../sampleView';

const script = `from tallybook import Money

total = sum(part.cents for part in Money(2000).allocate([1, 1, 1]))
print("Issue resolved" if total == 2000 else "Issue reproduced")
`;

/** Edits of money.py, as text and what replaces it. */
const edits = {
  rounding: ['missing = self.cents - sum(shares)', 'missing = abs(self.cents - sum(shares))'],
  comment: [
    'missing = self.cents - sum(shares)',
    'missing = abs(self.cents - sum(shares))  # no sign',
  ],
  nothing: ['total = sum(weights)', 'total = sum(list(weights))'],
  breaking: ['"""Tell whether the amount is below zero."""\n        return', 'return not'],
  right: [
    'for index in range(missing):\n            shares[index] += 1',
    'for index in range(abs(missing)):\n            shares[index] += 1 if missing > 0 else -1',
  ],
  hostile: ['import functools', 'import os; os._exit(0)\nimport functools'],
} as const;

describe('ranked repairs', function () {
  const sample = viewForTests();
  let folder: string;
  let trace: MethodTrace;
  let asked: string[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-ranked-'));
  });
  after(async () => {
    await trace.close();
    await rm(folder, { recursive: true, force: true });
  });

  const model: ChatModel = {
    name: 'm',
    complete: ({ messages }) => {
      const text = messages.at(-1)?.content ?? '';
      asked.push(text);
      const isScript = text.includes('Issue reproduced');
      return Promise.resolve({
        ...{ finish: 'stop', inputTokens: 1, outputTokens: 1 },
        text: isScript
          ? `\`\`\`python\n${script}\`\`\``
          : '<exclude>\ntests/test_money.py::ParseTest::test_sign\n</exclude>',
      });
    },
  };

  const openSteps = async (signal?: AbortSignal): Promise<Steps> => {
    trace = await openTrace(join(folder, 'trace.jsonl'), {
      readOnly: false,
      told: () => undefined,
    });
    const now = <T>(work: () => Promise<T>): Promise<T> => work();
    const { repo, issue } = sample.view;
    return new Steps({
      ...{ instance: { id: 'i', repo, issue }, model: 'm', trace, budget: budgetOf({}) },
      live: {
        ...{ model, view: () => Promise.resolve(sample.view), runs: 2 },
        oracle: () => Promise.reject(new Error('there is no oracle here')),
        ...{ inTurn: now, inEmbedding: now, inSandbox: now, inBuilding: now },
      },
      ...{ price: undefined, storage: sample.storage, contextTokens: 9999, maxOutputTokens: 99 },
      ...{ testsOnly: false, engine: 'local', timeoutSeconds: 60, signal, reporter: silent },
    });
  };

  const candidate = async (number: number, name: keyof typeof edits): Promise<MethodCandidate> => {
    const before = (await sample.view.tree.read('tallybook/money.py')) ?? '';
    const [from, to] = edits[name];
    const after = before.replace(from, to);
    assert.notEqual(after, before, name);
    const of = { key: name, at: '', instance: 'i' };
    return {
      sample: number,
      answer: { ...of, step: 'answer', text: name } as MethodCandidate['answer'],
      patch: {
        ...{ ...of, step: 'patch', applies: true, ownTests: [], diagnostics: [] },
        patch: makeUnified([{ path: 'tallybook/money.py', before, after }]),
      },
    };
  };
  const settings: RankingSettings = {
    ...defaultRanking,
    reproductionSamples: 2,
  };

  it('are those that break the fewest tests, then the resolving one, then the most frequent', async () => {
    const names = ['breaking', 'nothing', 'rounding', 'hostile', 'comment', 'right'] as const;
    const candidates = await Promise.all(names.map((name, at) => candidate(at + 1, name)));
    const none = { ...(await candidate(7, 'right')) };
    const failed = { ...none, patch: { ...none.patch, applies: false, patch: '' } };
    const all = [...candidates, failed];
    const rank = async () => rankRepairs(await openSteps(), all, ['tallybook/money.py'], settings);
    const { candidates: ranked, why } = await rank();
    assert.deepEqual(
      ranked.map(({ sample }) => sample),
      [6, 3, 5, 2, 1, 4, 7],
    );
    const [first, second, , , breaking, hostile, last] = ranked.map(({ ranking }) => ranking);
    assert.deepEqual(first, {
      ...{ rank: 1, votes: 1, group: 6, regressions: [] },
      reproduction: 'Issue resolved',
    });
    assert.deepEqual([second?.votes, second?.reproduction], [2, 'Issue reproduced']);
    assert.ok(breaking?.regressions?.some((test) => test.includes('test_difference_and_sign')));
    assert.ok((hostile?.regressions?.length ?? 0) > 20, 'tests that a patch keeps from running');
    assert.equal(hostile?.reproduction, 'none');
    assert.equal(last, undefined);
    assert.match(
      why,
      /^breaks no regression test; the reproduction script prints "Issue resolved"; 1 of 7/,
    );
    assert.ok(
      !ranked.some(({ ranking }) =>
        ranking?.regressions?.some((each) => each.includes('test_sign')),
      ),
    );
    // Nothing is asked or run again.
    await trace.close();
    const lines = await readFile(join(folder, 'trace.jsonl'), 'utf8');
    const requests = asked.length;
    assert.equal(requests, 3);
    assert.deepEqual(await rank(), { candidates: ranked, why });
    assert.equal(asked.length, requests);
    await trace.close();
    assert.equal(await readFile(join(folder, 'trace.jsonl'), 'utf8'), lines);
    const stages = lines
      .split('\n')
      .filter((line) => line.includes('"stage":"regression tests with'));
    assert.equal(stages.length, 5, 'the same patch runs once');
  });

  it('need no tests: then the most frequent is first', async () => {
    asked = [];
    const names = ['nothing', 'rounding', 'comment'] as const;
    const candidates = await Promise.all(names.map((name, at) => candidate(at + 1, name)));
    const { candidates: ranked, why } = await rankRepairs(await openSteps(), candidates, [], {
      regression: 'none',
      regressionFiles: 10,
      reproductionSamples: 0,
    });
    assert.deepEqual(
      ranked.map(({ sample, ranking }) => [sample, ranking]),
      [
        [2, { rank: 1, votes: 2, group: 2 }],
        [3, { rank: 2, votes: 2, group: 2 }],
        [1, { rank: 3, votes: 1, group: 1 }],
      ],
    );
    assert.equal(why, '2 of 3 samples equal this patch');
    assert.deepEqual(asked, []);
  });

  it('are in the order of a second implementation that filters step by step', () => {
    let seed = 7;
    const below = (most: number): number => (seed = (seed * 48271) % 2147483647) % most;
    const said: readonly ReproductionAnswer[] = ['Issue resolved', 'Issue reproduced', 'none'];
    for (let round = 0; round < 300; round += 1) {
      const groups = Array.from({ length: 3 }, () => ({
        regressions: Array.from({ length: below(2) }, (_, at) => `t${at}`),
        reproduction: said[below(3)] ?? 'none',
      }));
      const runs = Array.from({ length: 1 + below(7) }, (_, at) => {
        const digest = below(3);
        return { digest: `${digest}`, sample: at + 1, ...(groups[digest] as (typeof groups)[0]) };
      });
      // The choice of the paper: filters, then a vote.
      const fewest = Math.min(...runs.map(({ regressions }) => regressions.length));
      let left = runs.filter(({ regressions }) => regressions.length === fewest);
      const resolved = left.filter(({ reproduction }) => reproduction === 'Issue resolved');
      if (resolved.length > 0) left = resolved;
      const votesOf = (digest: string): number =>
        left.filter((each) => each.digest === digest).length;
      const most = Math.max(...left.map(({ digest }) => votesOf(digest)));
      const chosen = left.find(({ digest }) => votesOf(digest) === most);
      const ranks = rankingsOf(runs).map(({ rank }) => rank);
      assert.equal(runs[ranks.indexOf(1)]?.sample, chosen?.sample, JSON.stringify(runs));
      assert.deepEqual(
        [...ranks].sort((one, other) => one - other),
        runs.map((_, at) => at + 1),
      );
    }
  });
});
