/** `sealwright jobs export`: every job as one line of JSON, as `GET /api/jobs/{id}` shows it. Source: batch-gaps §13. */
import { exportJobs, storageLayout } from '../actors/index.ts';
import { jobDetailBody, readJobFilter } from '../http/index.ts';
import { openLmdbReader } from '../runtime/index.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** @param filter the query parameters of `GET /api/jobs`, as text */
export async function exportCommand(
  settings: Settings,
  filter: Readonly<Record<string, string>>,
  terminal: Pick<Terminal, 'out' | 'err'>,
): Promise<ExitCode> {
  try {
    const wanted = readJobFilter(filter);
    const store = openLmdbReader(storageLayout(settings.storage.root).db);
    try {
      for await (const job of exportJobs(store, wanted))
        terminal.out(`${JSON.stringify(jobDetailBody(job))}\n`);
    } finally {
      await store.close();
    }
    return EXIT.good;
  } catch (error) {
    terminal.err(`sealwright jobs export: ${error instanceof Error ? error.message : String(error)}\n`);
    const { code } = error as { code?: unknown };
    return code === 'validation.filter-invalid' ? EXIT.refused : exitCodeOf(error);
  }
}
