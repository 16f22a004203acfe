/** The option for refinement: its default and least value, for the command line and the editor. */
export const refiningOption = { option: '--refine', usual: 0, minimum: 0 } as const;
