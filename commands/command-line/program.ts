/**
 * The command line. Each command loads only what it needs, so that `--help` and `check-config` answer at once.
 *
 * Source: docs/operations.md.
 */
import { readFileSync } from 'node:fs';
import type { Clock } from '@sealwright/runtime';
import { SCHEMA_VERSION, STORE_FORMAT, systemClock, systemIds } from '@sealwright/runtime/core';
import { Argument, Command, CommanderError, Option } from 'commander';
import {
  createDescriptorSink,
  createFileSink,
  createLogging,
  type LineSink,
  type Logging,
} from '../../logging.ts';
import { type AcceptedSettings, isSettingArgument, loadSettings, type Settings } from '../../settings.ts';
import type { BenchOptions } from '../bench.ts';
import { printProblems } from '../check-config.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { collect, describeOption, parseCount, parseSeconds } from '../option-values.ts';
import { runService, serviceManager } from '../serve.ts';
import type { Terminal } from '../terminal.ts';
import { type CommandLine, SETTINGS_HELP } from './command-line.ts';
import { addDecrypt, addExtend, addVerify } from './file-commands.ts';
import { addCheckConfig, addDoctor, addHealth, addServe, addTry } from './service-commands.ts';
import { addBackup, addJobs, addKeys, addStore, addVerifyHistory } from './store-commands.ts';

/**
 * Creates the log of the service. Source: docs/batch-values.md §12. Files are opened with the first line. When they cannot be written the service continues: that is reported once on
 * the console, or on standard error where the log is kept off the console, and once again when they can.
 * @param parts.err writes to standard error
 */
function openLogging(
  { logging, secrets }: Pick<Settings, 'logging' | 'secrets'>,
  parts: { readonly clock: Clock; readonly console: LineSink; readonly err: (text: string) => void },
): Logging {
  const { file, logLevel } = logging;
  const onTrouble = (why: string | undefined) => {
    if (why === undefined) {
      log.info('Log files can be written again.');
      return;
    }
    const text = 'Log files cannot be written; this is tried again until it works.';
    log.warn(text, { Path: file.path, Reason: why });
    if (!file.writeToConsole) parts.err(`sealwright: ${text} (${file.path}: ${why})\n`);
  };
  const log = createLogging({
    clock: parts.clock,
    level: logLevel.default,
    secrets,
    sinks: [
      ...(file.writeToConsole ? [parts.console] : []),
      ...(file.enabled
        ? [
            createFileSink({
              path: file.path,
              interval: file.rollingInterval,
              sizeLimit: file.fileSizeLimitBytes,
              retained: file.retainedFileCountLimit,
              ...(file.retainedDays > 0 && { maxAge: file.retainedDays * 86_400_000 }),
              least: file.minimumLevel,
              clock: parts.clock,
              onFailure: onTrouble,
            }),
          ]
        : []),
    ],
  });
  return log;
}

const BENCH_HELP = `
Each figure is printed beside its limit, measured in the same run; bench/README.md explains both.
Exit codes: 0 success, 1 an output does not verify or a benchmark failed, 2 usage, 3 a file or folder is not available.`;

/** `sealwright bench` as the command line has it. */
function addBench(line: CommandLine): void {
  line.program
    .command('bench')
    .description('measure the program, and the limits of this machine beside it')
    .argument('[bench...]', 'benchmarks; an unknown name lists all (default: all, or those of the profiles)')
    .option(
      '--profile <profile>',
      'benchmarks of engine, batch, portal, runtime or http; may be repeated',
      collect,
      [],
    )
    .addOption(
      new Option('--store <store>', 'postgres measures the server of SEALWRIGHT_POSTGRES_URL').choices([
        'lmdb',
        'postgres',
      ]),
    )
    .option('--seconds <number>', 'seconds for each measurement, after a warm-up (default: 1)', parseSeconds)
    .option('--quick', 'few cases with small numbers, 0.2 s each: checks that the benchmarks run', false)
    .option('--only <words>', 'cases with all these words, such as "Pades B"; may be repeated', collect, [])
    .option('--folder <folder>', 'folder on the disk to measure', '.')
    .option('--documents <number>', 'stored documents while lists are measured (default: 100000)', parseCount)
    .option('--files <number>', 'files in an input folder (default: 5000)', parseCount)
    .option('--json <file>', 'write the result to this file')
    .option('--compare <files...>', 'compare two written results instead, the earlier one first')
    .option('--damage', 'damage one output, to prove that the run then fails', false)
    .addHelpText('after', BENCH_HELP)
    .action(
      line.action(async (names: string[], options: BenchOptions) => {
        const { benchCommand } = await import('../bench.ts');
        return benchCommand(names, options, line);
      }),
    );
}

/** Commands of earlier versions, and what to use instead. */
const REMOVED_COMMANDS: ReadonlyMap<string, string> = new Map([
  [
    'actors',
    'this command was removed. Use the page /actors of the batch service, or GET /api/actors (GET /api/runtime for threads and store, POST /api/actors/{kind}/{id}/restart).',
  ],
  [
    'mcp',
    'this command was removed. Use the package @sealwright/mcp of the release: sealwright-mcp --folder <folder>, with addresses and keys in its environment.',
  ],
]);

const SHELLS = ['bash', 'zsh'] as const;
type Shell = (typeof SHELLS)[number];

const version = packageVersion();
const stdout = createDescriptorSink(1, systemClock);
const terminal: Terminal = {
  out: (text) => stdout.write(text, 'Error'),
  err: (text) => process.stderr.write(text),
  colors:
    process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb',
  interactive: process.stdout.isTTY === true,
};

process.exitCode = await main(process.argv.slice(2));
await stdout.flush();
process.exit();

async function main(argv: readonly string[]): Promise<ExitCode> {
  let exit: ExitCode = EXIT.good;
  const load = () => loadSettings({ argv, env: process.env, cwd: process.cwd(), readFile: readIfThere });
  const line: CommandLine = {
    program: createProgram(),
    terminal,
    clock: systemClock,
    ids: systemIds,
    env: process.env,
    live: process.stderr.isTTY === true && process.env['TERM'] !== 'dumb',
    load,
    action:
      (run) =>
      async (...given) => {
        exit = await run(...given);
      },
    configured:
      (run) =>
      async (...given) => {
        const loaded = load();
        if (!loaded.ok) printProblems(loaded, terminal);
        exit = loaded.ok ? await run(loaded, ...given) : EXIT.refused;
      },
  };
  const words = argv.filter((word) => !isSettingArgument(word));
  const removed = REMOVED_COMMANDS.get(words[0] ?? '');
  if (removed !== undefined) {
    terminal.err(`sealwright ${words[0]}: ${removed}\n`);
    return EXIT.refused;
  }
  addCommands(line);
  try {
    await line.program.parseAsync(withCommand(words), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.good;
    // This one command has its own meaning for 2.
    return argv.find((word) => !word.startsWith('-')) === 'decrypt' ? EXIT.unavailable : EXIT.refused;
  }
  return exit;
}

function createProgram(): Command {
  return new Command('sealwright')
    .description(
      'Signs documents: files in bulk, from watched folders and over HTTP; and documents that people sign on a portal.',
    )
    .version(`${version} (store format ${STORE_FORMAT}, PostgreSQL schema ${SCHEMA_VERSION})`)
    .configureHelp({ optionDescription: describeOption })
    .addHelpText('after', SETTINGS_HELP)
    .exitOverride();
}

/** Adds the commands in the order of the help. */
function addCommands(line: CommandLine): void {
  addServe(line, serve);
  addCheckConfig(line);
  addVerify(line);
  addTry(line);
  addExtend(line);
  addDecrypt(line);
  addDoctor(line);
  addHealth(line);
  addBackup(line);
  addStore(line, version);
  addBench(line);
  addKeys(line);
  addVerifyHistory(line);
  addJobs(line);
  addCompletion(line);
}

function addCompletion({ program }: CommandLine): void {
  program
    .command('completion')
    .description('print a script that completes commands: source <(sealwright completion bash)')
    .addArgument(new Argument('<shell>', 'shell that runs the script').choices(SHELLS))
    .action((shell: Shell) => printCompletion(program, shell, terminal));
}

/** Without a command, `serve` is meant; not its default command, which would take a misspelt name as its argument. */
function withCommand(words: readonly string[]): string[] {
  const [first = ''] = words;
  const isOption = first.startsWith('-') && !['-h', '--help', '-V', '--version'].includes(first);
  return first === '' || isOption ? ['serve', ...words] : [...words];
}

async function serve({ settings, warnings }: AcceptedSettings): Promise<ExitCode> {
  const log = openLogging(settings, { clock: systemClock, console: stdout, err: terminal.err });
  const { serve } = await import('../../service/serve.ts');
  const options = { version, faults: process.env['SEALWRIGHT_FAULTS'] };
  const notify = serviceManager(process.env, log);
  return runService({ serve, settings, warnings, log, clock: systemClock, terminal, options, notify });
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}

function packageVersion(): string {
  // The bundle keeps the address of each module, and not its folder.
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** A command of a completion script, with the path that leads to it; the program itself has an empty path. */
interface Entry {
  readonly path: readonly string[];
  /** Names of its commands, and its options. */
  readonly words: readonly string[];
}

/** Prints the script with which a shell completes commands and options. */
function printCompletion(program: Command, shell: Shell, terminal: Pick<Terminal, 'out'>): void {
  const entries = entriesOf(program, []);
  terminal.out(bashScript(program.name(), entries, shell === 'zsh'));
}

function entriesOf(command: Command, path: readonly string[]): Entry[] {
  const inner = command.commands.filter((other) => other.name() !== 'help');
  const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '');
  return [
    { path, words: [...inner.map((other) => other.name()), ...options, '--help'] },
    ...inner.flatMap((other) => entriesOf(other, [...path, other.name()])),
  ];
}

/** Other words are completed as file names. zsh runs the script with its support for bash completions. */
function bashScript(name: string, entries: readonly Entry[], zsh: boolean): string {
  const known = entries.filter(({ path }) => path.length > 0).map(({ path }) => `"${path.join(' ')}"`);
  const cases = entries.map(({ path, words }) => `    "${path.join(' ')}") words="${words.join(' ')}" ;;`);
  return `${zsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${path:+$path }$word" in
      ${known.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}
