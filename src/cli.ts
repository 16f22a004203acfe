import { cpus } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import packageJson from '../package.json';
import { Cancelled, HumanError } from './domain/problem';
import {
  dockerHostOption,
  imageBudgetOption,
  withEngineOptions,
} from './evaluation/commands/engineOptions';
import { evaluateCommand, type EvaluateOptions } from './evaluation/commands/evaluate';
import {
  filterRepairsCommand,
  type FilterRepairsOptions,
} from './evaluation/commands/filterRepairs';
import {
  instancesCommand,
  openCommand,
  showCommand,
  type InstancesOptions,
  type OpenOptions,
  type ShowOptions,
} from './evaluation/commands/instances';
import { validateCommand, type ValidateCommandOptions } from './evaluation/commands/validate';
import { patchCommand, type PatchOptions } from './evaluation/commands/patch';
import { parseLogCommand, type ParseLogOptions } from './evaluation/commands/parseLog';
import { reportCommand, reportFormats, type ReportOptions } from './evaluation/commands/report';
import { statisticsCommand, type StatisticsOptions } from './evaluation/commands/statistics';
import { storageCommand, type StorageOptions } from './evaluation/commands/storage';
import { triageCommand, type TriageOptions } from './evaluation/commands/triage';
import type { GenerateOptions } from './method/commands/generate';
import type { McpOptions } from './method/commands/mcp';
import { EXIT, type CommandContext } from './evaluation/commands/context';
import { interruptSignal } from './evaluation/commands/interrupts';
import { bytesOf } from './patch/bytes';
import {
  formatOption,
  list,
  modeOption,
  natural,
  positive,
  price,
  temperature,
  whole,
} from './evaluation/commands/optionValues';
import { defaultStorage } from './repository/storage';

/** Builds and wires the command line: options to commands, errors to one line, signals to an abort. */
async function main(argv: readonly string[]): Promise<number> {
  const signal = interruptSignal();
  // `swt-bench … | head` ends the reader first: no reason for a trace.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const sample = join(__dirname, '..', 'media', 'sample');
  const context: CommandContext = {
    // Bytes of a tree or a patch that are no UTF-8 come out as they are.
    stdout: (text) => process.stdout.write(bytesOf(text)),
    stderr: (text) => process.stderr.write(bytesOf(text)),
    interactive: process.stderr.isTTY === true,
    signal,
    assets: __dirname,
    bundled: {
      dataset: join(sample, 'instance.jsonl'),
      predictions: join(sample, 'predictions.jsonl'),
      source: join(sample, 'repository'),
    },
  };

  let status: number = EXIT.done;
  const program = new Command('swt-bench')
    .description(packageJson.description)
    .version(packageJson.version)
    .showHelpAfterError('(see --help)')
    .exitOverride();
  const dataset = new Option(
    '--dataset <file>',
    'file or folder of JSON, JSONL or Parquet, https address, Hugging Face name, or `bundled`',
  ).makeOptionMandatory();
  const source = new Option(
    '--source <repo=where>',
    'repository, folder, archive or address that R is made from; repeatable; without `repo=` for every repository',
  )
    .argParser((value: string, all: string[] | undefined) => [...(all ?? []), value])
    .default([], 'GitHub');
  const storage = new Option('--storage <dir>', 'where trees and finished runs are kept')
    .env('SWT_BENCH_STORAGE')
    .default(defaultStorage());
  const selecting = (command: Command): Command =>
    command
      .option('--ids <a,b>', 'only these instances', list)
      .option('--repo <owner/name>', 'only instances of this repository')
      .option(
        '--filter <list>',
        'only instances of this list: file, address, Lite, Verified, Full, triage file',
      )
      .option('--exclude <list>', 'not the instances of this list')
      .option('--query <filter>', 'only what this filter keeps, such as "status:valid changed:<20"')
      .option('--triage <file>', 'file with tags and classifications that --query looks at');
  const json = new Option('--json', 'print one JSON document on stdout');

  selecting(program.command('instances'))
    .description('list instances')
    .addOption(dataset)
    .option('--sort <order>', 'id, size, issue or date; with a leading - the other way round')
    .option('--refresh', 'ask the server whether a downloaded dataset has changed')
    .addOption(storage)
    .addOption(json)
    .action(async (options: InstancesOptions) => {
      status = await instancesCommand(options, context);
    });

  program
    .command('show')
    .description('print the issue of an instance')
    .argument('<id>')
    .addOption(dataset)
    .option('--reveal', 'also print the golden patch, the golden tests and later hints')
    .addOption(storage)
    .addOption(json)
    .action(async (id: string, options: ShowOptions) => {
      status = await showCommand(id, options, context);
    });

  withEngineOptions(program.command('open'))
    .description('make the tree of R in a new folder')
    .argument('<id>')
    .addOption(dataset)
    .requiredOption('--out <dir>', 'folder to make')
    .option('--with-fixed', 'also make R∘X* in <dir>-fixed')
    .option(
      '--devcontainer',
      'also write .devcontainer/devcontainer.json, outside of what git tracks; with --engine docker on the image that it uses',
    )
    .addOption(source)
    .addOption(storage)
    .action(async (id: string, options: OpenOptions) => {
      status = await openCommand(id, options, context);
    });

  withEngineOptions(selecting(program.command('evaluate')))
    .description('run candidates on R and R∘X* and grade them')
    .addOption(dataset)
    .requiredOption(
      '--predictions <file...>',
      'files of JSON or JSONL, also gzipped, `gold`, `none` or `bundled`; a model in several files has several samples',
    )
    .addOption(source)
    .option(
      '--workers <n>',
      'candidates at once, each on both sides in parallel (default: by memory and cores)',
      positive,
    )
    .option('--timeout <seconds>', 'limit for one run on one side', positive, 1800)
    .option(
      '--run-id <id>',
      'name of the run in reports (default: run, or run-2, … where --out has another of that name)',
    )
    .option('--out <dir>', 'write reports in the layout of the reference harness to this folder')
    .addOption(formatOption())
    .option('--tests-only', 'leave out edits of files that are not tests, and name them')
    .addOption(modeOption())
    .option('--fresh', 'run candidates again although their runs are kept, and begin --out anew')
    .addOption(storage)
    .addOption(json)
    .addHelpText(
      'after',
      '\nExit status: 0 every candidate was graded, 1 some could not be, 2 wrong usage or input, or results that cannot be written, 130 interrupted. With --out the same command goes on where it was interrupted.',
    )
    .action(async (options: EvaluateOptions) => {
      status = await evaluateCommand(options, context);
    });

  selecting(program.command('report'))
    .description('rates of saved runs, side by side, without running anything')
    .argument(
      '<dir...>',
      'folders that `evaluate --out` or the SWT-Bench harness wrote, or of single runs in them',
    )
    .addOption(
      new Option(
        '--dataset <file>',
        'only instances of this dataset; what runs of the SWT-Bench harness were selected from',
      ),
    )
    .addOption(
      new Option('--format <format>', 'html is one page with everything in it')
        .choices(reportFormats)
        .default('table'),
    )
    .addOption(
      new Option('--grading <grading>', 'the paper’s definitions, or those of the harness')
        .choices(['strict', 'harness'])
        .default('strict'),
    )
    .option('--published', 'published rows beside them, marked as published')
    .option('--compare <a,b>', 'only these methods, each against the first', list)
    .option('--split-date <day>', 'also before and from this day on, as YYYY-MM-DD')
    .option(
      '--repairs <file...>',
      'summaries of the SWE-bench harness, or lists of resolved instances, to compare with',
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option('--out <file>', 'write there instead of to stdout')
    .addOption(storage)
    .addOption(new Option('--json', 'the same as --format json'))
    .addHelpText(
      'after',
      '\nExit status: 0 everything was read, 1 some files could not be (they are named), 2 wrong usage or no run.',
    )
    .action(async (dirs: string[], options: ReportOptions) => {
      status = await reportCommand(dirs, options, context);
    });

  withEngineOptions(selecting(program.command('filter-repairs')))
    .description('keep the code patches on which generated tests that fail on R pass')
    .addOption(dataset)
    .requiredOption('--predictions <file>', 'generated tests of one method, as for `evaluate`')
    .requiredOption('--repairs <file...>', 'code patches as predictions of SWE-bench, or `gold`')
    .option(
      '--resolved <file>',
      'which instances the patches resolve; otherwise the golden tests are run on each',
    )
    .addOption(source)
    .option(
      '--workers <n>',
      'code patches that are tested at once (default: by memory and cores)',
      positive,
    )
    .option('--timeout <seconds>', 'limit for one run', positive, 1800)
    .option('--run-id <id>', 'name of the run below --out (default: run, or run-2, …)')
    .option('--out <dir>', 'keep what is finished, and the result, in this folder')
    .addOption(formatOption())
    .option('--fresh', 'run tests again although their runs are kept, and begin --out anew')
    .addOption(storage)
    .addOption(json)
    .addHelpText(
      'after',
      '\nExit status: 0 every patch was filtered, 1 tests could not run on some, 2 wrong usage or input, 130 interrupted. With --out the same command goes on where it was interrupted.',
    )
    .action(async (options: FilterRepairsOptions) => {
      status = await filterRepairsCommand(options, context);
    });

  withEngineOptions(selecting(program.command('generate')))
    .description('let a method of the paper write predictions with a language model')
    .requiredOption('--method <name>', 'zero-shot, zero-shot-plus, pass-at-5 or libro')
    .requiredOption(
      '--model <provider/name>',
      'openai, openai-compatible, anthropic or google, and the name that the provider knows it by; ' +
        'the key is taken from the environment',
    )
    .addOption(dataset)
    .requiredOption('--out <file>', 'predictions (JSONL); the trace lies beside it')
    .addOption(source)
    .option(
      '--base-url <address>',
      'where the provider is reached, such as http://localhost:11434/v1',
    )
    .option('--name <name>', 'what predictions call the model (default: METHOD/PROVIDER/NAME)')
    .option('--samples <n>', 'candidates of libro and pass-at-5 (default: 5)', whole)
    .addOption(
      new Option(
        '--temperature <t>',
        'of the candidates, or `none` for that of the server (default: 0, libro and pass-at-5 0.7)',
      ).argParser(temperature),
    )
    .option(
      '--context-tokens <n>',
      'tokens of a prompt, with the files that it shows',
      whole,
      27_000,
    )
    .option('--max-output-tokens <n>', 'tokens of an answer', whole, 4096)
    .option('--budget-tokens <n>', 'what the run may use up in all, input and output', whole)
    .option('--budget-dollars <d>', 'the same in dollars; needs --price', positive)
    .addOption(
      new Option('--price <input,output>', 'dollars for a million tokens of each').argParser(price),
    )
    .option('--requests <n>', 'requests at once', whole, 4)
    .option('--request-timeout <seconds>', 'limit for one request', positive, 600)
    .option('--retries <n>', 'tries after one that failed for a reason that may pass', natural, 6)
    .option('--no-stream', 'ask for each answer as a whole, for servers that cannot stream')
    .option(
      '--workers <n>',
      'instances at once',
      positive,
      Math.max(1, Math.floor(cpus().length / 2)),
    )
    .option('--timeout <seconds>', 'limit for one run of tests on one side', positive, 1800)
    .option('--tests-only', 'leave out edits of files that are not tests')
    .option('--replay', 'only read the trace: no model, no tests, no repository')
    .addOption(storage)
    .addOption(json)
    .addHelpText(
      'after',
      '\nThe same command goes on where it was broken off; what is answered is not asked again.' +
        '\nExit status: 0 every instance has a prediction, 1 some have none, 2 wrong usage or input, 130 interrupted.',
    )
    .action(async (options: GenerateOptions) => {
      // Loaded here: no other command needs models, tokenizers and indexes.
      const { generateCommand } = await import('./method/commands/generate');
      status = await generateCommand(options, context);
    });

  withEngineOptions(program.command('mcp'))
    .description(
      'serve the tools of one instance on stdin and stdout to an agent (Model Context Protocol)',
    )
    .addOption(dataset)
    .requiredOption('--id <id>', 'the instance')
    .addOption(source)
    .option('--timeout <seconds>', 'limit for one run of tests', positive, 600)
    .addOption(storage)
    .addHelpText(
      'after',
      '\nIt never gives away the golden patch, the golden tests or what comes after R.' +
        '\nExit status: 0 the client closed the connection, 2 wrong usage or input, 130 interrupted.',
    )
    .action(async (options: McpOptions) => {
      // Loaded here: no other command needs the protocol.
      const { mcpCommand } = await import('./method/commands/mcp');
      status = await mcpCommand(options, { ...context, version: packageJson.version });
    });

  withEngineOptions(selecting(program.command('validate')))
    .description('find out whether instances are sound: golden and base tests, repeated')
    .argument('[ids...]')
    .addOption(dataset)
    .option('--all', 'every instance of the dataset, where nothing else selects some')
    .option('--repeat <n>', 'repetitions of every run', whole, 5)
    .addOption(source)
    .option(
      '--workers <n>',
      'instances at once, each on both sides in parallel',
      positive,
      Math.max(1, Math.floor(cpus().length / 2)),
    )
    .option('--timeout <seconds>', 'limit for one run on one side', positive, 1800)
    .addOption(storage)
    .addOption(json)
    .addHelpText(
      'after',
      '\nExit status: 0 all are sound, 1 some are not, 2 wrong usage or input, 130 interrupted (what is finished is kept).',
    )
    .action(async (ids: string[], options: ValidateCommandOptions) => {
      status = await validateCommand(ids, options, context);
    });

  program
    .command('patch')
    .description('print the unified diff that a patch in any format stands for on a tree')
    .argument('<file>', 'patch or whole answer of a model, or - for stdin')
    .requiredOption('--tree <dir>', 'folder with R, such as `open` makes; only read')
    .addOption(formatOption())
    .option('--tests-only', 'leave out edits of files that are not tests, and name them')
    .option('--check', 'print only what there is to say about it, as FILE:LINE: severity: message')
    .addOption(json)
    .addHelpText(
      'after',
      '\nExit status: 0 it converts, 1 it does not, 2 wrong usage or unreadable input, 130 interrupted.',
    )
    .action(async (file: string, options: PatchOptions) => {
      status = await patchCommand(file, options, context);
    });

  program
    .command('parse-log')
    .description('print the outcomes that a saved test log holds')
    .argument('<file>', 'log, or - for stdin')
    .requiredOption('--repo <owner/name>', 'repository whose tests wrote it')
    .addOption(modeOption())
    .addOption(json)
    .action(async (file: string, options: ParseLogOptions) => {
      status = await parseLogCommand(file, options, context);
    });

  selecting(program.command('statistics'))
    .description('figures of a selection, as Table 1 of the SWT-Bench paper has them')
    .addOption(dataset)
    .addOption(storage)
    .addOption(json)
    .action(async (options: StatisticsOptions) => {
      status = await statisticsCommand(options, context);
    });

  program
    .command('triage')
    .description("a person's own verdict on instances: tags, a note, the Agentless classification")
    .argument('[ids...]')
    .requiredOption('--triage <file>', 'triage file; the first change makes it')
    .addOption(new Option('--dataset <file>', 'dataset, for its columns and for --query'))
    .option('--tag <a,b>', 'tags to add', list)
    .option('--untag <a,b>', 'tags to take away', list)
    .option('--note <text>', 'note; empty to take it away')
    .option('--description <category>', 'quality of the description')
    .option('--solution <category>', 'solution in the description')
    .option(
      '--location <category>',
      'location information, as CATEGORY or line=, function=, file=',
      list,
    )
    .option('--query <filter>', 'only what this filter keeps')
    .option('--merge <file>', 'take over the entries of another triage file')
    .option('--csv', 'print CSV')
    .option('--list', 'print ids, one a line: a list for --filter')
    .addOption(storage)
    .addOption(json)
    .action(async (ids: string[], options: TriageOptions) => {
      status = await triageCommand(ids, options, context);
    });

  program
    .command('storage')
    .description(
      'show what the storage folder and images take on the disk, by instance, and free it',
    )
    .option('--free <a,b>', 'remove trees, runs and validations of these instances', list)
    .option('--free-mirror <a,b>', 'remove the mirrors of these repositories', list)
    .option(
      '--free-images <a,b>',
      'remove images made or pulled here: of these instances or repositories (owner/name, or owner/name@version), or `all`, with the cache of builds',
      list,
    )
    .option('--free-all', 'remove everything in the storage folder; images stay')
    .addOption(dockerHostOption())
    .addOption(imageBudgetOption())
    .addOption(storage)
    .addOption(json)
    .action(async (options: StorageOptions) => {
      status = await storageCommand(options, context);
    });

  try {
    await program.parseAsync(argv);
    return status;
  } catch (error) {
    if (signal.aborted || error instanceof Cancelled) return EXIT.interrupted;
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (error instanceof HumanError) {
      process.stderr.write(`swt-bench: ${error.message}\n`);
      return EXIT.usage;
    }
    throw error;
  }
}

main(process.argv).then(
  (status) => {
    // Not process.exit: what is still in the pipe to a slow reader must arrive.
    process.exitCode = status;
  },
  (error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `swt-bench: internal error: ${text}\nPlease report it with the command you ran.\n`,
    );
    if (process.env['SWT_BENCH_DEBUG'] !== undefined && error instanceof Error) {
      process.stderr.write(`${error.stack}\n`);
    }
    process.exitCode = 1;
  },
);
