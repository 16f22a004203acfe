import { escapeHtml } from './sanitise';

/** Most lines of a diff that are drawn. Longer pages are slow and nobody reads them. */
const maxLines = 5000;

type LineKind = 'file' | 'hunk' | 'added' | 'removed' | 'context';

export interface DiffHtml {
  readonly html: string;
  readonly added: number;
  readonly removed: number;
}

/** A unified diff as escaped HTML, with a class for each kind of line. */
export function diffHtml(diff: string): DiffHtml {
  const lines = diff.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n');
  let [old, next, added, removed] = [0, 0, 0, 0];
  const drawn: string[] = [];
  for (const line of lines) {
    // Inside a hunk, `--- x` is a removed line.
    const kind: LineKind = old > 0 || next > 0 ? inHunk(line) : outside(line);
    if (kind === 'hunk') {
      const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
      old = counts === null ? 0 : Number(counts[1] ?? 1);
      next = counts === null ? 0 : Number(counts[2] ?? 1);
    } else if (kind !== 'file' && !line.startsWith('\\')) {
      if (kind !== 'added') old--;
      if (kind !== 'removed') next--;
      if (kind === 'added') added++;
      if (kind === 'removed') removed++;
    }
    if (drawn.length < maxLines) drawn.push(`<span class="${kind}">${escapeHtml(line)}\n</span>`);
  }
  const rest = lines.length - drawn.length;
  if (rest > 0) drawn.push(`<span class="file">… ${rest} more lines</span>`);
  return { html: `<pre class="diff"><code>${drawn.join('')}</code></pre>`, added, removed };
}

function inHunk(line: string): LineKind {
  return line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'context';
}

function outside(line: string): LineKind {
  return line.startsWith('@@') ? 'hunk' : 'file';
}
