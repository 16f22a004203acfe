/** A word of a POSIX shell command. */
export const quotedForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
