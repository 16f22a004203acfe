import { libro } from './libro';
import type { Method, MethodName } from './method';
import { passAt5 } from './passAt5';
import { zeroShot } from './zeroShot';
import { zeroShotPlus } from './zeroShotPlus';

/** The methods of the paper that ask a model without letting it act. */
export const methods: Readonly<Record<MethodName, Method>> = {
  'zero-shot': zeroShot,
  'zero-shot-plus': zeroShotPlus,
  'pass-at-5': passAt5,
  libro,
};

/** A method by its name, however it is written: `ZeroShotPlus`, `Pass@5`. */
export function methodOf(name: string): Method | undefined {
  const plain = (text: string): string =>
    text
      .toLowerCase()
      .replace(/@/g, 'at')
      .replace(/[^a-z0-9]/g, '');
  return Object.values(methods).find(
    (method) => plain(method.name) === plain(name) || plain(method.title) === plain(name),
  );
}
