import assert from 'node:assert/strict';
import { engineVariables } from '../../../src/editor/tools/engineVariables';

describe('the variables of an engine', () => {
  it('are those by which a program finds it, where they are set', () => {
    const environment = { KUBECONFIG: '/k', DOCKER_HOST: 'tcp://h', OPENAI_API_KEY: 'secret' };
    assert.deepEqual(engineVariables('kubernetes', environment), { KUBECONFIG: '/k' });
    assert.deepEqual(engineVariables('docker', environment), { DOCKER_HOST: 'tcp://h' });
    assert.deepEqual(engineVariables('local', environment), {});
    assert.deepEqual(engineVariables('kubernetes', {}), {});
  });
});
