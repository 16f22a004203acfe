/**
 * Packs parts into batches, in their order. A part is never cut, so a large one makes a batch of
 * its own.
 */
export function batchesOf<
  Part extends { readonly texts: readonly string[]; readonly tokens: number },
>(
  parts: readonly Part[],
  most: { readonly mostTexts: number; readonly mostTokens: number },
): Part[][] {
  const batches: Part[][] = [];
  let texts = 0;
  let tokens = 0;
  for (const part of parts) {
    const last = batches.at(-1);
    texts += part.texts.length;
    tokens += part.tokens;
    if (last !== undefined && texts <= most.mostTexts && tokens <= most.mostTokens) {
      last.push(part);
      continue;
    }
    batches.push([part]);
    texts = part.texts.length;
    tokens = part.tokens;
  }
  return batches;
}
