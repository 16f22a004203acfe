import { settingGroups } from '../../engine/engines';
import { messageOf } from '../../domain/work';
import { settingKeys } from './names';

/** Settings by the options of the command line that mean the same, but for those of engines. */
const settings: Readonly<Record<string, string>> = {
  '--engine': settingKeys.engine,
  '--timeout': settingKeys.timeout,
  '--dataset': settingKeys.dataset,
  '--source': settingKeys.repositorySources,
  '--storage': settingKeys.storage,
  '--triage': settingKeys.triageFile,
  '--run-tests-locally': settingKeys.runModelTestsLocally,
  '--budget-tokens': settingKeys.tokenBudget,
  '--refine': settingKeys.refine,
  '--agent-program': settingKeys.agents,
  '--context-tokens': settingKeys.contextTokens,
  '--max-output-tokens': settingKeys.maxOutputTokens,
  '--request-timeout': settingKeys.requestTimeout,
  '--embedding-model': settingKeys.embeddingModel,
  '--embedding-base-url': settingKeys.embeddingBaseUrl,
  '--embedding-price': settingKeys.embeddingPrice,
  '--base-url': settingKeys.models,
  '--config': settingKeys.configurationFile,
  '--model-window': settingKeys.models,
};

/** All pairs of an option of the command line and the setting that means the same. */
export const optionsAndSettings = (): readonly (readonly [option: string, setting: string])[] => [
  ...Object.entries(settings),
  ...settingGroups().flatMap(({ all }) =>
    all.flatMap(({ flag, id }) => (flag === undefined ? [] : [[flag, id] as const])),
  ),
];

/** The setting that means the same as an option; undefined where there is none. */
export const settingOfOption = (option: string): string | undefined =>
  optionsAndSettings().find(([each]) => each === option)?.[1];

const sources = settingKeys.repositorySources;
/** Title of the command that deletes what is kept. */
const freeSpace = '"SWT-Bench: Free Disk Space…"';

/**
 * Advice about the command line, and what the user does in the editor instead. The first rules are
 * the longest ones.
 */
const advice: readonly (readonly [said: RegExp, inEditor: string])[] = [
  [/; otherwise add --no-config/g, ''],
  [/Remove it, and pass it with --header/g, 'Remove it'],
  [
    /Give --source (\S+)=PATH_OR_URL of a repository/g,
    `Give $1 in the setting ${sources} the path or address of a repository`,
  ],
  [
    /Write --source owner\/name=PATH_OR_URL or --source PATH/g,
    `Write owner/name and a path or address in the setting ${sources}`,
  ],
  [/with --source\b/g, `in the setting ${sources}`],
  [/with --python or the setting swt-bench\.python/g, `with the setting ${settingKeys.python}`],
  [/with --storage or the setting `(\S+)`/g, 'with the setting $1'],
  [/\(--storage, \$SWT_BENCH_STORAGE\)/g, `with the setting ${settingKeys.storage}`],
  [/\(--engine local\)/g, `(setting ${settingKeys.engine})`],
  [/(Add|Use) --engine (\w+)/g, `Set ${settingKeys.engine} to $2`],
  [
    /`swt-bench storage` shows what this program uses/g,
    `${freeSpace} shows what this program uses`,
  ],
  [/swt-bench storage --free-images all removes/g, `${freeSpace} removes`],
  [/`swt-bench storage --free-mirror \S+`/g, freeSpace],
  [/ \(--(?:memory|cpus|disk|processes|build-minutes|image-budget)\)/g, ''],
  [/and --prebuilt is none/g, `and ${settingOfOption('--prebuilt')} is empty`],
  [/,? with fewer --workers/g, ''],
  [/Use fewer --workers, or less/g, 'Use less'],
  [/; --format fuzzy /g, '; the fuzzy format '],
  [/, or choose one with --format/g, ''],
  [
    /Specify another run with --run-id or another folder with --out, or restart this one with --fresh/g,
    'Give the run another name',
  ],
  [
    /Specify another run with --run-id or another folder with --out, or overwrite the reports with --fresh/g,
    'Give the run another name',
  ],
  [/specify another run with --run-id/g, 'give the run another name'],
  [/, or evaluate them with different --out/g, ', or evaluate them one after the other'],
  [/Specify a writable folder with --out/g, storageInstead('Specify a writable folder')],
  [/((?:specify|choose) another (?:file|folder)) with --out/gi, storageInstead('$1')],
  [
    /: run `swt-bench evaluate --predictions` on it/g,
    ': run "SWT-Bench: Evaluate Predictions…" on it',
  ],
  [/`evaluate --out`/g, '`swt-bench evaluate`'],
  [/specify its summary with --repairs/g, 'choose its summary with "SWT-Bench: Add Results…"'],
  [
    /run `swt-bench triage --triage FILE --merge OTHER`/g,
    'merge the two with `swt-bench triage` in a terminal',
  ],
];

/**
 * What `otherRun` compares has the name of an option also where no setting is named so; it loses
 * its dashes.
 */
const compared = /--(mode|format|tests-only|mutants|kind|shard)\b/g;

/** The text of an error for the editor, where the user has settings in place of options. */
export function inTermsOfSettings(text: string): string {
  if (!text.includes('--')) return text;
  const advised = advice.reduce((said, [option, setting]) => said.replace(option, setting), text);
  return advised
    .replace(/(?<![\w-])--[a-z][a-z-]*/g, (option) => named(option))
    .replace(compared, (_, name: string) => name.replaceAll('-', ' '));
}

/** The message of anything that was thrown, in terms of settings. */
export const messageInEditor = (thrown: unknown): string => inTermsOfSettings(messageOf(thrown));

function named(option: string): string {
  const setting = settingOfOption(option);
  return setting === undefined ? option : `the setting ${setting}`;
}

/** Results and answers are in the storage folder of the editor, which a setting names. */
function storageInstead(what: string): string {
  return `${what} with the setting ${settingKeys.storage}`;
}

/** The first setting of this extension that a text names, by its id; undefined for none. */
export function settingNamedIn(text: string): string | undefined {
  // A sentence may end after the id, and a path may contain it.
  const found = [...text.matchAll(/(?<![\w./-])swt-bench(?:\.[A-Za-z]+)+/g)];
  const ids = new Set<string>([
    ...Object.values(settingKeys),
    ...optionsAndSettings().map(([, setting]) => setting),
  ]);
  return found.map(([id]) => id).find((id) => ids.has(id));
}
