// What other rooms need of the local engine and of the Python of this machine.
export { fittingPython, local, localSettings } from './local/localDescriptor';
export { type PythonOnPath, pythonOnPath } from './local/python';
