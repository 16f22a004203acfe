import { settingKeys } from '../names';

/**
 * Settings by the options of the command line that mean the same. Those of the engines are written
 * here once more, since their tables import the validation library, which the small bundle does
 * without; a test holds them equal.
 */
export const settingOfOption: Readonly<Record<string, string>> = {
  '--engine': settingKeys.engine,
  '--python': settingKeys.python,
  '--timeout': settingKeys.timeout,
  '--dataset': settingKeys.dataset,
  '--source': settingKeys.repositorySources,
  '--storage': settingKeys.storage,
  '--triage': settingKeys.triageFile,
  '--run-tests-locally': settingKeys.runModelTestsLocally,
  '--budget-tokens': settingKeys.tokenBudget,
  '--refine': settingKeys.refine,
  '--agent-program': settingKeys.agents,
  '--context-tokens': settingKeys.contextTokens,
  '--max-output-tokens': settingKeys.maxOutputTokens,
  '--request-timeout': settingKeys.requestTimeout,
  '--embedding-model': settingKeys.embeddingModel,
  '--embedding-base-url': settingKeys.embeddingBaseUrl,
  '--embedding-price': settingKeys.embeddingPrice,
  '--base-url': settingKeys.models,
  '--model-window': settingKeys.models,
  '--docker-host': 'swt-bench.docker.host',
  '--base-image': 'swt-bench.docker.baseImage',
  '--prebuilt': 'swt-bench.docker.prebuilt',
  '--memory': 'swt-bench.docker.memory',
  '--cpus': 'swt-bench.docker.cpus',
  '--disk': 'swt-bench.docker.disk',
  '--processes': 'swt-bench.docker.processes',
  '--build-minutes': 'swt-bench.docker.buildMinutes',
  '--network': 'swt-bench.docker.network',
  '--image-budget': 'swt-bench.docker.budget',
  '--kube-context': 'swt-bench.kubernetes.context',
  '--namespace': 'swt-bench.kubernetes.namespace',
  '--mirror': 'swt-bench.kubernetes.mirrors',
  '--pull-secret': 'swt-bench.kubernetes.pullSecrets',
  '--node-selector': 'swt-bench.kubernetes.nodeSelector',
  '--toleration': 'swt-bench.kubernetes.tolerations',
  '--priority-class': 'swt-bench.kubernetes.priorityClass',
  '--pending-minutes': 'swt-bench.kubernetes.pendingMinutes',
  '--accept-network': 'swt-bench.kubernetes.acceptNetwork',
};
