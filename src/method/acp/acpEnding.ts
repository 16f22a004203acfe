/**
 * How the session of an agent ended: it finished its turn, refused, was cut off by a limit of its own
 * or of its model, broke off, never answered, or reached a limit of ours.
 */
export const acpEndings = [
  ...['finished', 'refused', 'cut off', 'crashed', 'silent'],
  ...['time', 'calls', 'cost', 'output', 'disk', 'memory', 'processes', 'cancelled'],
] as const;
export type AcpEnding = (typeof acpEndings)[number];
