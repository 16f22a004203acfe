import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HumanError } from '../../../src/domain/work';
import {
  asOfLeastDay,
  NoSolution,
  saysNoSolution,
} from '../../../src/environments/plan/packageDay';
import { remarkOnDay } from '../../../src/engine/engine';

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

describe('the day as of which packages are taken', () => {
  /** Resolves as a registry does in which the last package that is needed appeared on a day. */
  const registry =
    (appeared: string, asked: (string | undefined)[] = []) =>
    (day?: string) => {
      asked.push(day);
      return day === undefined || day >= appeared
        ? Promise.resolve(`as of ${day}`)
        : Promise.reject(new NoSolution(`none on ${day}`));
    };

  it('is the day of the instance where that has a solution, which is asked once', async () => {
    const asked: (string | undefined)[] = [];
    const { answer, moved } = await asOfLeastDay(
      '2021-03-01',
      '2026-01-01',
      registry('2020-05-05', asked),
    );
    assert.deepEqual([answer, moved, asked], ['as of 2021-03-01', undefined, ['2021-03-01']]);
    assert.equal(remarkOnDay(moved), undefined);
  });

  it('moves to exactly the day on which a solution appears', async () => {
    const days = fc.integer({ min: 1, max: 3000 });
    await fc.assert(
      fc.asyncProperty(days, async (days) => {
        const wanted = '2017-02-27';
        const appeared = dayAfter(wanted, days);
        const found = await asOfLeastDay(wanted, '2026-01-01', registry(appeared));
        assert.deepEqual(found, {
          answer: `as of ${appeared}`,
          moved: { wanted, taken: appeared },
        });
      }),
    );
  });

  it('does not move when no day has a solution, and the error is that of the day itself', async () => {
    const asked: (string | undefined)[] = [];
    const none = asOfLeastDay('2025-12-01', '2026-01-01', registry('2027-01-01', asked));
    await assert.rejects(none, { message: 'none on 2025-12-01' });
    assert.deepEqual(asked, ['2025-12-01', '2025-12-08', '2025-12-31', '2026-01-01']);
  });

  it('does not move for another failure', async () => {
    const asked: (string | undefined)[] = [];
    const failing = asOfLeastDay('2020-01-01', '2026-01-01', (day) => {
      asked.push(day);
      return Promise.reject(new HumanError('the index cannot be reached'));
    });
    await assert.rejects(failing, /cannot be reached/);
    assert.equal(asked.length, 1);
  });

  it('passes over later days on which a package cannot be built', async () => {
    const found = await asOfLeastDay('2020-01-01', '2026-01-01', (day = '') => {
      if (day < '2020-02-01') return Promise.reject(new NoSolution('none'));
      return day < '2020-03-01'
        ? Promise.reject(new HumanError('does not build'))
        : Promise.resolve(day);
    });
    assert.equal(found.answer, '2020-03-01');
    assert.equal(
      remarkOnDay(found.moved),
      "packages are from 2020-03-01 instead of 2020-01-01: no earlier packages satisfy R's requirements",
    );
  });

  it('is moved for what uv says, and not for a failed build', () => {
    const said =
      '  × No solution found when resolving dependencies:\n  ╰─▶ Because only asgiref<=3.2.10 is available';
    assert.equal(saysNoSolution(said), true);
    assert.equal(saysNoSolution('  × Failed to build `x==1`'), false);
  });
});
