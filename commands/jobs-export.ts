/**
 * `sealwright jobs export`: every job as one line of JSON, as `GET /api/jobs/{id}` shows it, with the proof of its history:
 * the lines as they are hashed, and the way from the newest sealed one to a signed checkpoint.
 *
 * Source: docs/batch-values.md §13; docs/decisions/0053-tamper-evident-history.md.
 */
import { exportJobs } from '../actors/index.ts';
import { encodeJob, readJobFilter } from '../http/index.ts';
import { openReader } from '../service/open-store.ts';
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
    const store = await openReader(settings);
    try {
      for await (const { job, journal, proof } of exportJobs(store, wanted)) {
        const historyProof = { lines: journal, sealed: proof ?? null };
        terminal.out(`${JSON.stringify({ ...Object(encodeJob(job)), historyProof })}\n`);
      }
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
