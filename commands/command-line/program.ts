/**
 * The command line. Each command loads only what it needs, so that `--help` and `check-config` answer at once.
 *
 * Source: docs/operations.md.
 */
import { readFileSync } from 'node:fs';
import { systemClock } from '@sealwright/runtime/core';
import { Argument, Command, CommanderError } from 'commander';
import { createDescriptorSink } from '../../logging.ts';
import { openLogging } from '../../service/service-log.ts';
import { isSettingArgument, type LoadedSettings, loadSettings } from '../../settings.ts';
import { printProblems } from '../check-config.ts';
import { printCompletion, SHELLS, type Shell } from '../completion.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { describeOption } from '../option-values.ts';
import { runService } from '../serve.ts';
import { serviceManager } from '../service-manager.ts';
import type { Terminal } from '../terminal.ts';
import { addBench } from './bench-command.ts';
import { type CommandLine, SETTINGS_HELP } from './command-line.ts';
import { addDecrypt, addExtend, addVerify } from './file-commands.ts';
import { addActors, addCheckConfig, addDoctor, addHealth, addServe, addTry } from './service-commands.ts';
import { addBackup, addJobs, addKeys, addStore, addVerifyHistory } from './store-commands.ts';

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
  const line: CommandLine = {
    program: createProgram(),
    terminal,
    live: process.stderr.isTTY === true && process.env['TERM'] !== 'dumb',
    load: () => loadSettings({ argv, env: process.env, cwd: process.cwd(), readFile: readIfThere }),
    action:
      (run) =>
      async (...given) => {
        exit = await run(...given);
      },
  };
  addCommands(line);
  try {
    await line.program.parseAsync(withCommand(argv.filter((word) => !isSettingArgument(word))), {
      from: 'user',
    });
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
    .version(version)
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
  addStore(line);
  addActors(line);
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

async function serve(loaded: LoadedSettings): Promise<ExitCode> {
  if (!loaded.ok) {
    printProblems(loaded, terminal);
    return EXIT.refused;
  }
  const { settings, warnings } = loaded;
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
