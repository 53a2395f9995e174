/** Commands about the service: those that run it, check it, or ask the running one. */
import type { AcceptedSettings, Settings } from '../../settings.ts';
import { checkConfig } from '../check-config.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { addConfiguredCommand, type CommandLine } from './command-line.ts';

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
    configured(({ settings }) => healthCommand(settings, terminal)),
  );
}

/**
 * Asks the service that runs on this machine whether it is up; finds its address by what it wrote beside the lock of its
 * store. 0 when `GET /api/health` of the service answers 200, 1 when it does not. Without the batch API it asks the portal.
 * Source: docs/operations.md; docs/batch-values.md §13.
 */
async function healthCommand(settings: Settings, terminal: Terminal): Promise<ExitCode> {
  const { findService, NoService } = await import('../local-service.ts');
  const api = settings.batch.enabled ? 'batch' : 'portal';
  try {
    await findService(settings, api, true);
    return EXIT.good;
  } catch (error) {
    if (!(error instanceof NoService)) throw error;
    const key = api === 'batch' ? 'Batch:Url' : 'Portal:Url';
    terminal.err(`The service at ${error.url} (${key}) ${error.message}\n`);
    return EXIT.failed;
  }
}
