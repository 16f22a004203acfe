import type { Engine } from '../engine';
import type { EngineValues, SettingGroup } from '../settings';
import type { EnvironmentMaker } from '../environmentMaker';

/** What an engine opens with. */
export interface EngineRequest {
  /** The name of one of `engines`. */
  readonly name: string;
  readonly engines: readonly EngineDescriptor[];
  /** What makes the environments of instances. */
  readonly environments: EnvironmentMaker;
  /** The storage folder. */
  readonly storage: string;
  /** Folder that contains `tracer/` and `agent/`, the Python files that run beside tests. */
  readonly assets: string;
  /** Values of the settings; defaults for the rest. */
  readonly values?: EngineValues | undefined;
  /**
   * Whether the user named the interpreter of the local engine: it is then used even where R does
   * not fit it.
   */
  readonly isPythonNamed?: boolean | undefined;
  /** Whether the user waits for its runs, so that each is prepared before it is asked for. */
  readonly isAwaited?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * All that other code must know of an engine before it is open. Options of the command line, their
 * help, settings of the editor and their checks follow from it. It imports its engine when it opens:
 * a window reads descriptors before it runs any test.
 */
export interface EngineDescriptor {
  /** As `--engine` and the setting `swt-bench.engine` have it. */
  readonly name: string;
  /**
   * Whether tests run in containers: separate from this machine, in images, and with limits. Tests
   * that a model has written may run there without being allowed.
   */
  readonly inContainers: boolean;
  /** The groups of settings that it takes, its own last. */
  readonly settings: readonly SettingGroup[];
  /** Variables of the environment by which a program finds it. */
  readonly variables: readonly string[];
  /** What the user lacks where it is not ready; views say what to do about it. */
  readonly missing?: 'python' | 'docker';
  /**
   * Checks in advance whether it can be opened. Absent where that is not asked before tests run.
   *
   * @throws HumanError
   */
  ready?(request: Omit<EngineRequest, 'engines' | 'environments'>): Promise<void>;
  /** @throws HumanError when it is not available, Cancelled */
  open(request: EngineRequest): Promise<Engine>;
}

/** The settings of some engines, each group once. */
export const settingGroupsOf = (engines: readonly EngineDescriptor[]): readonly SettingGroup[] => [
  ...new Set(engines.flatMap(({ settings }) => settings)),
];
