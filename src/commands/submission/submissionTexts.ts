import { stringify } from 'yaml';
import { name as productName, version as productVersion } from '../../../package.json';
import { asLabel } from '../../domain/text';
import type { RunData, RunEntry } from '../../study/entry';

/** A candidate of a submission, and what is kept of it. */
export interface Submitted {
  readonly entry: RunEntry;
  readonly patch: string | undefined;
  readonly hasLogs: boolean;
  readonly hasTrajectory: boolean;
}

interface Submission {
  readonly run: RunData;
  readonly submitted: readonly Submitted[];
}

/** Under harness grading, which leaderboards compare. */
const isResolved = ({ entry }: Submitted): boolean => entry.harness?.resolved === true;

const idsOf = (submitted: readonly Submitted[]): string[] =>
  submitted.map(({ entry }) => entry.instance).sort();

/** `metadata.yaml` as the leaderboard of SWE-bench asks for it. What only the user knows is empty. */
export function metadataYaml({ submitted }: Submission): string {
  const name = submitted[0]?.entry.model ?? 'unnamed';
  const [, model = name] = /^[^/]+\/(.+)$/.exec(name) ?? [];
  return stringify({
    info: { name, report: null, authors: null, site: null, logo: null },
    tags: {
      checked: false,
      model: [model],
      org: [],
      os_model: false,
      os_system: false,
      system: { attempts: '1' },
    },
  });
}

/** The files of `results/`, as SWE-bench's `analysis.get_results` makes them. */
export function resultFiles(submission: Submission): readonly (readonly [string, object])[] {
  const { submitted } = submission;
  return [
    [
      'results.json',
      {
        resolved: idsOf(submitted.filter(isResolved)),
        no_generation: idsOf(submitted.filter(({ patch = '' }) => patch.trim() === '')),
        no_logs: idsOf(submitted.filter(({ hasLogs }) => !hasLogs)),
      },
    ],
    ['resolved_by_repo.json', groupsOf(submission, ({ repo }) => repo)],
    ['resolved_by_time.json', groupsOf(submission, ({ created }) => created.slice(0, 4))],
  ];
}

/** How many of all instances of each group are resolved. */
function groupsOf(
  { run, submitted }: Submission,
  groupOf: (facts: RunData['instances'][number]) => string,
): Record<string, { resolved: number; total: number }> {
  const resolved = new Set(idsOf(submitted.filter(isResolved)));
  const groups = new Map<string, { resolved: number; total: number }>();
  for (const facts of run.instances) {
    const group = groupOf(facts) || 'unknown';
    const { resolved: before, total } = groups.get(group) ?? { resolved: 0, total: 0 };
    groups.set(group, { resolved: before + Number(resolved.has(facts.id)), total: total + 1 });
  }
  return Object.fromEntries([...groups].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** @param missing what the leaderboard asks for and the folder lacks */
export function readmeOf(submission: Submission, missing: readonly string[]): string {
  const { run, submitted } = submission;
  const name = asLabel(submitted[0]?.entry.model ?? 'unnamed').replace(/[`<>[\]]/g, '');
  const all = run.instances.length;
  const resolved = submitted.filter(isResolved).length;
  const successes = submitted.filter(({ entry }) => entry.success).length;
  const share = (count: number): string =>
    all === 0 ? '–' : `${count} of ${all} (${((100 * count) / all).toFixed(2)} %)`;
  return `${[
    `# ${name}`,
    '',
    `Tests for SWT-Bench, run and graded by ${productName} ${productVersion}.`,
    '',
    `- Resolved under the grading of the reference harness: ${share(resolved)}`,
    `- Success under the definitions of the paper: ${share(successes)}`,
    '',
    '`logs/ID/report.json` has the harness grading at its top and the strict one under `strict`. `test_output.txt` is what the tests printed on R∘X\\*, `test_output_pre.txt` on R.',
    '',
    '## Before you submit',
    '',
    ...missing.map((each) => `- [ ] ${each}`),
    '- [ ] `metadata.yaml` has report, authors, site and org.',
    '- [ ] The system makes one attempt for each instance.',
    '- [ ] It does not use FAIL_TO_PASS, PASS_TO_PASS, the golden patch or the golden tests.',
    '- [ ] It does not use the hints.',
    '- [ ] It cannot look up solutions on the web.',
    '- [ ] For SWT-Bench: the name, `preds.jsonl`, the rates above, and links to the project and to the trajectories go by e-mail, as the README of logic-star-ai/swt-bench says.',
  ].join('\n')}\n`;
}
