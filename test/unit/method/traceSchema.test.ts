import { traceJsonSchema } from '../../../src/method/traces/traceSteps';
import { assertPublished } from '../results/publishedSchema';

describe('the published schema of traces', () => {
  it('is the one in media/schema (UPDATE_SCHEMAS=1 writes it)', async () => {
    await assertPublished('trace.schema.json', traceJsonSchema());
  });
});
