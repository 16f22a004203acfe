/**
 * Replaces control characters and line ends by spaces. Names and messages from files and tested code
 * must not break a line or control the terminal.
 */
export const withoutControl = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- this pattern removes them
  text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
