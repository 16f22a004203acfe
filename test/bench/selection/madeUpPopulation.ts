import {
  failingWrongTests,
  ratesOfInstance,
  type PopulationSize,
  type PublishedRates,
} from './publishedRates';
import type { Drawn } from './selectionRules';

/** Of wrong tests that fail on R, the share that fails with every fix. */
const broken = 0.5;
/** Share of wrong fixes that a right test accepts. */
const accepted = 0.3;

/**
 * Draws tests and fixes of an instance that does not exist. What wrong tests have in common with
 * wrong fixes is not published, so that it is given.
 *
 * @param misread share of wrong tests and of wrong fixes that follow one wrong reading of the issue
 */
export function madeUpPopulation(
  rates: PublishedRates,
  misread: number,
  size: PopulationSize,
  random: () => number,
): Drawn {
  const chance = (share: number): boolean => random() < share;
  const rate = ratesOfInstance(rates, random);
  const fixes = Array.from({ length: size.fixes }, () => {
    const isRight = chance(rate.fixes);
    return { isRight, isMisread: !isRight && chance(misread) };
  });
  const candidates = Array.from({ length: size.tests }, () => {
    const isRight = chance(rate.tests);
    const isMisread = !isRight && chance(misread);
    const fails = isRight || isMisread || chance(failingWrongTests);
    const isBroken = !isRight && !isMisread && chance(broken);
    const accepts = fixes.map((fix) => {
      if (!fails || isBroken) return false;
      if (isRight) return fix.isRight || chance(accepted);
      // A test that misreads the issue accepts fixes that misread it, others what they like.
      return isMisread ? fix.isMisread : chance(accepted);
    });
    return { isRight, applies: true, fails, accepts, tests: 1 };
  });
  return { candidates };
}
