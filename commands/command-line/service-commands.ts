/** Commands about the service: those that run it, check it, or ask the running one. */
import { systemClock, systemIds } from '@sealwright/runtime/core';
import type { LoadedSettings } from '../../settings.ts';
import type { ActorsOptions } from '../actors.ts';
import { checkConfig } from '../check-config.ts';
import type { ExitCode } from '../exit-codes.ts';
import {
  addConfiguredCommand,
  type CommandLine,
  configDir,
  SETTINGS_HELP,
  withSettings,
} from './command-line.ts';

/** @param serve runs the service until it is stopped */
export function addServe(
  { program, load, action }: CommandLine,
  serve: (loaded: LoadedSettings) => Promise<ExitCode>,
): void {
  addConfiguredCommand(program, 'serve', 'run the service (default)').action(action(() => serve(load())));
}

export function addCheckConfig({ program, terminal, load, action }: CommandLine): void {
  const text = 'show the resolved configuration with masked secrets, and whether the service accepts it';
  addConfiguredCommand(program, 'check-config', text)
    .option('--json', 'print JSON', false)
    .action(action((options: { json: boolean }) => checkConfig(load(), terminal, options)));
}

export function addTry({ program, terminal, load, action }: CommandLine): void {
  const text = 'make a document on the running service, sign it as a person would, and verify it';
  addConfiguredCommand(program, 'try', text).action(
    action(async () => {
      const { tryCommand } = await import('../try/try.ts');
      const { validateFile: validate } = await import('../../crypto/index.ts');
      const loaded = load();
      const dependencies = { clock: systemClock, ids: systemIds, terminal, validate };
      return withSettings(loaded, terminal, (settings) => tryCommand(settings, loaded, dependencies));
    }),
  );
}

export function addDoctor({ program, terminal, load, action }: CommandLine): void {
  const text = 'check everything that the service needs, and print each fault with its cause and remedy';
  addConfiguredCommand(program, 'doctor', text)
    .option('--json', 'print JSON', false)
    .action(
      action(async (options: { json: boolean }) => {
        const { doctor } = await import('../doctor.ts');
        return doctor(load(), options, {
          ...{ clock: systemClock, ids: systemIds, terminal },
          cwd: process.cwd(),
          nodeVersion: process.versions.node,
        });
      }),
    );
}

export function addHealth({ program, terminal, load, action }: CommandLine): void {
  const text = 'check that the service of this configuration runs; for health checks of containers';
  addConfiguredCommand(program, 'health', text).action(
    action(() =>
      withSettings(load(), terminal, async (settings) => {
        const { healthCommand } = await import('../health.ts');
        return healthCommand(settings, terminal);
      }),
    ),
  );
}

export function addActors({ program, terminal, load, action }: CommandLine): void {
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
      action((kind: string | undefined, id: string | undefined, options: ActorsOptions) =>
        withSettings(load(), terminal, async (settings) => {
          const { actorsCommand } = await import('../actors.ts');
          return actorsCommand(settings, { ...(kind && { kind }), ...(id && { id }) }, options, terminal);
        }),
      ),
    );
}
