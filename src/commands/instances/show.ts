import { jsonText } from '../../domain/text';
import type { Instance } from '../../domain/instance';
import { EXIT, type CommandContext } from '../context';
import { openDatasetOption } from '../options/openDatasetOption';
import { datasetOption, jsonOption, storageOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';

interface ShowOptions {
  dataset: string;
  reveal?: boolean;
  storage: string;
  json?: boolean;
}

/** Registers the command `show`. */
export const registerShow: RegisterCommand = (command, context, finish) => {
  command
    .argument('<id>')
    .addOption(datasetOption())
    .option('--reveal', 'also print the golden patch, golden tests and hints')
    .addOption(storageOption())
    .addOption(jsonOption())
    .action(async (id: string, options: ShowOptions) =>
      finish(await showCommand(id, options, context)),
    );
};

/** `swt-bench show`: prints the issue, and with `--reveal` also what gives the fix away. */
async function showCommand(
  id: string,
  options: ShowOptions,
  context: CommandContext,
): Promise<number> {
  const dataset = await openDatasetOption(options, context);
  const [instance] = await dataset.read([id]);
  if (instance === undefined) return EXIT.negative;
  const reveal = options.reveal === true;
  if (options.json === true) {
    context.data(jsonText(documentOf(instance, reveal)));
  } else {
    print(instance, reveal, context);
  }
  return EXIT.done;
}

/** An instance in the form of the JSON document. */
function documentOf(instance: Instance, reveal: boolean): object {
  const hidden = {
    patch: instance.goldenPatch,
    test_patch: instance.goldenTests,
    hints_text: instance.hints,
    FAIL_TO_PASS: instance.failToPass ?? null,
    PASS_TO_PASS: instance.passToPass ?? null,
  };
  return {
    instance_id: instance.id,
    repo: instance.repo,
    base_commit: instance.baseCommit,
    version: instance.version,
    created_at: instance.createdAt,
    problem_statement: instance.issue,
    remarks: instance.remarks ?? [],
    ...(reveal ? hidden : {}),
  };
}

function print(instance: Instance, reveal: boolean, context: CommandContext): void {
  const { id, goldenPatch, goldenTests, hints } = instance;
  context.stdout(`${id}  (${instance.repo} at ${instance.baseCommit})\n\n`);
  for (const remark of instance.remarks ?? []) context.stderr(`swt-bench: ${id}: ${remark}\n`);
  context.stdout(`${instance.issue.trimEnd()}\n`);
  if (!reveal) return;
  context.stdout(`\n── golden patch (X*) ──\n${goldenPatch}\n`);
  context.stdout(`\n── golden tests (T*) ──\n${goldenTests}\n`);
  if (hints !== '') context.stdout(`\n── hints ──\n${hints}\n`);
}
