import type { EngineName } from '../../engine/engine';

/** Variables by which a program finds an engine. */
const variables: Readonly<Record<EngineName, readonly string[]>> = {
  local: [],
  docker: [
    ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG'],
    ...['DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY', 'DOCKER_TLS'],
  ],
  kubernetes: ['KUBECONFIG'],
};

/** Those variables of an environment that a program needs to find an engine. */
export const engineVariables = (
  engine: EngineName,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    variables[engine].flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
