/** A part of a run that several machines share. */
export interface Shard {
  /** From 1 to `count`. */
  readonly number: number;
  readonly count: number;
}

/** A shard as options and messages write it: `2/4`. */
export const shardText = ({ number, count }: Shard): string => `${number}/${count}`;
