import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { format } from 'oxfmt';

/**
 * Asserts that a schema equals the published one of this name in `media/schema`, as the formatter
 * leaves it. With `UPDATE_SCHEMAS=1` it writes the schema first.
 */
export async function assertPublished(name: string, schema: unknown): Promise<void> {
  const published = resolve('media/schema', name);
  const { code: text } = await format(published, JSON.stringify(schema));
  if (process.env['UPDATE_SCHEMAS'] === '1') {
    await mkdir(dirname(published), { recursive: true });
    await writeFile(published, text);
  }
  assert.equal(await readFile(published, 'utf8'), text);
}
