type Skippable = Mocha.Runnable & { skipReason?: string };

/** Skips a test, by name and with its cause. */
export function skipTest(context: Mocha.Context, cause: string): never {
  const test: Skippable | undefined = context.test;
  if (test !== undefined) test.skipReason = `${test.fullTitle()}: ${cause}`;
  return context.skip();
}

/** Skips all tests of a suite, by name and with their cause; for its `before`. */
export function skipSuite(context: Mocha.Context, cause: string): never {
  context.test?.parent?.eachTest((test: Skippable) => {
    test.skipReason = `${test.fullTitle()}: ${cause}`;
  });
  return context.skip();
}
