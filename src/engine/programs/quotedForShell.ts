/** A word of a POSIX shell command. */
export const quotedForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** A word as text for a shell, plain where it needs no quotes. */
export const wordForShell = (word: string): string =>
  /^[\w./:=@%+-]+$/.test(word) ? word : quotedForShell(word);
