// Processes, programs in Python, words for a shell, and limits of output.
export { outputLimit } from './programs/boundedOutput';
export { type ProcessRequest, type ProcessResult, runProcess } from './programs/process';
export { quotedForShell, wordForShell } from './programs/quotedForShell';
