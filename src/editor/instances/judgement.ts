import * as l10n from '@vscode/l10n';
import { checkedTag } from '../../dataset/triageFile';
import { messageOf } from '../../domain/work';
import { asLabel } from '../../domain/text';
import type { TriageEntry } from '../../domain/soundness';

/** What the user says of an instance in one line. */
export interface Judgement {
  readonly tags: readonly string[];
  readonly reason: string;
}

/** A line that cannot be used, with what is wrong about it. */
interface Refusal {
  readonly problem: string;
}

/** Tags that are offered before there are any. */
const firstTags = ['sound', 'unsound'];

/** The tags that a line names by number: the usual two, and then those in use. */
export const numberedTags = (inUse: readonly string[]): string[] => [
  ...new Set([...firstTags, ...inUse]),
];

/**
 * Index of the instance with which judging continues: the first one without a judgement. The first of
 * all when every one has one.
 */
export const firstToJudge = (
  ids: readonly string[],
  triageOf: (id: string) => Pick<TriageEntry, 'tags' | 'note'> | undefined,
): number =>
  Math.max(
    ids.findIndex((id) => lineOf(triageOf(id)) === ''),
    0,
  );

/** A comma-separated list of words or of quoted texts at the beginning of a line. */
const listOfTags = /^\s*((?:"[^"]*"|[^\s,"]+)(?:,\s*(?:"[^"]*"|[^\s,"]+))*),?(?:\s+|$)/;

/**
 * Reads `2 needs the network`: tags, and then the reason. A tag is a number of the list, the first
 * letters of one tag of it, or a new word; several have commas between them. Quotes take a tag
 * literally. A hyphen stands for no tag.
 */
export function readJudgement(text: string, numbered: readonly string[]): Judgement | Refusal {
  const [all = '', list = ''] = listOfTags.exec(text) ?? [];
  const reason = text.slice(all.length).trim();
  if (list === '' || list === '-') return { tags: [], reason: list === '' ? text.trim() : reason };
  const tags: string[] = [];
  for (const [word] of list.matchAll(/"[^"]*"|[^\s,"]+/g)) {
    const tag = tagOfWord(word, numbered);
    if (typeof tag !== 'string') return tag;
    if (!tags.includes(tag)) tags.push(tag);
  }
  return { tags, reason };
}

function tagOfWord(word: string, numbered: readonly string[]): string | Refusal {
  if (word.startsWith('"')) return validTag(word.slice(1, -1));
  if (numbered.includes(word)) return word;
  if (/^\d+$/.test(word)) return numbered[Number(word) - 1] ?? validTag(word);
  const begun = numbered.filter((tag) => tag.toLowerCase().startsWith(word.toLowerCase()));
  const [only] = begun;
  if (begun.length > 1)
    return { problem: `"${word}" begins ${begun.join(', ')}: type one more letter` };
  return only ?? validTag(word);
}

function validTag(text: string): string | Refusal {
  try {
    return checkedTag(text);
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** New tags as typed into a list of tags, with commas between them. */
export function typedTags(text: string): readonly string[] | Refusal {
  const tags: string[] = [];
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const tag = validTag(part);
    if (typeof tag !== 'string') return tag;
    tags.push(tag);
  }
  return [...new Set(tags)];
}

/** What stays of typed tags once some are ticked: words by which those were searched go. */
export const typedAfterTicking = (text: string, ticked: readonly string[]): string =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .filter((part) => !ticked.some((tag) => tag.toLowerCase().includes(part.toLowerCase())))
    .join(', ');

/** The line that `readJudgement` reads back as the tags and the note of an instance. */
export function lineOf(entry: Pick<TriageEntry, 'tags' | 'note'> | undefined): string {
  if (entry === undefined) return '';
  const note = entry.note.replace(/\s+/g, ' ');
  if (entry.tags.length === 0) return note === '' ? '' : `- ${note}`;
  // A hyphen alone stands for no tag.
  const isPlain = (tag: string): boolean => tag !== '-' && /^[^\s"]*[^\s"\d][^\s"]*$/.test(tag);
  const tags = entry.tags.map((tag) => (isPlain(tag) ? tag : `"${tag}"`));
  return `${tags.join(',')} ${note}`.trim();
}

/**
 * What a click on a tag means beside a typed line: the tag in place of typed tags, and a line
 * without a known tag is the reason as a whole.
 */
export function judgementByClick(
  tag: string,
  text: string,
  numbered: readonly string[],
): Judgement {
  const read = readJudgement(text, numbered);
  const isKnown = !('problem' in read) && read.tags.every((each) => numbered.includes(each));
  return { tags: [tag], reason: isKnown ? read.reason : text.trim() };
}

/** A row of the box in which the user judges. */
export interface JudgementRow {
  readonly label: string;
  readonly description: string;
  /** What choosing the row says; absent where nothing is changed or the line cannot be used. */
  readonly says?: Judgement;
  /** Whether the row leads to the next instance. */
  readonly goesOn: boolean;
}

/**
 * The rows for a typed line: first what Enter does, then the numbered tags.
 *
 * @param before the line that stood there at first
 */
export function judgementRows({
  text,
  before,
  numbered,
}: {
  text: string;
  before: string;
  numbered: readonly string[];
}): JudgementRow[] {
  const tags = numbered.map((tag, index) => ({
    label: `${index + 1}  ${tag}`,
    description: '',
    says: judgementByClick(tag, text, numbered),
    goesOn: true,
  }));
  return [enterRow({ text, before, numbered }), ...tags];
}

function enterRow({
  text,
  before,
  numbered,
}: {
  text: string;
  before: string;
  numbered: readonly string[];
}): JudgementRow {
  if (text.trim() === before.trim()) {
    return {
      label: `$(arrow-right) ${l10n.t('Skip')}`,
      description: l10n.t('Press Enter for the next instance'),
      goesOn: true,
    };
  }
  const read = readJudgement(text, numbered);
  if ('problem' in read) {
    return { label: `$(warning) ${asLabel(read.problem)}`, description: '', goesOn: false };
  }
  const words = [
    read.tags
      .map((tag) => `#${tag}${numbered.includes(tag) ? '' : ` (${l10n.t('new tag')})`}`)
      .join(' '),
    read.reason,
  ].filter((each) => each !== '');
  return {
    label: `$(check) ${asLabel(words.join(' · ') || l10n.t('No tag and no note'))}`,
    description: l10n.t('Press Enter to save and go to the next instance'),
    says: read,
    goesOn: true,
  };
}
