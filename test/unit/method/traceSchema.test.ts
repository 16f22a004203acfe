import { stepSchema } from '../../../src/method/traces/traceSteps';
import { assertPublished } from '../results/publishedSchema';

describe('the published schema of traces', () => {
  it('is the one in media/schema (UPDATE_SCHEMAS=1 writes it)', async () => {
    await assertPublished(
      'trace.schema.json',
      {
        title: 'A line of the trace of `swt-bench generate`',
        description:
          'One step of a method. `key` is the digest of all that the step depends on; `answer` of a patch and of an action is the key of an answer.',
      },
      stepSchema,
    );
  });
});
