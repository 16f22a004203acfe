/**
 * A text as a notification may show it. VS Code makes links of `[label](target)` there, to commands as
 * well, and messages quote what somebody else wrote: paths, code, names of tests.
 */
export function withoutLinkMarkup(text: string): string {
  return text.replaceAll('](', '] (');
}
