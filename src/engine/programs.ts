// Programs in Python, words for a shell, and limits of output.
export { outputLimit } from './programs/boundedOutput';
export { pythonText } from './programs/pythonProgram';
export { quotedForShell, wordForShell } from './programs/quotedForShell';
