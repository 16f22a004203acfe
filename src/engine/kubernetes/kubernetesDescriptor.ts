import type { EngineDescriptor } from '../sandbox/descriptor';
import { dockerSettings } from '../docker/dockerSettings';
import { kubernetesSettings } from './kubernetesSettings';

/** Pods of a cluster, one for each side. It is asked only when tests run: it may want a login. */
export const kubernetes: EngineDescriptor = {
  name: 'kubernetes',
  inContainers: true,
  settings: [dockerSettings, kubernetesSettings],
  variables: ['KUBECONFIG'],
  async open({ environments, assets, values }) {
    const { kubernetesEngine } = await import('./kubernetesEngine');
    return kubernetesEngine({
      environments,
      assets,
      settings: kubernetesSettings.in(values),
      shared: dockerSettings.in(values),
    });
  },
};
