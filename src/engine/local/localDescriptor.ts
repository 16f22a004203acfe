import { join } from 'node:path';
import type { EngineDescriptor } from '../sandbox/descriptor';
import { SettingGroup } from '../settings';

/** The value of the setting for which each instance gets an environment of its own. */
export const fittingPython = 'auto';

export const localSettings = new SettingGroup('local', 'swt-bench.', {
  /** Interpreter or virtual environment; undefined for the one on PATH. */
  python: {
    type: 'string',
    expected: 'Use the path to an interpreter or virtual environment, or auto',
    option: {
      name: 'python',
      argument: '<path>',
      description:
        'path to an interpreter or virtual environment; auto: create one for each instance, the default if R is incompatible with the current interpreter',
      writing: 'text',
      byDefault: '',
    },
  },
});

/** This machine, with the interpreter of the user. */
export const local: EngineDescriptor = {
  name: 'local',
  inContainers: false,
  settings: [localSettings],
  variables: [],
  missing: 'python',
  async ready({ assets, values }) {
    const { python } = localSettings.in(values);
    if (python === fittingPython) return;
    const { findPython } = await import('./python');
    await findPython(python, join(assets, 'tracer'));
  },
  async open({ environments, storage, assets, values, isPythonNamed = true, isAwaited }) {
    const { python } = localSettings.in(values);
    const options = { environments, storage, tracer: join(assets, 'tracer'), isAwaited };
    if (python === fittingPython) {
      const { perInstanceEngine } = await import('./perInstanceEngine');
      return perInstanceEngine(options);
    }
    const { automaticEngine } = await import('./automaticEngine');
    const { localEngine } = await import('./localEngine');
    return (isPythonNamed ? localEngine : automaticEngine)({ ...options, python });
  },
};
