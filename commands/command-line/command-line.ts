/** Values that all commands of the command line share. */
import { type Command, Option } from 'commander';
import type { AcceptedSettings, LoadedSettings } from '../../settings.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { CommandContext } from '../terminal.ts';

export const SETTINGS_HELP = `
Configuration keys are given as --Section:Key=value, for example --Pipeline:MaxConcurrency=8.
Exit codes: 0 success, 1 a failed check, 2 refused configuration or usage, 3 a store, port or folder is not available.`;

export interface CommandLine extends CommandContext {
  readonly program: Command;
  /** Reads the configuration. */
  load(): LoadedSettings;
  /** Makes the action of a command from a function that returns the exit code. */
  action<Arguments extends readonly unknown[]>(
    run: (...given: Arguments) => ExitCode | Promise<ExitCode>,
  ): (...given: Arguments) => Promise<void>;
  /** The same for a command that needs a configuration which is accepted; otherwise prints the faults. */
  configured<Arguments extends readonly unknown[]>(
    run: (loaded: AcceptedSettings, ...given: Arguments) => Promise<ExitCode>,
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
