import { z } from 'zod';

/** What a person may set of the docker engine. */
export const dockerSettings = z.object({
  /**
   * Address of the engine (`unix://`, `tcp://`, `ssh://`, `npipe://`) instead of what `DOCKER_HOST`, the
   * current context and the usual sockets say.
   */
  host: z.string().optional(),
  /**
   * Image that environments are built on, `{python}` standing for the version such as 3.9.
   * https://hub.docker.com/_/python
   */
  baseImage: z.string().default('python:{python}-bookworm'),
  /**
   * Where prebuilt images of SWE-bench are pulled from: a namespace, with the registry before it where it
   * is not Docker Hub. Empty: none are pulled.
   */
  prebuilt: z.string().default('swebench'),
  /** MiB of memory of each sandbox, its temporary files included. */
  memoryMb: z.number().int().min(64).default(4096),
  /** Processes and threads of each sandbox. */
  processes: z.number().int().min(16).default(512),
  /** Processors of each sandbox; 0 for no limit. */
  cpus: z.number().min(0).default(0),
  /** MiB that the tests of a sandbox may write. */
  diskMb: z.number().int().min(16).default(4096),
  /** Ids of instances and names of repositories whose tests may use the network. */
  network: z.array(z.string()).default(['psf/requests']),
  /** Minutes without a run after which a pair is stopped; 0 for never. */
  idleMinutes: z.number().min(0).default(15),
  /** GiB that images built here may take. */
  budgetGb: z.number().min(1).default(50),
});

export type DockerSettings = z.infer<typeof dockerSettings>;
