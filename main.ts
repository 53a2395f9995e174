#!/usr/bin/env node
/**
 * The command line. Each command loads only what it needs, so that `--help` and `check-config` answer at once.
 *
 * Source: docs/operations.md.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Argument, Command, CommanderError, Option } from 'commander';
import type { ActorsOptions } from './commands/actors.ts';
import type { BenchOptions } from './commands/bench.ts';
import { checkConfig, printProblems } from './commands/check-config.ts';
import { printCompletion, SHELLS, type Shell } from './commands/completion.ts';
import type { DecryptOptions } from './commands/decrypt.ts';
import { EXIT, type ExitCode } from './commands/exit-codes.ts';
import { addExtendCommand } from './commands/extend-options.ts';
import { addKeysCommands } from './commands/keys/keys-options.ts';
import {
  collect,
  describeOption,
  type Format,
  parseCount,
  parseFormat,
  parseSeconds,
  parseTime,
} from './commands/option-values.ts';
import { runService } from './commands/serve.ts';
import { serviceManager } from './commands/service-manager.ts';
import { addStoreCommands } from './commands/store/store-options.ts';
import type { Terminal } from './commands/terminal.ts';
import type { VerifyOptions } from './commands/verify/verify.ts';
import { createDescriptorSink } from './logging.ts';
import { systemClock, systemIds } from './runtime/clocks-and-failures.ts';
import { openLogging } from './service/service-log.ts';
import { isSettingArgument, type LoadedSettings, loadSettings, type Settings } from './settings.ts';

const SETTINGS_HELP = `
Configuration keys are given as --Section:Key=value, for example --Pipeline:MaxConcurrency=8.
Exit codes: 0 success, 1 a failed check, 2 refused configuration or usage, 3 a store, port or folder is not available.`;

const BENCH_HELP = `
Each figure is printed beside its limit, measured in the same run; docs/benchmarks.md explains both.
Exit codes: 0 success, 1 an output does not verify or a benchmark failed, 2 usage, 3 a file or folder is not available.`;

/** The filters of `GET /api/jobs`, as options take them. */
const JOB_FILTERS = [
  'status',
  'profile',
  'format',
  'source',
  'folder',
  'fileName',
  'createdFrom',
  'createdTo',
  'parentJobId',
];

const version = packageVersion();
const stdout = createDescriptorSink(1, systemClock);
const terminal: Terminal = {
  out: (text) => stdout.write(text, 'Error'),
  err: (text) => process.stderr.write(text),
  colors:
    process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb',
  interactive: process.stdout.isTTY === true,
};
/** True when progress can be overwritten on the standard error. */
const live = process.stderr.isTTY === true && process.env['TERM'] !== 'dumb';

process.exitCode = await main(process.argv.slice(2));
await stdout.flush();
process.exit();

async function main(argv: readonly string[]): Promise<ExitCode> {
  let exit: ExitCode = EXIT.good;
  const load = (): LoadedSettings =>
    loadSettings({ argv, env: process.env, cwd: process.cwd(), readFile: readIfThere });
  const program = new Command('sealwright')
    .description(
      'Signs documents: files in bulk, from watched folders and over HTTP; and documents that people sign on a portal.',
    )
    .version(version)
    .configureHelp({ optionDescription: describeOption })
    .addHelpText('after', SETTINGS_HELP)
    .exitOverride();
  const configDir = () => new Option('--config-dir <folder>', 'folder with further appsettings files');

  program
    .command('serve')
    .description('run the service (default)')
    .addOption(configDir())
    .addHelpText('after', SETTINGS_HELP)
    .action(async () => {
      exit = await serveCommand(load());
    });
  program
    .command('check-config')
    .description('show the resolved configuration with masked secrets, and whether the service accepts it')
    .addOption(configDir())
    .option('--json', 'print JSON', false)
    .addHelpText('after', SETTINGS_HELP)
    .action((options: { json: boolean }) => {
      exit = checkConfig(load(), terminal, options);
    });
  program
    .command('verify')
    .description('check the signatures of files')
    .argument('<file...>', 'signed files')
    .option(
      '--format <format>',
      'Pades, Cades, Xades or Asic (default: by extension and content)',
      parseFormat,
    )
    .option(
      '--trust <pem>',
      'file with trusted root certificates; may be repeated (default: those that this installation trusts)',
      collect,
      [],
    )
    .option('--intermediates <pem>', 'file with certificates below the roots; may be repeated', collect, [])
    .option('--content <file>', 'content of a detached signature; may be repeated', collect, [])
    .option('--at <time>', 'validate as of this time, such as 2026-05-17T12:00:00Z (default: now)', parseTime)
    .addOption(
      new Option('--revocation <mode>', 'check of revocation; without an answer, soft warns and hard fails')
        .choices(['none', 'soft', 'hard'])
        .default('soft'),
    )
    .option('--online', 'ask the authorities named in the certificates for data that the file lacks', false)
    .option('--allow-private', 'let --online connect to loopback and private addresses too', false)
    .option(
      '--independent',
      'check with a second implementation (pkijs, xml-crypto) too; a disagreement fails the file',
      false,
    )
    .option('--password-env <variable>', 'environment variable that holds the password of encrypted PDFs')
    .option('--report', 'print the validation report of ETSI TS 119 102-2 (XML) of one file', false)
    .option('--no-chain', 'check the integrity only, not the certificates')
    .option('--json', 'print JSON', false)
    .action(async (files: string[], options: VerifyArguments) => {
      const { verifyFiles } = await import('./commands/verify/verify.ts');
      const { validateFile } = await import('./crypto/index.ts');
      const { format, content, at = systemClock.now() } = options;
      const { online, allowPrivate } = options;
      const askOnline = online
        ? (await import('./commands/verify/verify-online.ts')).collectOnline(systemClock, allowPrivate)
        : undefined;
      const compare = options.independent
        ? (await import('./commands/verify/verify-independently.ts')).compareIndependently(at)
        : undefined;
      const password = options.passwordEnv === undefined ? undefined : process.env[options.passwordEnv];
      const { readOwnTrust } = await import('./commands/verify/own-trust.ts');
      const own = options.trust.length === 0 ? readOwnTrust(load()) : undefined;
      const wanted = { ...options, own, format, content, at, password };
      exit = await verifyFiles(files, validateFile, wanted, terminal, askOnline, compare);
    });

  program
    .command('try')
    .description('make a document on the running service, sign it as a person would, and verify it')
    .addOption(configDir())
    .addHelpText('after', SETTINGS_HELP)
    .action(async () => {
      const { tryCommand } = await import('./commands/try/try.ts');
      const { validateFile: validate } = await import('./crypto/index.ts');
      const loaded = load();
      const dependencies = { clock: systemClock, ids: systemIds, terminal, validate };
      exit = await withSettings(loaded, (settings) => tryCommand(settings, loaded, dependencies));
    });

  addExtendCommand(program, async (files, options) => {
    const { extendFiles } = await import('./commands/extend.ts');
    const dependencies = { clock: systemClock, ids: systemIds, terminal, env: process.env };
    exit = await extendFiles(files, options, dependencies);
  });

  program
    .command('decrypt')
    .description('decrypt an encrypted output')
    .requiredOption('--password-env <variable>', 'environment variable that holds the password')
    .requiredOption('--salt-b64 <salt>', 'the salt, Base64 (Encryption:Salt)')
    .option('--iterations <number>', 'rounds of key derivation (Encryption:Iterations)', parseCount, 600_000)
    .requiredOption('--in <file>', 'the encrypted file')
    .requiredOption('--out <file>', 'the decrypted file; must not exist')
    .addHelpText(
      'after',
      '\nExit codes: 0 success, 1 not an encrypted file or truncated, 2 wrong password or salt, 3 usage or a file that is not available.',
    )
    .action(async (options: DecryptOptions) => {
      const { decrypt } = await import('./commands/decrypt.ts');
      exit = await decrypt(options, process.env, terminal);
    });

  program
    .command('doctor')
    .description('check everything that the service needs, and print each fault with its cause and remedy')
    .addOption(configDir())
    .option('--json', 'print JSON', false)
    .addHelpText('after', SETTINGS_HELP)
    .action(async (options: { json: boolean }) => {
      const { doctor } = await import('./commands/doctor.ts');
      const parts = { clock: systemClock, ids: systemIds, terminal, cwd: process.cwd() };
      exit = await doctor(load(), options, { ...parts, nodeVersion: process.versions.node });
    });

  program
    .command('health')
    .description('check that the service of this configuration runs; for health checks of containers')
    .addOption(configDir())
    .addHelpText('after', SETTINGS_HELP)
    .action(async () => {
      exit = await withSettings(load(), async (settings) => {
        const { healthCommand } = await import('./commands/health.ts');
        return healthCommand(settings, terminal);
      });
    });

  program
    .command('backup')
    .description('copy the store, the documents and the keys; the service may run')
    .argument('<dir>', 'a folder that is missing or empty')
    .addOption(configDir())
    .addHelpText('after', SETTINGS_HELP)
    .action(async (dir: string) => {
      exit = await withSettings(load(), async (settings) => {
        const { backup } = await import('./commands/backup.ts');
        return backup(settings, resolve(dir), terminal);
      });
    });
  addStoreCommands(program, async (options) => {
    const { copyCommand } = await import('./commands/store/copy.ts');
    exit = await copyCommand(options, { clock: systemClock, terminal, live });
  });
  program
    .command('actors')
    .description('show the actors of the running service, or restart one that was given up')
    .argument('[kind]', 'list the actors of this kind (default: list the kinds)')
    .argument('[id]', 'show this actor')
    .option('--state <state>', 'only actors in this state')
    .option('--after <cursor>', 'the next page: the cursor that the previous page printed')
    .option('--runtime', 'show shards, pool, event loop and store instead of actors', false)
    .option('--stuck', 'only actors with failed work that is retried', false)
    .option('--stopped', 'only actors that failed too often and were given up', false)
    .option('--limit <number>', 'maximum number of actors', '50')
    .option('--restart', 'restart the actor after it was given up; requires --reason', false)
    .option('--reason <text>', 'reason of the restart; stored in the events')
    .option('--json', 'print JSON', false)
    .addOption(configDir())
    .addHelpText('after', SETTINGS_HELP)
    .action(async (kind: string | undefined, id: string | undefined, options: ActorsOptions) => {
      exit = await withSettings(load(), async (settings) => {
        const { actorsCommand } = await import('./commands/actors.ts');
        return actorsCommand(settings, { ...(kind && { kind }), ...(id && { id }) }, options, terminal);
      });
    });
  program
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
    .action(async (names: string[], options: BenchOptions) => {
      const { benchCommand } = await import('./commands/bench.ts');
      exit = await benchCommand(names, options, { terminal, live, clock: systemClock });
    });
  addKeysCommands(program, configDir, SETTINGS_HELP, async (words, { json }) => {
    exit = await withSettings(load(), async (settings) => {
      const { keys } = await import('./commands/keys/keys.ts');
      return keys(settings, words, { json }, { clock: systemClock, ids: systemIds, terminal });
    });
  });
  program
    .command('verify-history')
    .description('verify the history, and name the first entry that was changed')
    .addOption(configDir())
    .option('--copy <file>', 'file with copies of checkpoints, one a line; may be repeated', collect, [])
    .option('--json', 'print JSON', false)
    .addHelpText('after', SETTINGS_HELP)
    .action(async ({ copy, json }: { readonly copy: string[]; readonly json: boolean }) => {
      exit = await withSettings(load(), async (settings) => {
        const { verifyHistoryCommand } = await import('./commands/verify-history.ts');
        return verifyHistoryCommand(settings, { copies: copy, json }, terminal);
      });
    });
  const jobs = program.command('jobs').description('read jobs from the store');
  const exporting = jobs
    .command('export')
    .description('print each job as a line of JSON, newest first')
    .addOption(configDir())
    .addHelpText('after', SETTINGS_HELP);
  for (const name of JOB_FILTERS)
    exporting.option(`--${name} <value>`, `filter; see ${name} of GET /api/jobs`);
  exporting.action(async (options: Readonly<Record<string, string>>) => {
    const { configDir: _, ...filter } = options;
    exit = await withSettings(load(), async (settings) => {
      const { exportCommand } = await import('./commands/jobs-export.ts');
      return exportCommand(settings, filter, terminal);
    });
  });

  program
    .command('completion')
    .description('print a script that completes commands: source <(sealwright completion bash)')
    .addArgument(new Argument('<shell>', 'shell that runs the script').choices(SHELLS))
    .action((shell: Shell) => printCompletion(program, shell, terminal));

  try {
    await program.parseAsync(withCommand(argv.filter((word) => !isSettingArgument(word))), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.good;
    // This one command has its own meaning for 2.
    return argv.find((word) => !word.startsWith('-')) === 'decrypt' ? EXIT.unavailable : EXIT.refused;
  }
  return exit;
}

/** Without a command, `serve` is meant; not its default command, which would take a misspelt name as its argument. */
function withCommand(words: readonly string[]): string[] {
  const [first = ''] = words;
  const isOption = first.startsWith('-') && !['-h', '--help', '-V', '--version'].includes(first);
  return first === '' || isOption ? ['serve', ...words] : [...words];
}

/** Runs a command that needs a configuration which is accepted. */
async function withSettings(
  loaded: LoadedSettings,
  command: (settings: Settings) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (loaded.ok) return command(loaded.settings);
  printProblems(loaded, terminal);
  return EXIT.refused;
}

async function serveCommand(loaded: LoadedSettings): Promise<ExitCode> {
  if (!loaded.ok) {
    printProblems(loaded, terminal);
    return EXIT.refused;
  }
  const { settings, warnings } = loaded;
  const log = openLogging(settings, { clock: systemClock, console: stdout, err: terminal.err });
  const { serve } = await import('./service/serve.ts');
  const options = { version, faults: process.env['SEALWRIGHT_FAULTS'] };
  const notify = serviceManager(process.env, log);
  return runService({ serve, settings, warnings, log, clock: systemClock, terminal, options, notify });
}

/** Options of `verify` as they come from the command line. */
type VerifyArguments = Omit<VerifyOptions, 'format' | 'content' | 'at' | 'password'> & {
  readonly passwordEnv?: string;
  readonly allowPrivate: boolean;
  readonly format?: Format;
  readonly content: readonly string[];
  readonly at?: number;
};

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}

function packageVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
