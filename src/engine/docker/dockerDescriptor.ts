import type { EngineDescriptor } from '../sandbox/descriptor';
import { dockerSettings } from './dockerSettings';

/** Containers of Docker or Podman, on this machine or on another. */
export const docker: EngineDescriptor = {
  name: 'docker',
  inContainers: true,
  settings: [dockerSettings],
  variables: [
    ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG'],
    ...['DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY', 'DOCKER_TLS'],
  ],
  missing: 'docker',
  async ready({ values, signal }) {
    const { connect } = await import('./connection/connect');
    await (await connect({ host: dockerSettings.in(values).host, signal })).close();
  },
  async open({ environments, storage, assets, values, isAwaited, signal }) {
    const { dockerEngine } = await import('./dockerEngine');
    const settings = dockerSettings.in(values);
    return dockerEngine({ environments, storage, assets, settings, isAwaited, signal });
  },
};
