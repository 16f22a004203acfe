import { furtherFormats } from '../../../src/patch/patchFormats';
import { toUnified as convert, type Conversion } from '../../../src/patch/toUnified';
import { recognise as find } from '../../../src/patch/reading/recognise';
import { unified } from '../../../src/patch/unified/unifiedDescriptor';

const all = [unified, ...furtherFormats] as const;

/** Name of a format that the programs have. */
export type PatchFormat = (typeof all)[number]['name'];
export type AskedFormat = 'auto' | PatchFormat;

/** `toUnified` with all formats, as the programs call it. */
export const toUnified = (
  text: string,
  asked: Omit<Parameters<typeof convert>[1], 'formats'>,
): Promise<Conversion> => convert(text, { formats: furtherFormats, ...asked });

/** `recognise` with all formats. */
export const recognise = (text: string, asked: AskedFormat): ReturnType<typeof find> =>
  find(
    text,
    all,
    all.find(({ name }) => name === asked),
  );
