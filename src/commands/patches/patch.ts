import { join } from 'node:path';
import { jsonText } from '../../domain/text';
import { HumanError } from '../../domain/work';
import { asShown, textOf } from '../../patch/bytes';
import { toUnified, type Conversion } from '../../patch/toUnified';
import { hasErrors, type Diagnostic } from '../../patch/diagnostic';
import { createPythonParser } from '../../python/parser';
import { folderTree } from '../../repository/folderTree';
import { EXIT, type CommandContext } from '../context';
import { inputName, readInput } from '../input';
import { formatOption, jsonOption } from '../options/sharedOptions';
import type { ProgramContext, RegisterCommand } from '../registerCommand';

interface PatchOptions {
  /** Folder that holds the tree of R. */
  tree: string;
  format?: string;
  /** Leave out edits outside test files. */
  testsOnly?: boolean;
  /** Print diagnostics instead of the patch. */
  check?: boolean;
  json?: boolean;
}

/** Registers the command `patch`. */
export const registerPatch: RegisterCommand<ProgramContext> = (command, context, finish) => {
  command
    .argument('<file>', "file with a patch or a model's whole answer, or - for stdin")
    .requiredOption('--tree <dir>', 'folder with R, such as one that `open` creates; not modified')
    .addOption(formatOption(context))
    .option('--tests-only', 'ignore and list changes to files that are not tests')
    .option('--check', 'print only diagnostics, in the form FILE:LINE: severity: message')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit status: 0 the patch was converted, 1 it could not be converted, 2 invalid usage or unreadable input, 130 interrupted.',
    )
    .action(async (file: string, options: PatchOptions) =>
      finish(await patchCommand(file, options, context)),
    );
};

/**
 * `swt-bench patch`: converts a text in any of the formats to a unified diff for a tree. It writes
 * only to standard output.
 *
 * @param path path of the text; `-` for standard input
 * @returns 1 when the text cannot be converted
 * @throws HumanError when the text or the tree cannot be read, or the text has predictions;
 *   Cancelled
 */
async function patchCommand(
  path: string,
  { tree: folder, format = 'auto', testsOnly, check = false, json = false }: PatchOptions,
  context: ProgramContext,
): Promise<number> {
  const tree = await folderTree(folder);
  const text = textOf(
    await readInput(path, 'Specify a text file with the patch, or - for standard input', context),
  );
  if (holdsPredictions(text)) {
    throw new HumanError(
      `${inputName(path)} contains predictions, not a patch`,
      'Run `swt-bench evaluate --predictions FILE` for the whole file, or pass the text of one model_patch to this command',
    );
  }
  const python = await createPythonParser((file) => join(context.assets, file));
  try {
    const converted = await toUnified(text, {
      format,
      tree,
      python,
      formats: context.formats,
      signal: context.signal,
      ...(testsOnly !== undefined && { testsOnly }),
    });
    return print(converted, { path, check, json }, context);
  } finally {
    python.dispose();
  }
}

function print(
  { patch, files, format, diagnostics, left }: Conversion,
  { path, check, json }: { path: string; check: boolean; json: boolean },
  context: CommandContext,
): number {
  const converts = format !== 'empty' && !hasErrors(diagnostics);
  if (json) {
    const effect = check ? {} : { patch, files: Object.fromEntries(nullWhereDeleted(files)) };
    const document = { format, ...effect, diagnostics, left };
    context.data(jsonText(document));
  } else {
    const told = diagnostics.map((each) => `${describe(each, path)}\n`).join('');
    if (check) context.stdout(told);
    else {
      context.stderr(told);
      if (converts) context.data(patch);
    }
  }
  return converts ? EXIT.done : EXIT.negative;
}

/** The contents with null for deleted files, since JSON omits undefined values. */
const nullWhereDeleted = (files: Conversion['files']): [string, string | null][] =>
  [...files].map(([path, content]) => [path, content ?? null]);

/** A diagnostic in the format of compilers, so that editors find the place. */
function describe({ severity, line, message, hint }: Diagnostic, path: string): string {
  const words = `${message}${hint === undefined ? '' : ` (${hint})`}`;
  return `${path}:${line}: ${severity}: ${printable(words)}`;
}

/** Text of a patch on one line, without effect on a terminal. */
function printable(text: string): string {
  return asShown(text).replace(
    // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (character) =>
      JSON.stringify(character)
        .slice(1, -1)
        .replace(/^[\u007f-\u009f]$/, '\ufffd'),
  );
}

/**
 * Whether a text is a predictions file: JSON, or JSON lines, of objects with fields of predictions.
 */
function holdsPredictions(text: string): boolean {
  const start = text.trimStart();
  if (!/^[[{]/.test(start)) return false;
  const firstLine = start.slice(0, start.indexOf('\n') + 1 || undefined);
  return [start, firstLine].some((json) => {
    try {
      return isPrediction(JSON.parse(json));
    } catch {
      return false;
    }
  });
}

/** One prediction, a list of them, or an object of them by id. */
function isPrediction(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('model_patch' in value || 'instance_id' in value) return true;
  const first: unknown = Object.values(value)[0];
  return (
    typeof first === 'object' &&
    first !== null &&
    ('model_patch' in first || 'instance_id' in first)
  );
}
