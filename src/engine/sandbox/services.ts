import { pythonText } from '../pythonProgram';

/** Programs on the loopback that tests of a repository connect to, as recipes name them. */
export const serviceNames = ['httpbin'] as const;
export type ServiceName = (typeof serviceNames)[number];

interface Service {
  /** Requirements of its own environment, which nothing of a repository shares. */
  readonly requirements: readonly string[];
  /** Versions of Python that it runs with, the preferred one first. */
  readonly pythons: readonly string[];
  /** Day as of which these are taken: the service is the same for instances of all days. */
  readonly day: string;
  /** Arguments of the interpreter of its environment. */
  readonly args: (port: number) => readonly string[];
  /** How tests find it. */
  readonly env: (port: number) => Readonly<Record<string, string>>;
}

export const services: Readonly<Record<ServiceName, Service>> = {
  httpbin: {
    requirements: ['httpbin==0.10.2', 'gunicorn==22.0.0'],
    pythons: ['3.11', '3.12', '3.10', '3.9'],
    day: '2024-06-01',
    // httpbin answers chunked requests only under gunicorn. Threads keep connections open, as
    // httpbin.org does.
    args: (port) => [
      ...[
        '-c',
        pythonText('plain_gunicorn.py'),
        '--bind',
        `127.0.0.1:${port}`,
        '--worker-class',
        'gthread',
      ],
      ...['--threads', '16', '--keep-alive', '60', '--log-level', 'critical', 'httpbin:app'],
    ],
    env: (port) => ({ HTTPBIN_URL: `http://127.0.0.1:${port}/` }),
  },
};

/** What a run remarks on a service that its environment lacks. */
export const missingService = (name: string): string =>
  `tests may need ${name}, which the environment does not have`;

/** Programs of the system that tests of some repositories run, as recipes name them. */
export const programNames = ['latex', 'dvipng', 'gs', 'dot', 'msgfmt'] as const;
export type ProgramName = (typeof programNames)[number];

/** How a log speaks of a program, where a test is skipped or fails without it. */
const words: Readonly<Record<ProgramName, RegExp>> = {
  latex: /\b(?:la)?tex\b/i,
  dvipng: /\bdvipng\b/i,
  gs: /\bghostscript\b/i,
  dot: /\bgraphviz\b/i,
  msgfmt: /\b(?:msgfmt|gettext)\b/i,
};

/**
 * What a run remarks on programs that its environment lacks. A program counts where the log speaks of
 * it: tests that need it are skipped or fail.
 *
 * @param missing programs that are not on the path
 * @param log what the tests printed
 */
export const missingPrograms = (missing: readonly string[], log: string): string[] =>
  programNames
    .filter((name) => missing.includes(name) && words[name].test(log))
    .map((name) => `a test needs ${name}, which the environment does not have`);
