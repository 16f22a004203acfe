import assert from 'node:assert/strict';
import { environmentPick } from '../../../../src/editor/instance/environmentPick';

describe('the list of environments', () => {
  const known = [
    { path: '/envs/a/bin/python', name: 'a$(trash)', version: '3.9.2' },
    { path: '/usr/bin/python3', name: '', version: '3.11.7' },
    { path: '/envs/b/bin/python', name: 'b', version: '' },
  ];
  const shown = { current: '', needed: '3.7', day: '2019-10-01', containers: undefined };
  const further = [undefined, 'detect', 'devContainer', 'engine'];

  it('offers one that is created, the default one, those that are known, and what else there is', () => {
    const choices = environmentPick(known, shown);
    assert.deepEqual(
      choices.map(({ does }) => (typeof does === 'object' ? does.set : does)),
      [
        ...['create', '', 'browse', ...further, undefined],
        ...['/usr/bin/python3', '/envs/a/bin/python', '/envs/b/bin/python'],
      ],
    );
    assert.match(choices[0]?.detail ?? '', /Python 3\.7 .* 2019-10-01/);
    const [system, a, b] = choices.slice(-3);
    assert.equal(a?.label, 'Python 3.9.2 (a\\$(trash))', 'a name is no icon');
    assert.equal(system?.label, 'Python 3.11.7');
    assert.equal(b?.label, 'Python (b)', 'its version is not known yet');
    // What is found does not move what is there.
    assert.deepEqual(environmentPick([], shown), choices.slice(0, -4));
  });

  it('begins with the Python that R needs', () => {
    const choices = environmentPick(known, { ...shown, needed: '3.9' });
    assert.equal(choices.at(-3)?.label, 'Python 3.9.2 (a\\$(trash))');
  });

  it('says which is current', () => {
    for (const current of ['auto', '', '/usr/bin/python3']) {
      const chosen = environmentPick(known, { ...shown, current }).filter(
        ({ description }) => description === 'current',
      );
      assert.deepEqual(
        chosen.map(({ does }) => does),
        [current === 'auto' ? 'create' : { set: current }],
      );
    }
  });

  it('offers no interpreter where tests run in containers', () => {
    const choices = environmentPick(known, { ...shown, containers: 'docker' });
    assert.deepEqual(
      choices.map(({ does }) => does),
      further.slice(1),
    );
  });
});
