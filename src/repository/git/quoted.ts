/** Quotes a path for git's lists of paths, whatever characters it has. */
export const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;
