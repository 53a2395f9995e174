/** Commands about the service: those that run it, check it, or ask the running one. */
import type { AcceptedSettings } from '../../settings.ts';
import type { ActorsOptions } from '../actors.ts';
import { checkConfig } from '../check-config.ts';
import type { ExitCode } from '../exit-codes.ts';
import { addConfiguredCommand, type CommandLine, configDir, SETTINGS_HELP } from './command-line.ts';

/** @param serve runs the service until it is stopped */
export function addServe(
  { program, configured }: CommandLine,
  serve: (loaded: AcceptedSettings) => Promise<ExitCode>,
): void {
  addConfiguredCommand(program, 'serve', 'run the service (default)').action(configured(serve));
}

export function addCheckConfig({ program, terminal, load, action }: CommandLine): void {
  const text = 'show the resolved configuration with masked secrets, and whether the service accepts it';
  addConfiguredCommand(program, 'check-config', text)
    .option('--json', 'print JSON', false)
    .action(action((options: { json: boolean }) => checkConfig(load(), terminal, options)));
}

export function addTry(line: CommandLine): void {
  const text = 'make a document on the running service, sign it as a person would, and verify it';
  addConfiguredCommand(line.program, 'try', text).action(
    line.configured(async (loaded) => {
      const { tryCommand } = await import('../try.ts');
      return tryCommand(loaded, line);
    }),
  );
}

export function addDoctor(line: CommandLine): void {
  const text = 'check everything that the service needs, and print each fault with its cause and remedy';
  addConfiguredCommand(line.program, 'doctor', text)
    .option('--json', 'print JSON', false)
    .action(
      line.action(async (options: { json: boolean }) => {
        const { doctor } = await import('../doctor.ts');
        return doctor(line.load(), options, line);
      }),
    );
}

export function addHealth({ program, terminal, configured }: CommandLine): void {
  const text = 'check that the service of this configuration runs; for health checks of containers';
  addConfiguredCommand(program, 'health', text).action(
    configured(async ({ settings }) => {
      const { healthCommand } = await import('../health.ts');
      return healthCommand(settings, terminal);
    }),
  );
}

export function addActors({ program, terminal, configured }: CommandLine): void {
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
    .action(
      configured(
        async ({ settings }, kind: string | undefined, id: string | undefined, options: ActorsOptions) => {
          const { actorsCommand } = await import('../actors.ts');
          return actorsCommand(settings, { ...(kind && { kind }), ...(id && { id }) }, options, terminal);
        },
      ),
    );
}
