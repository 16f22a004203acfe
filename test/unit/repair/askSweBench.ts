import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { environment } from '../../environments';
import type { GradedCase, GradingCase } from './sweBenchCases';

/** Grades cases, and makes the summary of a run, with SWE-bench's own code. */
export type AskSweBench = (
  cases: readonly GradingCase[],
  summary?: object,
) => { readonly cases: readonly GradedCase[]; readonly summary?: object };

/** SWE-bench from the package registry. Skips the test, with the cause, where it cannot be had. */
export async function askSweBench(test: Mocha.Context): Promise<AskSweBench> {
  const folder = await environment(test, 'python3', ['--no-deps', 'swebench==5.0.2']);
  return (cases, summary) =>
    JSON.parse(
      execFileSync(join(folder, 'bin', 'python'), [join(__dirname, 'gradeBySweBench.py')], {
        input: JSON.stringify({ cases, summary }),
        env: { ...process.env, PYTHONUTF8: '1' },
        maxBuffer: 1 << 28,
      }).toString(),
    ) as ReturnType<AskSweBench>;
}
