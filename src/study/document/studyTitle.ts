import type { StudyDocument } from './document';
import { shortDatasetName } from '../entry';

/** What a page is about and of when, such as `night · lite.jsonl · 2026-11-25`. */
export function studyTitle(document: Pick<StudyDocument, 'runs' | 'created'>): string {
  const { runs } = document;
  const [only] = runs;
  const name = runs.length === 1 && only !== undefined ? only.label : `${runs.length} runs`;
  return [name, ...datasetsOf(document), dayOf(document.created)].join(' · ');
}

/** The line below the title of a page: its datasets, the days of its runs, and who made it when. */
export function studyOrigin(document: Pick<StudyDocument, 'runs' | 'created' | 'product'>): string {
  const datasets = datasetsOf(document);
  const days = document.runs
    .flatMap(({ created }) => (created === undefined ? [] : [dayOf(created)]))
    .sort();
  const [first, last] = [days[0], days.at(-1)];
  return [
    ...(datasets.length === 0
      ? []
      : [`${datasets.length === 1 ? 'Dataset' : 'Datasets'} ${datasets.join(', ')}`]),
    ...(first === undefined || last === undefined
      ? []
      : [`Evaluated ${first === last ? first : `${first} to ${last}`}`]),
    `Created ${dayOf(document.created)} with SWT-Bench ${document.product}`,
  ].join(' · ');
}

/** The names of the runs' datasets, each once. */
const datasetsOf = ({ runs }: Pick<StudyDocument, 'runs'>): string[] => [
  ...new Set(
    runs.flatMap(({ dataset }) => (dataset === undefined ? [] : [shortDatasetName(dataset)])),
  ),
];

/** `YYYY-MM-DD` of a time in ISO 8601. */
const dayOf = (time: string): string => time.slice(0, 10);
