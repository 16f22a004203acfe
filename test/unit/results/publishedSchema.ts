import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { format } from 'oxfmt';
import { z } from 'zod';

/**
 * Asserts that a schema equals the published one of this name in `media/schema`, as the formatter
 * leaves it. With `UPDATE_SCHEMAS=1` it writes the schema first.
 *
 * @param about keys of the JSON schema that come first
 * @param io in input mode the schema allows unknown keys: a later version of this program may add some
 */
export async function assertPublished(
  name: string,
  about: { readonly title: string; readonly description: string },
  schema: z.ZodType,
  io: 'input' | 'output' = 'input',
): Promise<void> {
  const published = resolve('media/schema', name);
  const json = { ...about, ...z.toJSONSchema(schema, { io }) };
  const { code: text } = await format(published, JSON.stringify(json));
  if (process.env['UPDATE_SCHEMAS'] === '1') {
    await mkdir(dirname(published), { recursive: true });
    await writeFile(published, text);
  }
  assert.equal(await readFile(published, 'utf8'), text);
}
