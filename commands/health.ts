/**
 * `sealwright health`: asks the service that runs on this machine whether it is up. For the health check of a
 * container: it finds address and scheme in the configuration.
 *
 * Source: docs/operations.md; docs/batch-values.md §13.
 */
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { requestLocal } from './local-service.ts';
import type { Terminal } from './terminal.ts';

/** 0 when `GET /api/health` answers 200, 1 when it does not. Without the batch API it asks the portal. */
export async function healthCommand(settings: Settings, terminal: Terminal): Promise<ExitCode> {
  const { batch, portal } = settings;
  const url = batch.enabled ? batch.url : portal.url;
  const problem = await requestLocal(settings, url, '/api/health').then(
    ({ status }) => (status === 200 ? undefined : `answers with status ${status}`),
    (error: Error) => `does not answer: ${error.message}`,
  );
  if (problem === undefined) return EXIT.good;
  const key = batch.enabled ? 'Batch:Url' : 'Portal:Url';
  terminal.err(`The service at ${url.href} (${key}) ${problem}\n`);
  return EXIT.failed;
}
