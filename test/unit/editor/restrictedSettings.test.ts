import assert from 'node:assert/strict';
import manifest from '../../../package.json';

/** Settings that an untrusted workspace may set: they name no program, path or address. */
const harmless = [
  'swt-bench.codeLens',
  'swt-bench.timeout',
  'swt-bench.warmStart',
  'swt-bench.validationRepetitions',
];

describe('settings that a workspace brings', () => {
  const settings = Object.entries(
    Object.assign(
      {},
      ...[manifest.contributes.configuration].flat().map(({ properties }) => properties),
    ) as Record<string, { readonly scope?: string }>,
  );
  const restricted: readonly string[] =
    manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;

  it('are each of the machine, or used in a trusted workspace alone, or harmless', () => {
    assert.ok(settings.length > 20);
    for (const [name, { scope }] of settings) {
      const kinds = [scope === 'machine', restricted.includes(name), harmless.includes(name)];
      assert.equal(kinds.filter(Boolean).length, 1, `${name}, whose scope is ${scope}`);
    }
  });

  it('exist where they are restricted', () => {
    const names = settings.map(([name]) => name);
    assert.deepEqual(
      restricted.filter((name) => !names.includes(name)),
      [],
    );
  });
});
