import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(__dirname, '..', '..', '..');
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs')).map((name) => join('docs', name)),
].filter((path) => path.endsWith('.md'));

/** The text without code, which may contain text that resembles a link. */
const prose = (text: string): string =>
  text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** Anchors of the headings, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.replace(/^```[^]*?^```/gm, '').matchAll(/^#{1,6} +(.*)$/gm)];
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
}

/** Links of a page that lead nowhere. */
function broken(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const links = [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [file = '', anchor] = target.split('#');
    const place = file === '' ? join(root, path) : join(root, dirname(path), file);
    if (relative(root, place).startsWith('..') || !existsSync(place)) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(place, 'utf8')).has(anchor);
  });
}

describe('the documentation', () => {
  for (const path of pages) {
    it(`${path} has no link that leads nowhere`, () => assert.deepEqual(broken(path), []));
  }

  it('is reached from the README, every page of it', () => {
    const linked = prose(readFileSync(join(root, 'README.md'), 'utf8'));
    for (const path of pages) {
      if (path !== 'README.md') assert.ok(linked.includes(`](${path})`), path);
    }
  });

  it('has a README of one screen or two', () => {
    const lines = readFileSync(join(root, 'README.md'), 'utf8').split('\n');
    assert.ok(lines.length <= 150, `${lines.length} lines`);
  });
});
