import type { Steps } from './steps';
import { keyOf, type AnswerStep, type PatchStep } from '../trace';

/**
 * Turns a text into a unified diff on R, or says why it is not one.
 *
 * @param from the answer or the session that the text comes from
 */
export async function readTests(
  steps: Steps,
  text: string,
  from: Pick<AnswerStep, 'key'>,
): Promise<PatchStep> {
  const { testsOnly, signal } = steps.parts;
  const key = keyOf('patch', await steps.tree(), text, testsOnly, from.key);
  if (steps.supposes(text)) return supposedPatch(steps, key, text);
  return steps.recall('patch', key, async ({ view: open }) => {
    const view = await open();
    let read = await view.read(text, { testsOnly, signal });
    if (!read.applies) {
      // As in the paper: each hunk goes where its context fits best.
      const placed = await view.read(text, { testsOnly, signal, format: 'fuzzy' });
      if (placed.applies) read = placed;
    }
    const isEmpty = text.trim() === '';
    return {
      answer: from.key,
      applies: read.applies && !isEmpty,
      ...(read.problem !== undefined && { problem: read.problem }),
      patch: read.patch,
      ownTests: [...read.ownTests],
      diagnostics: read.diagnostics.map(({ severity, line, message }) => ({
        severity,
        line,
        message,
      })),
    };
  });
}

/**
 * Turns a text into a code patch, a unified diff on R without edits of tests, or says why it is
 * none.
 *
 * @param from the answer that the text comes from; undefined where it was given to the run
 */
export async function readCode(
  steps: Steps,
  text: string,
  from: AnswerStep | undefined,
): Promise<PatchStep> {
  const key = keyOf('code', await steps.tree(), text, from?.key);
  if (steps.supposes(text)) return supposedPatch(steps, key, text);
  return steps.recall('patch', key, async ({ view: open }) => {
    const patch = await (await open()).readCode(text, steps.parts.signal);
    const isPatch = typeof patch === 'string';
    return {
      ...(from !== undefined && { answer: from.key }),
      applies: isPatch,
      ...(!isPatch && { problem: patch.failure }),
      patch: isPatch ? patch : '',
      ownTests: [],
      diagnostics: [],
    };
  });
}

/** The patch of an unknown answer: it applies, since a method ends with one that does not. */
const supposedPatch = (steps: Steps, key: string, patch: string): PatchStep => ({
  ...{ step: 'patch', key, at: '', instance: steps.instance.id },
  ...{ applies: true, patch, ownTests: [], diagnostics: [] },
});
