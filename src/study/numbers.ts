/**
 * Formats of numbers on pages and in tables. They do not depend on the locale, since the numbers go into
 * papers.
 */

/** A share from 0 to 1 in percent with one decimal; a dash for an undefined value. */
export const percent = (share: number | undefined): string =>
  share === undefined || Number.isNaN(share) ? '–' : `${(share * 100).toFixed(1)} %`;

/** As {@link percent} without the sign, for columns with the sign in their heads. */
export const inPercent = (share: number | undefined): string =>
  share === undefined || Number.isNaN(share) ? '–' : (share * 100).toFixed(1);

/** An integer with narrow spaces between thousands. */
export const number = (of: number): string =>
  String(Math.round(of)).replace(/\B(?=(?:\d{3})+$)/g, '\u202f');

/** Seconds in words: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function seconds(of: number): string {
  if (of < 10) return `${of.toFixed(1)} s`;
  const whole = Math.round(of);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** `< 0.001`, `0.012`, `0.80`. */
export function pValue(p: number): string {
  if (p < 0.001) return '< 0.001';
  return p < 0.1 ? p.toFixed(3) : p.toFixed(2);
}
