import { limitProfiles, type LimitProfile } from '../../method/agents/agent';
import type { Method } from '../../method/method';

/** The limits that a setting names. Anything else stands for those of the paper, its default. */
export const limitProfileOf = (value: unknown): LimitProfile =>
  limitProfiles.find((each) => each === value) ?? 'paper';

/**
 * The part of a run's record about limits. It is empty for the default and for methods that have no
 * such limits, so that a changed setting makes no other run of these.
 */
export const recordedLimits = (
  { limits }: Pick<Method, 'limits'>,
  chosen: LimitProfile,
): { readonly limits?: LimitProfile } =>
  limits === undefined || chosen === 'paper' ? {} : { limits: chosen };
