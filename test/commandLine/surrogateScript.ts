import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeUnified } from '../../src/patch/makeUnified';
import { sample } from './cli';
import type { Asked } from './fakeModels';

const path = 'tallybook/money.py';
const rounded = 'shares.append(round(self.cents * weight / total))';

const fenced = (text: string): string => `Some thoughts.\n\n\`\`\`diff\n${text}\`\`\`\n`;

/** A fix of the bundled instance, as a model writes it: the line that rounds becomes another. */
export async function surrogateFix(line: string): Promise<string> {
  const before = await readFile(join(sample, 'repository', path), 'utf8');
  return fenced(makeUnified([{ path, before, after: before.replace(rounded, line) }]));
}

/** Right for whole cents, as far as the issue tells. */
export const rightFix = 'shares.append(self.cents * weight // total)';
/** Gives away more than there is. */
export const wrongFix = 'shares.append(-(-self.cents * weight // total))';

/** Tests of the bundled instance, as a model writes them. */
export const surrogateTests = (name: string, ...lines: readonly string[]): string =>
  fenced(
    makeUnified([
      {
        path: `tests/test_${name}.py`,
        before: undefined,
        after: [
          'import unittest',
          '',
          'from tallybook.money import Money',
          '',
          '',
          'class SharesTest(unittest.TestCase):',
          `    def test_${name}(self):`,
          ...lines.map((line) => `        ${line}`),
          '',
        ].join('\n'),
      },
    ]),
  );

/** Whether a request is for a fix, for a refinement of candidates, or for a candidate. */
export function kindOfRequest({ text }: Pick<Asked, 'text'>): 'fix' | 'refinement' | 'tests' {
  if (text.includes('resolves reported issues with small changes')) return 'fix';
  return text.includes('The following candidates fail') ? 'refinement' : 'tests';
}
