/** A dispatcher of undici, which is what Node's own `fetch` sends requests with. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** Where Node, and every copy of undici, has the dispatcher of `fetch` (undici, lib/global.js). */
const globalDispatcher = Symbol.for('undici.globalDispatcher.1');

let current: Dispatcher | undefined;
let unlimited: Dispatcher | undefined;

/**
 * `fetch` without undici's own limits of 300 s for the first byte and between two bytes: the signal
 * of the request alone decides. Local servers read a long prompt for longer than that.
 */
export const fetchWithoutLimits: typeof globalThis.fetch = (address, init) =>
  globalThis.fetch(address, { ...init, dispatcher: dispatcherWithoutLimits() } as RequestInit);

function dispatcherWithoutLimits(): Dispatcher | undefined {
  // Node loads undici on first use.
  void new Headers();
  const now = (globalThis as unknown as Record<symbol, Dispatcher | undefined>)[globalDispatcher];
  if (now !== current) {
    current = now;
    unlimited = now === undefined ? undefined : withoutLimits(now);
  }
  return unlimited;
}

function withoutLimits(of: Dispatcher): Dispatcher {
  const limits = { headersTimeout: 0, bodyTimeout: 0 };
  const Kind = of.constructor as new (options: object) => Dispatcher;
  // These two take options alone; a proxy or a recorder of someone else stays as it is.
  return /^(?:EnvHttpProxy)?Agent$/.test(Kind.name)
    ? new Kind({ ...limits, connect: { timeout: 0 } })
    : { dispatch: (options, handler) => of.dispatch({ ...options, ...limits }, handler) };
}
