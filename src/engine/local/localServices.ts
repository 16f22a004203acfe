import { createServer } from 'node:net';
import { HumanError } from '../../domain/work';
import type { EnvironmentMaker } from '../environmentMaker';
import type { StartedService } from '../programs/process';
import { missingService, services, type ServiceName } from '../sandbox/services';

/**
 * Services that tests expect, each on a free port of the loopback and from an environment of its own
 * in the storage folder. One that is not available is named in a remark, and the tests run without it.
 *
 * @throws Cancelled
 */
export async function localServices(
  names: readonly ServiceName[],
  { environments, storage }: { readonly environments: EnvironmentMaker; readonly storage: string },
  signal: AbortSignal | undefined,
): Promise<{ readonly services: readonly StartedService[]; readonly remarks: readonly string[] }> {
  const found: StartedService[] = [];
  const remarks: string[] = [];
  for (const name of names) {
    const python = await environments
      .serviceEnvironment(name, storage, signal)
      .catch((error: unknown) => {
        if (!(error instanceof HumanError)) throw error;
        remarks.push(`${missingService(name)}: ${error.what}`);
      });
    if (python === undefined) continue;
    const port = await freePort();
    const { args, env } = services[name];
    found.push({ name, port, argv: [python, ...args(port)], env: env(port) });
  }
  return { services: found, remarks };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
