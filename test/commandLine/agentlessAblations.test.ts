import { studyReportSchema } from '../../src/study/studyReportSchema';
import { agentlessAnswer, stageOf } from './agentlessScript';
import { cli, root, scratch } from './cli';
import { type Asked, type FakeModels, fakeModels } from './fakeModels';
import { codeBlocks, paste } from './pastedCommands';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A right solution: no cent is lost, and those left over go to the greatest remainders. */
const solution = [
  '```python',
  '### tallybook/money.py',
  '<<<<<<< SEARCH',
  '            shares.append(round(self.cents * weight / total))',
  '        missing = self.cents - sum(shares)',
  '        for index in range(missing):',
  '=======',
  '            if not isinstance(weight, int):',
  '                raise TypeError(f"weights must be whole numbers, not {weight!r}")',
  '            shares.append(abs(self.cents) * weight // total)',
  '        if self.is_negative():',
  '            return [-part for part in (-self).allocate(weights)]',
  '        lost = [self.cents * weight % total for weight in weights]',
  '        left_over = self.cents - sum(shares)',
  '        for index in sorted(range(len(shares)), key=lambda at: -lost[at])[:left_over]:',
  '>>>>>>> REPLACE',
  '```',
].join('\n');

describe('the ablations of docs/repair.md', () => {
  const folder = scratch();
  let gateway: FakeModels;
  let sets = 0;
  const answerTo = (asked: Asked): string => {
    const stage = stageOf(asked);
    if (stage === 'files') return '```\ntallybook/expense.py\ntallybook/money.py\n```';
    if (stage === 'repair' && asked.temperature !== 0) return solution;
    return agentlessAnswer(asked, stage === 'locations' ? sets++ : 0);
  };
  before(async () => {
    gateway = await fakeModels((asked) => ({ text: answerTo(asked) }));
  });
  after(() => gateway.close());

  it('come from repair, evaluate and report, pasted as they stand @full', async () => {
    const page = await readFile(join(root, 'docs', 'repair.md'), 'utf8');
    const block = codeBlocks(page, 'sh').find((each) => each.includes('report results')) ?? '';
    const printed = await paste(block, { cwd: folder.path, gateway });
    const report = printed.slice(printed.indexOf('Code repair in %'));
    const rowOf = (...cells: string[]): RegExp =>
      new RegExp(`^agentless +openai/gpt-4o +1 +${cells.join(' +')}$`, 'm');
    const [all, none] = ['100\\.0 \\(1\\)', '0\\.0 \\(0\\)'];
    assert.match(report, rowOf('files, by the model', '1', all, all, all, '\\d+', '0\\.0\\d'));
    assert.match(report, rowOf('related elements', '1', all, all, all, '\\d+', '0\\.0\\d'));
    assert.match(report, rowOf('edit locations', '1', all, all, all, '\\d+', '0\\.0\\d'));
    assert.match(report, /edit locations, set 4/);
    // The first sample of each set is greedy, and wrong.
    assert.match(report, rowOf('1', none, none, none));
    assert.match(report, rowOf('4', none, none, none));
    for (const samples of ['10', '20', '40']) assert.match(report, rowOf(samples, all, all, all));
    assert.match(report, rowOf('votes', all, all, '0\\.00'));
    assert.match(report, rowOf('\\+ both', all, all, '0\\.\\d\\d'));

    const asJson = await cli(['report', join(folder.path, 'results'), '--format', 'json']);
    assert.equal(asJson.status, 0, asJson.stderr);
    const { agentless = [], repairRates = [] } = studyReportSchema
      .strict()
      .parse(JSON.parse(asJson.stdout));
    const [of] = agentless;
    assert.deepEqual(
      of?.selection.map(({ by }) => by),
      ['votes', 'regression', 'reproduction', 'both'],
    );
    const lines = new Map(
      of?.localisation.map((row) => [`${row.step} ${row.set ?? ''}`, row.lines]),
    );
    const [files = 0, elements = 0, merged = 0] = ['files ', 'elements ', 'locations '].map(
      (name) => lines.get(name),
    );
    assert.ok(files > elements && elements >= merged && merged > 0, JSON.stringify([...lines]));
    // Table 1 has the costs of the prediction, and all samples as an oracle.
    assert.deepEqual(
      repairRates.map(({ samples, dollars }) => [samples, dollars?.known]),
      [
        [1, 1],
        [40, 1],
      ],
    );
    const csv = await cli(['report', join(folder.path, 'results'), '--format', 'csv']);
    assert.match(csv.stdout, /samples_any_oracle: first 40/);
  });
});
