import { isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { engineNamed, engineNames, settingGroups } from '../../engine/engines';
import { localSettings } from '../../engine/local';
import { expandHome } from '../../files/expandHome';
import type { EngineValues, SettingGroup } from '../../engine/settings';
import { defaultStorage } from '../../repository/storage';
import { windowConfiguration } from './configurationFile';
import { settingKeys } from './names';
import { chosenPython } from './pythonExtension';

/**
 * Folder of everything that can be rebuilt: datasets, mirrors, trees, kept runs. The command line
 * has the same default, so that the two share their files.
 */
export function storageFolder(): string {
  const set = text(settingKeys.storage);
  return set === '' ? defaultStorage() : absolute(set, settingKeys.storage);
}

/** The dataset of the Instances view; empty when none is chosen. */
export function datasetName(): string {
  return expandHome(text(settingKeys.dataset));
}

/**
 * The file with tags, notes and classifications, which the setting names; by default a file in
 * `folder`.
 */
export function triageFile(folder: string): string {
  const set = text(settingKeys.triageFile);
  return set === '' ? join(folder, 'triage.json') : absolute(set, settingKeys.triageFile);
}

/** Where to get repositories instead of GitHub, as `--source` arguments. */
export function repositorySources(): string[] {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.repositorySources);
  if (typeof set !== 'object' || set === null) return [];
  return Object.entries(set).flatMap(([repo, where]) =>
    typeof where === 'string' && where.trim() !== ''
      ? [repo === '*' ? expandHome(where.trim()) : `${repo}=${expandHome(where.trim())}`]
      : [],
  );
}

/** Filter lists by the user's names for them. */
export function filterLists(): Record<string, string | { from: string; exclude: boolean }> {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.filterLists);
  if (typeof set !== 'object' || set === null) return {};
  const lists: Record<string, string | { from: string; exclude: boolean }> = {};
  for (const [name, value] of Object.entries(set) as [string, unknown][]) {
    if (typeof value === 'string') {
      lists[name] = expandHome(value);
    } else if (typeof value === 'object' && value !== null && 'from' in value) {
      const exclude = 'exclude' in value && value.exclude === true;
      if (typeof value.from === 'string') lists[name] = { from: expandHome(value.from), exclude };
    }
  }
  return lists;
}

/** The settings of the engine. */
export interface EngineSettings {
  readonly name: string;
  /** Of every engine. Where no Python is set, it is that of the Python extension, if any. */
  readonly values: EngineValues;
  /** Whether the setting names the Python. */
  readonly isPythonNamed: boolean;
}

/** @throws HumanError naming the setting whose value is invalid, or the fault of the configuration file */
export function engineSettings(scope?: vscode.Uri): EngineSettings {
  // A fault of the file must not run tests on this machine that it sends to containers.
  windowConfiguration.check();
  const set = windowConfiguration.setting(settingKeys.engine, ['engine'], scope);
  const name = engineNamed(String(set).trim())?.name;
  if (name === undefined) {
    throw new HumanError(
      vscode.l10n.t('The setting {0} is {1}', settingKeys.engine, JSON.stringify(set)),
      vscode.l10n.t('Choose {0}', engineNames().join(', ')),
    );
  }
  const values = Object.fromEntries(
    settingGroups().map((group) => [group.engine, valuesOf(group, scope)]),
  );
  const isPythonNamed = localSettings.in(values).python !== undefined;
  if (isPythonNamed) return { name, values, isPythonNamed };
  const python = chosenPython(scope);
  return { name, values: localSettings.with(values, { python }), isPythonNamed };
}

function valuesOf(group: SettingGroup, scope?: vscode.Uri): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  for (const { key, id, option, fileKey } of group.all) {
    const set = windowConfiguration.setting(id, [group.engine, fileKey], scope);
    const isNone = option?.writing === 'text or none' && set === 'none';
    const value = isNone ? '' : typeof set === 'string' ? set.trim() : set;
    if (value !== '' || option?.writing === 'text or none') given[key] = value;
  }
  return group.read(given, ({ id }) => `The setting ${id}`);
}

/** Seconds after which a run on one side is stopped. */
export function timeoutSeconds(scope?: vscode.Uri): number {
  const seconds = windowConfiguration.setting(settingKeys.timeout, ['timeout'], scope);
  return typeof seconds === 'number' && seconds > 0 ? seconds : 300;
}

/** Whether the interpreter of the next run may start before that run is asked for. */
export function startsWarm(scope?: vscode.Uri): boolean {
  const set: unknown = vscode.workspace
    .getConfiguration(undefined, scope)
    .get(settingKeys.warmStart);
  return set !== false;
}

export function writesDevContainer(): boolean {
  return vscode.workspace.getConfiguration().get(settingKeys.devContainer) === true;
}

function text(key: string, scope?: vscode.Uri): string {
  const value: unknown = vscode.workspace.getConfiguration(undefined, scope).get(key);
  return typeof value === 'string' ? value.trim() : '';
}

function absolute(path: string, key: string): string {
  const full = expandHome(path);
  if (!isAbsolute(full)) {
    throw new HumanError(
      vscode.l10n.t('The setting {0} is {1}, which is not an absolute path', key, path),
      vscode.l10n.t('Start the path with / or ~/'),
    );
  }
  return full;
}

export const bundledDataset = (extension: string): string =>
  join(extension, 'media', 'sample', 'instance.jsonl');

export const bundledSource = (extension: string): string =>
  join(extension, 'media', 'sample', 'repository');
