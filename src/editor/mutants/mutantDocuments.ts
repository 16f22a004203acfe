import * as vscode from 'vscode';
import { z } from 'zod';
import { withFault, type Mutant } from '../../mutation/mutant';
import { unsafePath } from '../../patch/unsafePath';
import type { InstanceSource, Revealing } from '../instance/instanceRoles';
import { scheme } from '../shell/names';

/** Authority of read-only files of R∘X* with a mutant. */
const mutantAuthority = 'mutant';

const fault = z.object({
  line: z.number().int().positive(),
  column: z.number().int().positive(),
  before: z.string(),
  after: z.string(),
});

/** Address of a file of R∘X* with a mutant. It holds the whole fault, so that it stays valid. */
export const mutantUri = ({ path, line, column, before, after }: Mutant): vscode.Uri =>
  vscode.Uri.from({
    scheme,
    authority: mutantAuthority,
    path: `/${path}`,
    query: JSON.stringify({ line, column, before, after }),
  });

/** Whether a document shows a mutant. */
export const isMutantDocument = ({ scheme: of, authority }: vscode.Uri): boolean =>
  of === scheme && authority === mutantAuthority;

/** Content of such a document. It is empty until the golden patch is revealed, whoever asks. */
export async function mutantDocumentText(
  open: InstanceSource & Revealing,
  uri: vscode.Uri,
): Promise<string> {
  if (!open.revealed) {
    return vscode.l10n.t(
      'The golden patch is hidden. Run "SWT-Bench: Show Mutants…" to reveal its mutants.',
    );
  }
  const path = uri.path.slice(1);
  const asked = faultOf(uri.query);
  // Any extension may ask, with any path.
  if (asked === undefined || unsafePath(path) !== undefined) return '';
  return withFault(await open.fileOfSide('fixed', path), asked) ?? '';
}

function faultOf(query: string): z.infer<typeof fault> | undefined {
  try {
    return fault.safeParse(JSON.parse(query)).data;
  } catch {
    return undefined;
  }
}
