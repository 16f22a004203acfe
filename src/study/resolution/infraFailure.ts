/**
 * What in a log points to a fault of the environment, as SWE-bench 5 looks for it
 * (`infra_failure.py`). It never changes a grade.
 */
interface InfraFailure {
  readonly reason: string;
  /** `ambiguous`: a wrong patch may have the same effect. */
  readonly tier: 'environment' | 'ambiguous';
}

/** In this order; the first that matches counts. */
const signatures: readonly (readonly [
  reason: string,
  tier: InfraFailure['tier'],
  pattern: RegExp,
])[] = [
  ['browser_launch_failed', 'environment', /Failed to launch|Failed to connect to the bus/],
  [
    'display_unavailable',
    'environment',
    /cannot open display|Missing X server|unable to open X display/,
  ],
  [
    'out_of_memory',
    'environment',
    /Cannot allocate memory|OutOfMemoryError|(?:^|\n)Killed(?:\n|$)/,
  ],
  [
    'container_unavailable',
    'environment',
    /Error response from daemon|Cannot connect to the Docker daemon/,
  ],
  [
    'network_unreachable',
    'environment',
    /Could not resolve host|Temporary failure in name resolution/,
  ],
  ['missing_module', 'ambiguous', /Cannot find module|MODULE_NOT_FOUND|ModuleNotFoundError/],
  ['no_tests_collected', 'ambiguous', /no tests ran|collected 0 items/],
  ['tests_timed_out', 'ambiguous', /Timeout error: \d+ seconds exceeded/],
];

/** The first signature in these texts, read as one. */
export function infraFailure(...texts: readonly string[]): InfraFailure | undefined {
  const text = texts.join('\n').replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const found = signatures.find(([, , pattern]) => pattern.test(text));
  return found === undefined ? undefined : { reason: found[0], tier: found[1] };
}
