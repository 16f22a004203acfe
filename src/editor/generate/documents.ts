import * as vscode from 'vscode';
import { asShown } from '../../patch/bytes';
import type { AnswerStep } from '../../method/trace';
import type { StepOf } from '../../method/trace';
import { patchDigest } from '../instance/edits';
import { scheme } from '../shell/names';
import type { FilesOfR } from '../instance/instanceRoles';
import { filesWith } from './applyToWorkspace';

type Side = 'before' | 'after';

/** Finds the contents of documents, also after a reload of the window. */
interface DocumentSource {
  /** A patch by its digest; undefined when there is none. */
  patchOf(digest: string): string | undefined;
  /** An answer by the key of its step. */
  answerOf(key: string): AnswerStep | undefined;
  /** What the agent did that gave an answer; empty for other methods. */
  actsOf(key: string): readonly StepOf<'act'>[];
  promptOf(answer: AnswerStep): Promise<StepOf<'prompt'> | undefined>;
}

/**
 * Read-only documents of candidates: R on the left and R with the candidate on the right; the
 * prompt and the answer of a model. They reveal nothing of the instance's answer.
 */
export class CandidateDocuments {
  private readonly shown = new Map<string, string>();

  constructor(
    private readonly open: FilesOfR,
    private readonly source: DocumentSource,
    /** Distinguishes these documents from those of other views. */
    private readonly authority: string,
  ) {}

  /**
   * Opens what a candidate changes in R: a diff editor for one file, a multi-file one for several.
   *
   * @throws HumanError when the candidate does not apply to R
   */
  async preview(patch: string, name: string): Promise<void> {
    const files = await filesWith(this.open, patch);
    const digest = patchDigest(patch);
    this.shown.set(digest, patch);
    const sides = await Promise.all(
      [...files].map(async ([path, after]) => {
        const before = await this.open.textOfR(path);
        return {
          path,
          left: before === undefined ? undefined : this.sideUri(path, digest, 'before'),
          right: after === undefined ? undefined : this.sideUri(path, digest, 'after'),
        };
      }),
    );
    const [one] = sides;
    if (one === undefined) return;
    if (sides.length > 1) {
      await vscode.commands.executeCommand(
        'vscode.changes',
        vscode.l10n.t('{0} on R', name),
        sides.map(({ path, left, right }) => [this.sideUri(path, digest, 'after'), left, right]),
      );
      return;
    }
    await vscode.commands.executeCommand(
      'vscode.diff',
      // A side without the file is an empty document.
      this.sideUri(one.path, digest, 'before'),
      this.sideUri(one.path, digest, 'after'),
      vscode.l10n.t('{0} ({1} on R)', one.path, name),
      { preview: true },
    );
  }

  private sideUri(path: string, digest: string, side: Side): vscode.Uri {
    const { authority } = this;
    return vscode.Uri.from({ scheme, authority, path: `/${path}`, query: `${side}&${digest}` });
  }

  /** Opens the prompt and the answer of a model as plain text. */
  async showAnswer(answer: AnswerStep, name: string): Promise<void> {
    const uri = vscode.Uri.from({
      scheme,
      authority: this.authority,
      path: `/${name.replace(/[^\w .@-]+/g, '-')}.txt`,
      query: `answer&${answer.key}`,
    });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, 'plaintext');
    await vscode.window.showTextDocument(document, { preview: true });
  }

  /** Content of a document of {@link authority}. */
  async contentOf({ path, query }: vscode.Uri): Promise<string> {
    const [kind = '', key = ''] = query.split('&');
    if (kind === 'answer') {
      const answer = this.source.answerOf(key);
      return answer === undefined
        ? vscode.l10n.t('This answer is no longer stored.')
        : answerText(answer, this.source.actsOf(key), await this.source.promptOf(answer));
    }
    const patch = this.shown.get(key) ?? this.source.patchOf(key);
    if (patch === undefined) return vscode.l10n.t('This candidate is no longer stored.');
    const name = path.slice(1);
    const files = await filesWith(this.open, patch);
    // Any extension may ask, with any path: only changed files are shown.
    if (!files.has(name)) return '';
    const text = kind === 'before' ? await this.open.textOfR(name) : files.get(name);
    return asShown(text ?? '').replace(/^\ufeff/, '');
  }
}

function answerText(
  answer: AnswerStep,
  acts: readonly StepOf<'act'>[],
  prompt: StepOf<'prompt'> | undefined,
): string {
  // In ASCII, since VS Code puts a box around each sign that looks like another one.
  const part = (title: string, text: string): string => `==== ${title} ====\n\n${text.trimEnd()}\n`;
  const steps = acts.map(({ thought, action, observation }, at) =>
    part(
      vscode.l10n.t('Step {0}', at + 1),
      [thought, action, observation].filter((each) => each.trim() !== '').join('\n\n'),
    ),
  );
  const asked =
    steps.length > 0
      ? steps
      : prompt === undefined
        ? [part(vscode.l10n.t('Prompt'), vscode.l10n.t('The prompt is no longer stored.'))]
        : [
            part(vscode.l10n.t('System'), prompt.system),
            ...prompt.messages.map(({ role, content }) =>
              part(role === 'user' ? vscode.l10n.t('Prompt') : vscode.l10n.t('Model'), content),
            ),
          ];
  const tokens = vscode.l10n.t(
    '{0}, {1} tokens in, {2} out',
    answer.model,
    answer.inputTokens,
    answer.outputTokens,
  );
  return [...asked, part(vscode.l10n.t('Answer ({0})', tokens), answer.text)].join('\n');
}
