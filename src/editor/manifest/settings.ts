import { engineNames, settingGroups } from '../../engine/engines';
import { acpPresets, limitProfiles, defaultAcpSeconds } from '../../method/agents';
import { refiningOption } from '../../method/generating';
import { methods } from '../../method/methods';
import { embeddingProviders, providers } from '../../method/models';
import { settingKeys } from '../shell/names';

/** A JSON schema as VS Code takes it, with the text of each part in `description`. */
export interface SettingSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly markdownDescription?: string;
  readonly enumDescriptions?: readonly string[];
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly items?: SettingSchema;
  readonly additionalProperties?: SettingSchema | boolean;
  readonly [key: string]: unknown;
}

/** One setting of the editor. */
export interface SettingDescriptor extends SettingSchema {
  readonly markdownDescription: string;
  /**
   * Where it may be set, as in VS Code. `trusted` is `machine-overridable`, and restricted to
   * trusted workspaces, since it names a program, a path or an address.
   */
  readonly from: 'machine' | 'trusted' | 'trusted window' | 'resource' | 'window';
}

/** A group of the settings editor. */
interface SettingSection {
  readonly id: string;
  readonly title: string;
  readonly settings: Readonly<Record<string, SettingDescriptor>>;
}

/** The settings of engines by their ids, which hold types, defaults and bounds. */
const ofEngines = new Map(
  settingGroups()
    .flatMap(({ all }) => all)
    .map((each) => [each.id, each]),
);

function schemaOf(id: string): SettingSchema {
  const found = ofEngines.get(id);
  if (found === undefined) throw new Error(`no engine has the setting ${id}`);
  const { type, default: value, minimum } = found;
  return {
    type: type === 'strings' ? 'array' : type,
    ...(type === 'strings' && { items: { type: 'string' } }),
    default: value ?? (type === 'strings' ? [] : ''),
    ...(minimum !== undefined && { minimum }),
  };
}

/** One setting of an engine, by its id. */
const engineSetting = (
  id: string,
  markdownDescription: string,
): Readonly<Record<string, SettingDescriptor>> => ({
  [id]: { ...schemaOf(id), markdownDescription, from: 'machine' },
});

/** Several settings of an engine as one object, by their ids below that of the object. */
function engineObject(
  id: string,
  markdownDescription: string,
  texts: Readonly<Record<string, string>>,
): Readonly<Record<string, SettingDescriptor>> {
  const properties = Object.fromEntries(
    Object.entries(texts).map(([key, description]) => [
      key,
      { ...schemaOf(`${id}.${key}`), description },
    ]),
  );
  return { [id]: objectSetting(properties, markdownDescription) };
}

const objectSetting = (
  properties: Readonly<Record<string, SettingSchema>>,
  markdownDescription: string,
): SettingDescriptor => ({
  type: 'object',
  additionalProperties: false,
  properties,
  default: Object.fromEntries(
    Object.entries(properties).map(([key, each]) => [key, each['default']]),
  ),
  markdownDescription,
  from: 'machine',
});

const engineTexts: Readonly<Record<string, string>> = {
  local:
    'Run tests on this machine, with the interpreter of swt-bench.python. For code that you trust, and repositories that this Python can run.',
  docker:
    'Run tests in containers without a network, with the Python version and packages of the instance. For code that you do not trust, and for old repositories.',
  kubernetes: 'Run tests in pods of a Kubernetes cluster, one for each side.',
};

const limitTexts = {
  paper: 'Limits of papers or default configurations.',
  modern: 'Larger limits for today’s models.',
};

/** Says how many calls each agent may make, and for how many dollars. */
function limitsInWords(profile: keyof typeof limitTexts): string {
  const agents = methods.flatMap(({ title, limits }) =>
    limits === undefined ? [] : [{ title, ...limits[profile] }],
  );
  const calls = agents.map(({ title, calls: most }) => `${title} ${most}`).join(', ');
  const dollars = Math.max(...agents.map(({ dollars: most }) => most));
  return `${limitTexts[profile]} Calls: ${calls}; each at most ${dollars} dollars.`;
}

const text = (
  markdownDescription: string,
  from: SettingDescriptor['from'],
  more: SettingSchema = {},
): SettingDescriptor => ({ type: 'string', default: '', ...more, markdownDescription, from });

const providerPattern = (names: readonly string[]): string => `(${names.join('|')})/\\S+`;

/** All settings of the editor in the order of the settings editor. The manifest and the docs are made from them. */
export const settingSections: readonly SettingSection[] = [
  {
    id: 'running',
    title: 'Running Tests',
    settings: {
      [settingKeys.engine]: text(
        'Controls where tests run. `docker` requires Docker or Podman; `#swt-bench.docker.host#` selects which.',
        'trusted',
        {
          enum: engineNames(),
          enumDescriptions: engineNames().map((name) => engineTexts[name] ?? ''),
          default: engineNames()[0],
        },
      ),
      [settingKeys.python]: text(
        'Path to the interpreter or virtual environment that runs tests on this machine. `auto` creates an environment for each instance. If empty, uses the Python extension’s choice, else the active virtual environment, else `python3` on the PATH of your login shell, and creates an environment if R needs one.',
        'trusted',
      ),
      [settingKeys.timeout]: {
        type: 'number',
        default: 300,
        minimum: 1,
        markdownDescription: 'Test timeout in seconds, per side.',
        from: 'resource',
      },
      [settingKeys.warmStart]: {
        type: 'boolean',
        default: true,
        markdownDescription:
          'Controls whether the process of the next run starts ahead and waits for its tests. Where R takes long to import, the first verdict then comes from a process that has loaded R. The grade always comes from a new process.',
        from: 'resource',
      },
      [settingKeys.codeLens]: {
        type: 'boolean',
        default: true,
        markdownDescription:
          'Controls whether *Reproduce · R · R∘X\\* · Debug* appears above each test that you have added or changed.',
        from: 'window',
      },
      [settingKeys.devContainer]: {
        type: 'boolean',
        default: false,
        markdownDescription:
          'Controls whether *Open Instance* writes `.devcontainer/devcontainer.json` to the workspace, where git does not track it. **Reopen in Container** then opens the container that the instance’s tests run in.',
        from: 'trusted window',
      },
    },
  },
  {
    id: 'instances',
    title: 'Instances',
    settings: {
      [settingKeys.dataset]: text(
        'Dataset of the Instances view: path to a file or folder of JSON, JSONL or Parquet (plain or gzipped), an `https://` address, `hf:owner/name` of a Hugging Face dataset, or `bundled`. Run **SWT-Bench: Choose Dataset…** to set it.',
        'trusted window',
      ),
      [settingKeys.filterLists]: {
        type: 'object',
        default: {},
        additionalProperties: {
          type: ['string', 'object'],
          properties: { from: { type: 'string' }, exclude: { type: 'boolean', default: false } },
          required: ['from'],
        },
        markdownDescription:
          'Your filter lists by name: path or `https://` address of a file with one instance ID per line, or `{"from": …, "exclude": true}` for a list of IDs to leave out. `Lite`, `Verified` and `Full` are built in: the instances that SWT-Bench keeps of the SWE-bench datasets of these names.',
        from: 'trusted',
      },
      [settingKeys.repositorySources]: {
        type: 'object',
        default: {},
        additionalProperties: { type: 'string' },
        markdownDescription:
          'Where to get repositories instead of GitHub. Maps `owner/name` to the path or address of a git repository, or the path to a folder or archive with a snapshot. `*` matches every other repository.',
        from: 'trusted',
      },
      [settingKeys.storage]: text(
        'Path to the folder for files that can be rebuilt: datasets, mirrors, trees and cached runs. If empty, uses `$SWT_BENCH_STORAGE`, else `swt-bench` in the cache folder.',
        'machine',
      ),
      [settingKeys.triageFile]: text(
        'Path to the JSON file with your tags, notes and classifications, which you can commit and merge. If empty, uses a file in the extension’s own storage.',
        'trusted',
      ),
      [settingKeys.repetitions]: {
        type: 'integer',
        default: 5,
        minimum: 1,
        maximum: 100,
        markdownDescription:
          'Number of times that *Validate Instances…* repeats the golden and the base tests on both sides.',
        from: 'resource',
      },
    },
  },
  {
    id: 'containers',
    title: 'Containers',
    settings: {
      ...engineSetting(
        'swt-bench.docker.host',
        'Address of the container engine: `unix://`, `tcp://`, `ssh://` or `npipe://`. If empty, uses `$DOCKER_HOST`, else the current Docker context, else the default sockets of Docker and Podman.',
      ),
      ...engineSetting(
        'swt-bench.docker.baseImage',
        'Image that environments are built on. `{python}` stands for the Python version.',
      ),
      ...engineSetting(
        'swt-bench.docker.prebuilt',
        'Namespace of the prebuilt images of SWE-bench, after the registry unless that is Docker Hub. If empty, no images are pulled, and environments are built on this machine.',
      ),
      ...engineSetting(
        'swt-bench.docker.network',
        'Instance IDs, and repositories as `owner/name`, whose tests may use the network. All other tests have no network; neither do tests that a model runs.',
      ),
      ...engineObject(
        'swt-bench.docker.limits',
        'Limits of each sandbox, and of each container that builds an environment. **SWT-Bench: Free Disk Space…** shows and removes images.',
        {
          memory: 'Maximum memory in MiB, including temporary files.',
          processes: 'Maximum number of processes and threads.',
          cpus: 'Number of processors. 0 for all.',
          disk: 'Maximum size in MiB of the files that tests or a build may write.',
          buildMinutes: 'Timeout in minutes of a command that builds an environment.',
          idleMinutes:
            'Idle time in minutes after which the sandboxes stop. The next run starts them again. 0 for never.',
          imageSpace:
            'Maximum size in GiB of the images built on this machine. The least recently used images are removed first.',
        },
      ),
      ...engineObject('swt-bench.kubernetes', 'Settings of the `kubernetes` engine.', {
        context: 'Context of the kubeconfig. If empty, uses the current one.',
        namespace: 'Namespace of the pods. If empty, uses that of the context.',
        mirrors:
          'Prefixes of image names and their replacements on the nodes, such as docker.io/=mirror.example.org/hub/.',
        pullSecrets: 'Image pull secrets in the namespace.',
        nodeSelector: 'Labels of the nodes that pods may use, as key=value.',
        tolerations: 'Taints of nodes that pods tolerate, as key=value:Effect.',
        priorityClass: 'Priority class of the pods. If empty, uses the default of the cluster.',
        pendingMinutes: 'Maximum time in minutes that a pod waits for a node and its image.',
        acceptNetwork:
          'Controls whether tests are graded although the cluster does not enforce network policies. Models never get a network.',
      }),
    },
  },
  {
    id: 'models',
    title: 'Models',
    settings: {
      [settingKeys.models]: {
        type: 'array',
        default: [],
        items: {
          type: 'object',
          required: ['model'],
          additionalProperties: false,
          properties: {
            model: {
              type: 'string',
              pattern: `^${providerPattern(providers)}$`,
              description:
                'Provider and name of the model, as PROVIDER/NAME. The provider is openai, anthropic, google, or openai-compatible for another server (vLLM, Ollama, llama.cpp, LM Studio).',
            },
            baseUrl: {
              type: 'string',
              pattern: '^https?://',
              description:
                'Address of the server, such as http://localhost:11434/v1. Required for openai-compatible.',
            },
            window: {
              type: 'integer',
              minimum: 1,
              description:
                'Context length of the model in tokens, prompt and answer together. If not set, it is taken from the server’s first refusal of a long prompt.',
            },
            price: {
              type: 'object',
              description:
                'Price in US dollars per million tokens. Required to show the cost of a run and to stop it at its limit.',
              required: ['input', 'output'],
              additionalProperties: false,
              properties: {
                input: { type: 'number', minimum: 0 },
                output: { type: 'number', minimum: 0 },
              },
            },
          },
          defaultSnippets: [
            {
              body: {
                model: 'openai-compatible/${1:qwen3-coder}',
                baseUrl: '${2:http://localhost:11434/v1}',
              },
            },
          ],
        },
        markdownDescription:
          'Models for **SWT-Bench: Generate Reproducing Tests…** in addition to those that VS Code offers. Do not enter API keys here: **SWT-Bench: Manage API Keys…** stores them in secret storage. Without a stored key, the provider’s environment variable is used, such as `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`.',
        from: 'machine',
      },
      [settingKeys.runModelTestsLocally]: {
        type: 'boolean',
        default: false,
        markdownDescription:
          'Controls whether tests that a model has written may run without isolation. They run with your permissions: they can read your files, the dataset with the answer, your API keys and other secrets. Not needed when `#swt-bench.engine#` is `docker`: they then run in containers.',
        from: 'machine',
      },
      'swt-bench.generate.budget': objectSetting(
        {
          tokens: {
            type: 'integer',
            minimum: 0,
            default: 500_000,
            description:
              'Maximum number of tokens per run, input and output. Requests that could exceed the limit are not sent. 0 for no limit.',
          },
          dollars: {
            type: 'number',
            minimum: 0,
            default: 0,
            description: 'Maximum cost per run (USD), for models with a price. 0 for no limit.',
          },
        },
        'Limits of one run of *Generate Reproducing Tests…* or *Propose Fixes…*.',
      ),
      'swt-bench.generate.requests': objectSetting(
        {
          contextTokens: {
            type: 'integer',
            minimum: 1000,
            default: 27_000,
            description:
              'Maximum number of tokens in a prompt, including the relevant files of the repository.',
          },
          outputTokens: {
            type: 'integer',
            minimum: 1,
            default: 16_384,
            description: 'Maximum number of tokens in an answer.',
          },
          timeout: {
            type: 'number',
            minimum: 1,
            default: 600,
            description: 'Timeout of an answer in seconds.',
          },
        },
        'Limits of one request to a model.',
      ),
      [settingKeys.agentLimits]: text(
        'Limits of an agent on one instance. `#swt-bench.generate.budget#` also applies. Cost limits apply to models with a price in `#swt-bench.models#`.',
        'machine',
        {
          enum: limitProfiles,
          enumDescriptions: limitProfiles.map(limitsInWords),
          default: limitProfiles[0],
        },
      ),
      [settingKeys.refine]: {
        type: 'integer',
        default: refiningOption.default,
        minimum: 0,
        markdownDescription:
          'Maximum number of times that *Generate Reproducing Tests…* sends a sample back to the model with an error of the sample itself, such as a failed import. Applies to methods that sample answers, which then run tests on R and cost more. 0 for never.',
        from: 'machine',
      },
      [settingKeys.agents]: {
        type: 'object',
        default: {},
        properties: Object.fromEntries(
          acpPresets.map(({ name, title }) => [name, { description: `${title}, built in.` }]),
        ),
        additionalProperties: {
          type: ['object', 'null'],
          additionalProperties: false,
          properties: {
            title: { type: 'string', description: 'Name shown in the list of methods.' },
            command: {
              type: 'string',
              description:
                'Command and arguments that start the agent in the container, without a shell.',
            },
            program: {
              type: 'string',
              description:
                'Path to the folder with the agent and its runtime for Linux, mounted at /agent in the container. Empty if the image contains the agent.',
            },
            providers: {
              type: 'array',
              items: { enum: providers },
              description: 'Providers whose models the agent can use. All if absent.',
            },
            authMethod: {
              type: 'string',
              description: 'Authentication method to select, if the agent requires one.',
            },
            env: {
              type: 'object',
              description:
                'Environment variables, in addition to those that the providers’ own clients read. Texts may contain {origin} (address of the proxy), {base} (that address as the provider’s client takes it), {model}, {provider}, {sdk} and {litellm} (the provider’s AI SDK package, and its name in LiteLLM). Other values become JSON.',
            },
            files: {
              type: 'object',
              description:
                'Files to write to its home folder before it starts, by path, such as `.mine/settings.json`. They may contain the placeholders of `env`; values that are not text become JSON.',
            },
            timeout: {
              type: 'number',
              exclusiveMinimum: 0,
              default: defaultAcpSeconds,
              description: 'Maximum duration of a session in seconds.',
            },
          },
        },
        markdownDescription: `Agents of the [Agent Client Protocol](https://agentclientprotocol.com) for *Generate Reproducing Tests…*, by name. Built in: ${acpPresets.map(({ name }) => `\`${name}\``).join(', ')}. An agent appears once \`program\` is the path to the folder with it and its runtime, or \`""\` if the image of the instance contains it. It runs in a container of R without a network, and uses a model of \`#swt-bench.models#\` through a proxy that keeps the API key. Use \`null\` to hide a built-in agent.`,
        from: 'machine',
      },
      'swt-bench.repair.embedding': objectSetting(
        {
          model: {
            type: 'string',
            default: '',
            pattern: `^(${providerPattern(embeddingProviders)})?$`,
            description: `PROVIDER/NAME, where the provider is ${embeddingProviders.join(', ')}. If empty, embedding retrieval is skipped.`,
          },
          baseUrl: {
            type: 'string',
            default: '',
            pattern: '^(https?://\\S+)?$',
            description:
              'Address of its server. If empty, uses the address of the answering model if the provider is the same, else the provider’s default.',
          },
          price: {
            type: 'number',
            minimum: 0,
            default: 0,
            description:
              'Price in US dollars per million tokens. If 0, embeddings count neither in the cost shown nor towards the budget.',
          },
        },
        'Embedding model of Agentless for *Propose Fixes…*. **SWT-Bench: Manage API Keys…** stores its API key.',
      ),
      [settingKeys.configurationFile]: text(
        'Path to the configuration file. If empty, uses the nearest `swt.yaml` in a trusted workspace or above it. The settings that you set here win over the file, and the file over their defaults. It holds engine, timeout, models, prices, agents, budgets, retries, and the parameters of Agentless; `swt-bench config schema` prints all keys.',
        'machine',
      ),
    },
  },
];
