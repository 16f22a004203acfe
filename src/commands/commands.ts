import { registerCheck } from './instances/check';
import { registerAgents } from './agents/agents';
import { registerEvaluate } from './evaluate';
import { registerFilterRepairs } from './repairs/filterRepairs';
import { registerGenerate } from './generate';
import { registerInstances } from './instances/instances';
import { registerMerge } from './merging/merge';
import { registerMcp } from './mcp/mcp';
import { registerMutants } from './mutants/mutants';
import { registerOpen } from './instances/open';
import { registerParseLog } from './patches/parseLog';
import { registerPatch } from './patches/patch';
import { registerRepair } from './repair';
import { registerReport } from './report';
import { registerShards } from './sharding/shards';
import { registerShow } from './instances/show';
import { registerStatistics } from './instances/statistics';
import { registerImages } from './storage/pushImages';
import { registerStorage } from './storage/storage';
import { registerTrajectory } from './trajectory/trajectory';
import { registerTriage } from './instances/triage';
import { registerValidate } from './validate';
import type { RegisterCommand } from './registerCommand';

/** The commands in the order of the help text. */
export const commands: readonly RegisterCommand[] = [
  registerInstances,
  registerShow,
  registerOpen,
  registerCheck,
  registerEvaluate,
  registerReport,
  registerShards,
  registerMerge,
  registerMutants,
  registerFilterRepairs,
  registerGenerate,
  registerAgents,
  registerRepair,
  registerTrajectory,
  registerMcp,
  registerValidate,
  registerPatch,
  registerParseLog,
  registerStatistics,
  registerTriage,
  registerImages,
  registerStorage,
];
