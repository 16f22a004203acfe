/** Removes keys from a text. */
export type Redact = (text: string) => string;

/** The text that replaces a key. */
const keyMark = '[key]';

/**
 * The fewest characters of a key. A shorter value is no secret, such as the placeholder key of a
 * self-hosted server.
 */
const leastKeyLength = 8;

/**
 * Returns a function that removes keys from texts. It finds them plain, escaped in JSON or a URL,
 * in hexadecimal, and in base64, also within a longer encoded text.
 *
 * @param keys those shorter than `leastKeyLength` are ignored
 */
export function redactor(keys: readonly string[]): Redact {
  const forms = formsOf(keys);
  if (forms.length === 0) return (text) => text;
  const any = new RegExp(forms.map(escaped).join('|'), 'g');
  return (text) => text.replace(any, keyMark);
}

/** All forms in which the keys may be written, the longest first. */
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

/**
 * The base64 characters that depend on the key alone, for each of its three possible offsets in the
 * encoded bytes.
 */
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

/** Redacts a text that arrives in pieces, also where a key is split between two pieces. */
interface RedactedStream {
  /** @returns the redacted text that is complete by now; may be empty */
  write(piece: string): string;
  /** @returns the rest, redacted */
  end(): string;
}

/**
 * @param longest characters of the longest form of a key. The stream holds back up to so many of an
 *   unfinished line.
 */
export function redactedStream(redact: Redact, longest: number): RedactedStream {
  let held = '';
  return {
    write(piece) {
      held += piece;
      // No form of a key contains a line end.
      const whole = held.lastIndexOf('\n') + 1;
      const rest = held.slice(whole);
      const told = redact(held.slice(0, whole));
      // The redacted part of the rest stays redacted. The last characters may be the start of a
      // key.
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
