// What sandboxes share, whatever the platform.
export { asciiJson } from './sandbox/agentProtocol';
export {
  type ArchiveEntry,
  contentTime,
  earliestTime,
  filesInTar,
  tarEnd,
  tarEntry,
  tarOf,
} from './sandbox/archive';
export { type EngineDescriptor, type EngineRequest, settingGroupsOf } from './sandbox/descriptor';
export { type EngineLimits, guardedEngine } from './sandbox/guardedEngine';
export { openEngine, withEngine } from './sandbox/openEngine';
export { servicePython } from './sandbox/sandboxServices';
export { type ServiceName, programNames, serviceNames, services } from './sandbox/services';
export { repositoryArchive, treeArchive } from './sandbox/treeArchive';
export { openTunnel } from './sandbox/tunnel';
