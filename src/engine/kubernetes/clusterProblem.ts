import { HumanError, messageOf } from '../../domain/work';
import { EngineGone, EngineTrouble } from '../docker/connection/engineProblem';

/** The quota of the namespace leaves no room for a pod at present, which is worth waiting for. */
export class QuotaUsed extends EngineTrouble {
  /** @param reason what the API says of the quota */
  constructor(
    message: string,
    advice: string,
    readonly reason: string,
  ) {
    super(message, advice);
  }
}

/** Status of an answer of the API, such as 403; undefined when there was none. */
export function apiStatus(error: unknown): number | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

/**
 * The error of an unhappy answer of the API, in words. A cluster that does not answer, or answers
 * that it cannot serve now, is worth another attempt: {@link EngineGone}, {@link EngineTrouble}.
 *
 * @param where address of the API, with the namespace
 * @param doing such as `creating a pod`
 */
export function clusterProblem(error: unknown, where: string, doing: string): HumanError {
  if (error instanceof HumanError) return error;
  const status = apiStatus(error);
  const reason = reasonIn(error);
  if (status === undefined) {
    return new EngineGone(
      `The Kubernetes API at ${where} did not respond while ${doing}: ${reason}`,
      'Check whether the cluster is reachable: kubectl get pods',
    );
  }
  if (status === 401) {
    return new HumanError(
      `The Kubernetes API at ${where} rejected your credentials while ${doing}`,
      'Log in again as for kubectl, or choose another context with --kube-context',
    );
  }
  if (status === 403) {
    const isQuota = /exceeded quota/i.test(reason);
    if (isQuota) {
      return new QuotaUsed(
        `The namespace's quota is exhausted, while ${doing}: ${reason}`,
        'Use fewer --workers, or less --memory and --cpus',
        reason.replace(/^.*?(?=exceeded quota)/i, ''),
      );
    }
    return new HumanError(
      `You have no permission in the cluster at ${where} for ${doing}: ${reason}`,
      'docs/kubernetes.md lists the role that the engine needs',
    );
  }
  if (status === 404) {
    return new HumanError(
      `Not found in the cluster at ${where}, while ${doing}: ${reason}`,
      'Check --namespace and --kube-context',
    );
  }
  if (status === 429 || status >= 500) {
    return new EngineTrouble(
      `The Kubernetes API at ${where} failed (status ${status}) while ${doing}: ${reason}`,
      'Try again; the API server may be back soon',
    );
  }
  return new HumanError(
    `The Kubernetes API at ${where} refused ${doing} (status ${status}): ${reason}`,
    "Check the engine's settings",
  );
}

/** The message of the API's `Status` object, or of the error itself; on one line. */
function reasonIn(error: unknown): string {
  const { body } = error as { readonly body?: unknown };
  const text = typeof body === 'string' ? messageIn(body) : messageOf(error);
  return text.replace(/\s+/g, ' ').slice(0, 400);
}

function messageIn(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    return typeof message === 'string' ? message : body;
  } catch {
    return body;
  }
}
