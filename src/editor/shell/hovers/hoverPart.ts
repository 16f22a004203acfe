/** A part of a hover as plain data, in the order in which `hoverMarkdown` draws them. */
export type HoverPart =
  /** Text in which nothing is markup. */
  | { readonly plain: string }
  /** A block of code, where markup has no meaning. */
  | { readonly code: string }
  | { readonly between: 'paragraphs' | 'sections' };
