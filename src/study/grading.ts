/** The grading behind a figure; see `domain/verdict.ts` and `domain/harness.ts`. */
export const gradings = ['strict', 'harness'] as const;
export type Grading = (typeof gradings)[number];
