import * as vscode from 'vscode';
import { z } from 'zod';
import { shortFindings } from '../../domain/finding';
import { transitions } from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import type { Reporter } from '../../domain/work';
import type { CandidateResult } from '../../evaluation/candidateResult';
import { findingSchema } from '../../study/entrySchema';
import { patchDigest } from '../instance/edits';
import { withNotification } from '../shell/progress';
import { rowDigest } from '../verdict/storedEvaluation';
import type { InstanceSource, Revealing, TestsOfInstance } from '../instance/instanceRoles';
import { refuseUntrusted } from '../shell/workspaceTrust';

/** What R∘X* and X* reveal about a candidate. The developer may see it, no model may. */
const gradeSchema = z.object({
  success: z.boolean(),
  reason: z.string(),
  /** Transitions of the candidate's own tests. */
  transitions: z.array(z.object({ test: z.string(), transition: z.enum(transitions) })),
  /**
   * Number of executable changed lines, and of the newly covered ones; null where ΔC is undefined
   * or unknown.
   */
  coverage: z.object({ covered: z.number(), executable: z.number() }).nullable(),
  findings: z.array(findingSchema),
});

export type Grade = z.infer<typeof gradeSchema>;

const storedSchema = z.object({ grounds: z.string(), grades: z.record(z.string(), gradeSchema) });

/** Maximum number of grades that are stored. */
const most = 200;

/**
 * Grades of candidates, which the developer may see and a model may not. A grade is shown when the
 * person asks for it, or for all candidates while the golden patch is revealed.
 */
export class Knowledge implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private grades: Record<string, Grade> = {};
  private readonly asked = new Set<string>();
  private grounds = '';

  constructor(
    private readonly memory: vscode.Memento,
    private readonly open: InstanceSource & Revealing & TestsOfInstance,
    private readonly version: string,
    private readonly reporter: Reporter,
  ) {}

  /** Reads back what earlier windows stored, if it is about the same row and rules. */
  async load(): Promise<void> {
    // Finding the row may mean reading a large dataset.
    if (this.memory.get(key) !== undefined) await this.readBack();
  }

  private async readBack(): Promise<void> {
    this.grounds = `${this.version} ${rowDigest(await this.open.instance())}`;
    const kept = storedSchema.safeParse(this.memory.get(key));
    if (kept.success && kept.data.grounds === this.grounds) this.grades = kept.data.grades;
  }

  /** The grade of a patch; undefined when it was not run on both sides. */
  gradeOf(patch: string): Grade | undefined {
    return this.grades[patchDigest(patch)];
  }

  isShown(patch: string): boolean {
    return this.open.revealed || this.asked.has(patchDigest(patch));
  }

  /**
   * Shows the grade of a candidate, and runs the candidate on both sides if it has no grade.
   *
   * @throws HumanError
   */
  async show(patch: string, title: string): Promise<void> {
    if (this.gradeOf(patch) === undefined) {
      refuseUntrusted();
      if (this.grounds === '') await this.readBack();
      const result = await withNotification(title, this.reporter, (reporter, signal) =>
        this.open.runs.grade(patch, { reporter, signal }),
      );
      if (result === undefined) return;
      await this.keep(patch, gradeOf(result));
    }
    this.asked.add(patchDigest(patch));
    this.changed.fire();
  }

  private async keep(patch: string, grade: Grade): Promise<void> {
    const digest = patchDigest(patch);
    const others = Object.entries(this.grades).filter(([each]) => each !== digest);
    this.grades = Object.fromEntries([...others.slice(1 - most), [digest, grade]]);
    await this.memory.update(key, { grounds: this.grounds, grades: this.grades });
  }

  dispose(): void {
    this.changed.dispose();
  }
}

const key = 'candidateGrades';

function gradeOf({ strict, ownTests, tests, changeCoverage, findings }: CandidateResult): Grade {
  const own = new Set(ownTests);
  return {
    success: strict.success,
    reason: strict.reason,
    transitions: tests
      .filter(({ test }) => own.has(functionOf(test)))
      .map(({ test, transition }) => ({ test, transition })),
    coverage:
      changeCoverage?.delta === undefined
        ? null
        : { covered: changeCoverage.covered, executable: changeCoverage.executable },
    findings: shortFindings(findings).map(({ kind, evidence }) => ({
      kind,
      evidence: [...evidence],
    })),
  };
}
