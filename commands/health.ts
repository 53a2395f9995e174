/**
 * `sealwright health`: asks the service that runs on this machine whether it is up. For the health check of a
 * container: it finds the address by what the service wrote beside the lock of its store.
 *
 * Source: docs/operations.md; docs/batch-values.md §13.
 */
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { findService, NoService } from './local-service.ts';
import type { Terminal } from './terminal.ts';

/** 0 when `GET /api/health` of the service answers 200, 1 when it does not. Without the batch API it asks the portal. */
export async function healthCommand(settings: Settings, terminal: Terminal): Promise<ExitCode> {
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
