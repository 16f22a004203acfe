// A reproduction exported beside T*.
export { exportedFiles, whatIsAt, writeExport } from './reproduction/exportedFiles';
export { type Reproduction, reproductionNote } from './reproduction/reproductionNote';
export { withoutMachinePaths } from './reproduction/withoutMachinePaths';
