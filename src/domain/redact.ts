/** A text without keys. */
export type Redact = (text: string) => string;

/** What stands in the place of a key. */
export const keyMark = '[key]';

/** A shorter value is no secret, such as the word that a server of one's own takes for a key. */
export const leastKeyLength = 8;

/**
 * Takes keys out of texts, however they are written: as they are, escaped in JSON or in an address, in
 * base64 (also within a longer text that was encoded whole) and in hexadecimal digits.
 *
 * @param keys those shorter than `leastKeyLength` are passed over
 */
export function redactor(keys: readonly string[]): Redact {
  const forms = formsOf(keys);
  if (forms.length === 0) return (text) => text;
  const any = new RegExp(forms.map(escaped).join('|'), 'g');
  return (text) => text.replace(any, keyMark);
}

/** All ways in which keys may be written, the longest first. */
export function formsOf(keys: readonly string[]): string[] {
  const usable = keys.filter((key) => key.length >= leastKeyLength);
  const forms = new Set(
    usable.flatMap((key) => {
      const hex = Buffer.from(key).toString('hex');
      return [
        key,
        JSON.stringify(key).slice(1, -1),
        encodeURIComponent(key),
        ...base64Forms(key),
        hex,
        hex.toUpperCase(),
      ];
    }),
  );
  return [...forms].sort((one, other) => other.length - one.length);
}

/** The characters of base64 that depend on the key alone, at each of the three offsets that it may have. */
function base64Forms(key: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]);
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor((bytes.length * 8) / 6);
    const form = bytes.toString('base64').slice(first, end);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Redacts a text that comes in pieces, of which none may end within a key. */
export interface RedactedStream {
  /** @returns what can be told by now, which may be empty */
  write(piece: string): string;
  /** @returns the rest */
  end(): string;
}

/**
 * @param longest characters of the longest form of a key; as many of an unfinished line are held back
 */
export function redactedStream(redact: Redact, longest: number): RedactedStream {
  let held = '';
  return {
    write(piece) {
      held += piece;
      // No form of a key holds a line end.
      const whole = held.lastIndexOf('\n') + 1;
      const rest = held.slice(whole);
      const told = redact(held.slice(0, whole));
      // What is redacted in the rest stays so, and what is left of its end may be the start of a key.
      const safe = redact(rest);
      const keep = Math.min(safe.length, Math.max(0, longest - 1));
      held = safe.slice(safe.length - keep);
      return told + safe.slice(0, safe.length - keep);
    },
    end() {
      const rest = redact(held);
      held = '';
      return rest;
    },
  };
}
