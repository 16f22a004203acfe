/** The last part of a path or address, as people call a dataset. */
export function shortDatasetName(dataset: string): string {
  const parts = dataset.split(/[\\/]/).filter((part) => part !== '');
  return /^(https?:\/\/|~?[\\/]|[A-Za-z]:)/.test(dataset) ? (parts.at(-1) ?? dataset) : dataset;
}
