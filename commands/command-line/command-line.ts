/** Values that all commands of the command line share. */
import { type Command, Option } from 'commander';
import type { LoadedSettings, Settings } from '../../settings.ts';
import { printProblems } from '../check-config.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

export const SETTINGS_HELP = `
Configuration keys are given as --Section:Key=value, for example --Pipeline:MaxConcurrency=8.
Exit codes: 0 success, 1 a failed check, 2 refused configuration or usage, 3 a store, port or folder is not available.`;

export interface CommandLine {
  readonly program: Command;
  readonly terminal: Terminal;
  /** True when progress can be overwritten on the standard error. */
  readonly live: boolean;
  /** Reads the configuration. */
  load(): LoadedSettings;
  /** Makes the action of a command from a function that returns the exit code. */
  action<Arguments extends readonly unknown[]>(
    run: (...given: Arguments) => ExitCode | Promise<ExitCode>,
  ): (...given: Arguments) => Promise<void>;
}

export function configDir(): Option {
  return new Option('--config-dir <folder>', 'folder with further appsettings files');
}

/** Adds a command that reads the configuration. */
export function addConfiguredCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .addOption(configDir())
    .addHelpText('after', SETTINGS_HELP);
}

/** Runs a command that needs a configuration which is accepted. */
export async function withSettings(
  loaded: LoadedSettings,
  terminal: Terminal,
  command: (settings: Settings) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (loaded.ok) return command(loaded.settings);
  printProblems(loaded, terminal);
  return EXIT.refused;
}
