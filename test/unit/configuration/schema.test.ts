import { configurationSchema } from '../../../src/configuration/schema';
import { assertPublished } from '../results/publishedSchema';

describe('the schema of the configuration file', () => {
  it('is the one in media/schema (UPDATE_SCHEMAS=1 writes it)', async () => {
    await assertPublished(
      'configuration.schema.json',
      { title: 'Configuration of SWT-Bench', description: 'The contents of swt.yaml.' },
      configurationSchema,
    );
  });
});
