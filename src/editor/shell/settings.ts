import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { readDockerSettings } from '../../engine/docker/readDockerSettings';
import {
  dockerSettingNames,
  dockerSettingTable,
  type DockerSettings,
} from '../../engine/docker/dockerSettings';
import { engineNames, type EngineName } from '../../engine/engine';
import {
  kubernetesSettingId,
  kubernetesSettingNames,
  type KubernetesSettings,
} from '../../engine/kubernetes/kubernetesSettings';
import { readKubernetesSettings } from '../../engine/kubernetes/readKubernetesSettings';
import { defaultStorage } from '../../repository/storage';
import { dockerSettingKeys } from './settingNames/dockerSettingKeys';
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
  const name = text(settingKeys.dataset);
  return name.startsWith('~/') ? join(homedir(), name.slice(2)) : name;
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
      ? [repo === '*' ? expanded(where.trim()) : `${repo}=${expanded(where.trim())}`]
      : [],
  );
}

/** Filter lists by the person's names for them. */
export function filterLists(): Record<string, string | { from: string; exclude: boolean }> {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.filterLists);
  if (typeof set !== 'object' || set === null) return {};
  const lists: Record<string, string | { from: string; exclude: boolean }> = {};
  for (const [name, value] of Object.entries(set) as [string, unknown][]) {
    if (typeof value === 'string') {
      lists[name] = expanded(value);
    } else if (typeof value === 'object' && value !== null && 'from' in value) {
      const exclude = 'exclude' in value && value.exclude === true;
      if (typeof value.from === 'string') lists[name] = { from: expanded(value.from), exclude };
    }
  }
  return lists;
}

/** The settings of the engine. */
export interface EngineSettings {
  readonly name: EngineName;
  /** Interpreter or virtual environment of the local engine; undefined for the one on PATH. Where none is set, it is that of the Python extension. */
  readonly python: string | undefined;
  /** Whether the setting names it. */
  readonly isPythonNamed: boolean;
  readonly docker: DockerSettings;
  readonly kubernetes: KubernetesSettings;
}

/** @throws HumanError naming the setting whose value is invalid */
export function engineSettings(scope?: vscode.Uri): EngineSettings {
  const set = text(settingKeys.engine, scope);
  const name = engineNames.find((each) => each === set);
  if (name === undefined) {
    throw new HumanError(
      vscode.l10n.t('The setting {0} is {1}', settingKeys.engine, JSON.stringify(set)),
      vscode.l10n.t('Choose {0}', engineNames.join(', ')),
    );
  }
  const python = text(settingKeys.python, scope);
  return {
    name,
    python: python === '' ? chosenPython(scope) : python,
    isPythonNamed: python !== '',
    docker: dockerSettingsOf(),
    kubernetes: kubernetesSettingsOf(),
  };
}

function dockerSettingsOf(): DockerSettings {
  const configuration = vscode.workspace.getConfiguration();
  const given: Partial<Record<keyof DockerSettings, unknown>> = {};
  for (const key of dockerSettingNames) {
    const value: unknown = configuration.get(dockerSettingKeys[key]);
    const mayBeEmpty = dockerSettingTable[key].option?.writing === 'text or none';
    const isEmpty = !mayBeEmpty && typeof value === 'string' && value.trim() === '';
    if (value !== undefined && !isEmpty) given[key] = value;
  }
  return readDockerSettings(given, (key) => `The setting ${dockerSettingKeys[key]}`);
}

function kubernetesSettingsOf(): KubernetesSettings {
  const configuration = vscode.workspace.getConfiguration();
  const given: Partial<Record<keyof KubernetesSettings, unknown>> = {};
  for (const key of kubernetesSettingNames) {
    const value: unknown = configuration.get(kubernetesSettingId(key));
    const isEmpty = typeof value === 'string' && value.trim() === '';
    if (value !== undefined && !isEmpty) given[key] = value;
  }
  return readKubernetesSettings(given, (key) => `The setting ${kubernetesSettingId(key)}`);
}

/** Seconds after which a run on one side is stopped. */
export function timeoutSeconds(scope?: vscode.Uri): number {
  const seconds: unknown = vscode.workspace
    .getConfiguration(undefined, scope)
    .get(settingKeys.timeout);
  return typeof seconds === 'number' && seconds > 0 ? seconds : 300;
}

export function writesDevContainer(): boolean {
  return vscode.workspace.getConfiguration().get(settingKeys.devContainer) === true;
}

function text(key: string, scope?: vscode.Uri): string {
  const value: unknown = vscode.workspace.getConfiguration(undefined, scope).get(key);
  return typeof value === 'string' ? value.trim() : '';
}

const expanded = (path: string): string =>
  path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;

function absolute(path: string, key: string): string {
  const full = expanded(path);
  if (!isAbsolute(full)) {
    throw new HumanError(
      vscode.l10n.t('The setting {0} is {1}, which is not an absolute path', key, path),
      vscode.l10n.t('Start the path with / or ~/'),
    );
  }
  return full;
}
