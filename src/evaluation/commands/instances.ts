import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { figures } from '../../dataset/dataset';
import { HumanError } from '../../domain/problem';
import { devContainerFile } from '../../engine/devContainer';
import { devContainerImage } from '../../engine/docker/devContainerImage';
import { parseSources, sourceOf } from '../../repository/source';
import { prepareTrees, remarkOn } from '../../repository/trees';
import { copyTreeTo, makeWorkspace } from '../../repository/workspace';
import { writeDevContainer, writeWindowTitle } from '../../repository/workspaceFiles';
import { select } from '../selection';
import { layOut } from '../table';
import {
  chosenIds,
  EXIT,
  openDataset,
  sourcesFor,
  terminalReporter,
  type CommandContext,
  type SelectingOptions,
} from './context';
import { engineRequest, type EngineOptions } from './engineOptions';

export interface InstancesOptions extends SelectingOptions {
  dataset: string;
  sort?: string;
  refresh?: boolean;
  storage: string;
  json?: boolean;
}

export interface ShowOptions {
  dataset: string;
  reveal?: boolean;
  storage: string;
  json?: boolean;
}

export interface OpenOptions extends EngineOptions {
  dataset: string;
  out: string;
  withFixed?: boolean;
  devcontainer?: boolean;
  source: string[];
  storage: string;
}

/** `swt-bench instances`: one line, or one JSON object, for each instance. */
export async function instancesCommand(
  options: InstancesOptions,
  context: CommandContext,
): Promise<number> {
  const dataset = await openDataset(options, context);
  const { repo, query, triage, sort, storage } = options;
  const chosen = await chosenIds(dataset, options, context);
  const selected = await select(dataset, { ...chosen, repo, query, triage, sort }, storage);
  const rows = selected.map(({ entry }) => figures(entry));
  if (options.json === true) {
    context.stdout(`${JSON.stringify(rows, null, 2)}\n`);
  } else {
    context.stdout(
      `${layOut([
        ['Instance', 'Version', 'Created', 'Issue', 'X* files/lines', 'T* files/lines'],
        ...rows.map((row) => [
          row.id,
          row.version,
          row.created_at.slice(0, 10),
          `${row.issue_length} characters`,
          `${row.patch.files}/${row.patch.lines}`,
          `${row.test_patch.files}/${row.test_patch.lines}`,
        ]),
      ])}\n`,
    );
  }
  return dataset.problems.length > 0 ? EXIT.negative : EXIT.done;
}

/** `swt-bench show`: the issue; what gives the fix away only with `--reveal`. */
export async function showCommand(
  id: string,
  options: ShowOptions,
  context: CommandContext,
): Promise<number> {
  const dataset = await openDataset(options, context);
  const [instance] = await dataset.read([id]);
  if (instance === undefined) return EXIT.negative;
  const hidden = {
    patch: instance.goldenPatch,
    test_patch: instance.goldenTests,
    hints_text: instance.hints,
    FAIL_TO_PASS: instance.failToPass ?? null,
    PASS_TO_PASS: instance.passToPass ?? null,
  };
  if (options.json === true) {
    const shown = {
      instance_id: instance.id,
      repo: instance.repo,
      base_commit: instance.baseCommit,
      version: instance.version,
      created_at: instance.createdAt,
      problem_statement: instance.issue,
      remarks: instance.remarks ?? [],
      ...(options.reveal === true ? hidden : {}),
    };
    context.stdout(`${JSON.stringify(shown, null, 2)}\n`);
    return EXIT.done;
  }
  context.stdout(`${instance.id}  (${instance.repo} at ${instance.baseCommit})\n\n`);
  for (const remark of instance.remarks ?? []) context.stderr(`swt-bench: ${id}: ${remark}\n`);
  context.stdout(`${printable(instance.issue).trimEnd()}\n`);
  if (options.reveal === true) {
    context.stdout(`\n── golden patch (X*) ──\n${printable(instance.goldenPatch)}\n`);
    context.stdout(`\n── golden tests (T*) ──\n${printable(instance.goldenTests)}\n`);
    if (instance.hints !== '') context.stdout(`\n── hints ──\n${printable(instance.hints)}\n`);
  }
  return EXIT.done;
}

/** Without control characters: an issue text must not drive the terminal. */
const printable = (text: string): string =>
  // eslint-disable-next-line no-control-regex -- these are what is to be removed
  text.replaceAll('\r\n', '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');

/** `swt-bench open`: R, and with `--with-fixed` R∘X*, in folders that do not exist yet or are empty. */
export async function openCommand(
  id: string,
  options: OpenOptions,
  context: CommandContext,
): Promise<number> {
  const { name, docker } = engineRequest(options, context);
  const dataset = await openDataset(options, context);
  const [instance] = await dataset.read([id]);
  if (instance === undefined) return EXIT.negative;
  const out = resolve(options.out);
  const targets = [
    { side: 'base', path: out },
    ...(options.withFixed === true ? [{ side: 'fixed', path: `${out}-fixed` } as const] : []),
  ] as const;
  for (const { path } of targets) {
    const entries = await readdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new HumanError(`${path} is not a folder`, 'Name a new folder with --out');
    });
    if (entries.length > 0) {
      throw new HumanError(`${path} is not empty`, 'Name a new folder with --out');
    }
  }
  const reporter = terminalReporter(context);
  const work = { signal: context.signal, reporter };
  const trees = await prepareTrees(
    instance,
    await sourceOf(instance, parseSources(sourcesFor(options, context))),
    options.storage,
    work,
  );
  // Before the folder is made, since it may fail.
  const image =
    options.devcontainer === true && name === 'docker'
      ? await devContainerImage(
          { instance, trees, settings: docker, storage: options.storage },
          work,
        )
      : undefined;
  await makeWorkspace(
    instance,
    trees,
    {
      dataset: await lastingName(options.dataset),
      sources: options.source,
    },
    out,
    context.signal,
  );
  await writeWindowTitle(out, instance.id);
  if (options.devcontainer === true)
    await writeDevContainer(out, devContainerFile(instance, image));
  if (options.withFixed === true) await copyTreeTo(trees.fixed, `${out}-fixed`, context.signal);
  reporter.clear();
  for (const { side, path } of targets) {
    context.stdout(`${side === 'base' ? 'R' : 'R∘X*'}: ${path}\n`);
  }
  if (trees.source.kind === 'snapshot') {
    context.stderr(
      `made from the snapshot ${trees.source.from}, not from ${instance.baseCommit}\n`,
    );
  }
  const remark = remarkOn(trees);
  if (remark !== undefined) context.stderr(`${remark}\n`);
  return EXIT.done;
}

/** A dataset as it is found from any folder: files by their full path, addresses and names as they are. */
async function lastingName(dataset: string): Promise<string> {
  if (dataset === 'bundled') return dataset;
  const path = resolve(dataset);
  return (await stat(path).catch(() => undefined)) === undefined ? dataset : path;
}
