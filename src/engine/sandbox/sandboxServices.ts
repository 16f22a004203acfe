import { builtFolder } from '../docker/containerImage';
import { services, type ServiceName } from './services';

/** Port of the first service in a sandbox, whose loopback nothing else uses. */
const firstPort = 7077;

/** The interpreter of a service in images that are built here. */
export const servicePython = (name: ServiceName): string =>
  `${builtFolder}/services/${name}/bin/python`;

/** What a sandbox in a container has to start for a run, and the variables that tests find it by. */
export function servicesInSandbox(names: readonly ServiceName[]): {
  readonly started: readonly {
    readonly name: string;
    readonly argv: readonly string[];
    readonly port: number;
  }[];
  readonly env: Readonly<Record<string, string>>;
} {
  const placed = names.map((name, index) => ({ name, port: firstPort + index }));
  return {
    started: placed.map(({ name, port }) => ({
      ...{ name, port },
      argv: [servicePython(name), ...services[name].args(port)],
    })),
    env: Object.assign({}, ...placed.map(({ name, port }) => services[name].env(port))) as Record<
      string,
      string
    >,
  };
}
