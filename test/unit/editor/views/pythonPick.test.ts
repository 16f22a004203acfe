import assert from 'node:assert/strict';
import { pythonPick } from '../../../../src/editor/instance/pythonPick';

describe('the list of interpreters', () => {
  const known = [
    { path: '/envs/a/bin/python', name: 'a$(trash)', version: '3.9.2' },
    { path: '/usr/bin/python3', name: '', version: '3.11.7' },
    { path: '/envs/b/bin/python', name: 'b', version: '' },
  ];

  it('offers the environment of the instance, the usual one, and those that are known', () => {
    const choices = pythonPick(known, { current: '', needed: '3.7' });
    assert.deepEqual(
      choices.map(({ does }) => (does === 'browse' ? does : does.set)),
      ['auto', '', '/envs/a/bin/python', '/usr/bin/python3', '/envs/b/bin/python', 'browse'],
    );
    assert.match(choices[0]?.detail ?? '', /Python 3\.7/);
    assert.equal(choices[2]?.label, 'Python 3.9.2 (a\\$(trash))', 'a name is no icon');
    assert.equal(choices[3]?.label, 'Python 3.11.7');
    assert.equal(choices[4]?.label, 'Python (b)', 'its version is not known yet');
  });

  it('says which is chosen', () => {
    for (const current of ['auto', '', '/usr/bin/python3']) {
      const chosen = pythonPick(known, { current, needed: '3.9' }).filter(
        ({ description }) => description === 'chosen',
      );
      assert.deepEqual(
        chosen.map(({ does }) => does),
        [{ set: current }],
      );
    }
  });
});
