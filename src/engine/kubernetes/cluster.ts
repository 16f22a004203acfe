import type { CoreV1Api, KubeConfig, NetworkingV1Api } from '@kubernetes/client-node';
import { HumanError, messageOf } from '../../domain/work';
import { clusterProblem } from './clusterProblem';
import type { KubernetesSettings } from './kubernetesSettings';

/** A cluster, in one namespace. */
export interface Cluster {
  readonly config: KubeConfig;
  readonly core: CoreV1Api;
  readonly networking: NetworkingV1Api;
  readonly namespace: string;
  /** For people: address of the API and the namespace. */
  readonly where: string;
  /**
   * Waits for an answer of the API, for half a minute at most.
   *
   * @throws HumanError saying what could not be done
   */
  readonly ask: <T>(doing: string, call: () => Promise<T>) => Promise<T>;
}

/** Milliseconds for an answer of the API. */
const answerTimeout = 30_000;

/**
 * Reads the kubeconfig of the user, or of the pod that this process runs in. The client is loaded
 * only now: nothing else needs it.
 *
 * @throws HumanError when there is no configuration or no such context
 */
export async function openCluster({
  context,
  namespace: chosen,
}: Pick<KubernetesSettings, 'context' | 'namespace'>): Promise<Cluster> {
  const client = await import('@kubernetes/client-node');
  const config = new client.KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw new HumanError(
      `The kubeconfig cannot be read: ${messageOf(error)}`,
      'Set KUBECONFIG to a file that kubectl can use',
    );
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const known = config.getContexts().map(({ name }) => name);
      throw new HumanError(
        `The kubeconfig has no context ${context}`,
        known.length === 0 ? 'Add one with kubectl config' : `Choose one of ${known.join(', ')}`,
      );
    }
    config.setCurrentContext(context);
  }
  const server = config.getCurrentCluster()?.server;
  if (server === undefined || config.getCurrentContext() === 'loaded-context') {
    throw new HumanError(
      'No Kubernetes cluster is configured: no kubeconfig has one',
      'Set KUBECONFIG, or choose a context with --kube-context',
    );
  }
  const own = config.getContextObject(config.getCurrentContext())?.namespace;
  const namespace = chosen ?? own ?? 'default';
  const where = `${server}, namespace ${namespace}`;
  return {
    config,
    core: config.makeApiClient(client.CoreV1Api),
    networking: config.makeApiClient(client.NetworkingV1Api),
    namespace,
    where,
    async ask(doing, call) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('no answer in time')), answerTimeout);
      });
      try {
        return await Promise.race([call(), late]);
      } catch (error) {
        throw clusterProblem(error, where, doing);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
