/** The running service, by its own checks under the names that `GET /api/ready` gives them, and the tamper-evident history. */

import { describeFailure, type StoreReader } from '@sealwright/runtime';
import { verifyHistory } from '@sealwright/runtime/history';
import { ACTOR_KINDS, type HealthCheck } from '../../actors/index.ts';
import { keptBesideHistory } from '../../service/history-anchor.ts';
import { openReader } from '../../service/open-store.ts';
import type { Settings } from '../../settings.ts';
import { findService, localHeaders, NoService, requestLocal } from '../local-service.ts';
import { bad, type Finding, good } from './finding.ts';

/** Remedies by the part of a check's name before the colon. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['database', 'Look for the first error of the store in the log, repair its disk, and restart the service.'],
  [
    'input-folder',
    'Remove the cause that the detail names, then restart the service: a stopped watcher does not start again by itself.',
  ],
  ['license', 'Correct or remove Signing:License.'],
  ['profile', 'Correct the certificate that the detail names, and restart the service.'],
  [
    'actors',
    'Wait until the thread is replaced; if it is lost again and again, send the log to the maintainer of the service.',
  ],
]);

/** One finding for each check; one failed finding when the service cannot be asked. */
export async function checkRunningService(settings: Settings): Promise<readonly Finding[]> {
  let checks: readonly HealthCheck[];
  try {
    const url = await findService(settings, 'batch');
    const { body } = await requestLocal(url, '/api/ready', { headers: localHeaders(settings) });
    ({ checks } = JSON.parse(body) as { readonly checks: readonly HealthCheck[] });
    return checks.map(toFinding);
  } catch (error) {
    return [
      bad('failed', 'service', {
        says: `A process holds the store, and the service cannot be asked: ${sentence(error)}.`,
        cause: 'The service is starting, stopping or hangs, or another program has its address.',
        remedy: 'Look at its log; run this command again when it has started.',
      }),
    ];
  }
}

function sentence(error: unknown): string {
  if (error instanceof NoService) return `${error.url} ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function toFinding({ name, status, detail }: HealthCheck): Finding {
  if (status === 'Healthy') return good(name, detail ?? 'Healthy.');
  return bad(status === 'Degraded' ? 'warning' : 'failed', name, {
    says: detail ?? status,
    cause: `The running service reports this check as ${status}.`,
    remedy: REMEDIES.get(name.split(':', 1)[0] ?? '') ?? 'Look at the log of the service.',
  });
}

/** Replaces findings of the same name by those of the running service where the service has found something. */
export function mergeFindings(own: readonly Finding[], running: readonly Finding[]): readonly Finding[] {
  const known = new Set(own.map(({ name }) => name));
  const problems = new Map(
    running.filter(({ verdict }) => verdict !== 'good').map((finding) => [finding.name, finding]),
  );
  return [
    ...own.map((finding) => (finding.verdict === 'good' ? (problems.get(finding.name) ?? finding) : finding)),
    ...running.filter(({ name }) => !known.has(name)),
  ];
}

/** Lines and leaves checked; `verify-history` checks all. */
const MAX_ENTRIES = 200_000;

/** Verifies the history as far as that takes seconds. Source: docs/decisions/0053-tamper-evident-history.md. */
export async function checkHistory(settings: Settings): Promise<Finding> {
  let store: StoreReader;
  try {
    store = await openReader(settings);
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code === 'store.damaged')
      return bad('failed', 'history', {
        says: 'It cannot be read: the database is damaged.',
        cause: 'See the check "database".',
        remedy: 'Restore the last backup.',
      });
    if (code !== 'store.copy-incomplete') return good('history', `There is no history yet: ${message}`);
    return bad('failed', 'history', {
      says: message,
      cause: 'A copy into this store was interrupted.',
      remedy: 'Repeat the same sealwright store copy.',
    });
  }
  try {
    const report = await verifyHistory(store, {
      kinds: ACTOR_KINDS,
      limit: MAX_ENTRIES,
      ...keptBesideHistory(settings),
    });
    const { lines, checkpoints, complete, anchored, fault } = report;
    if (fault !== undefined)
      return bad('failed', 'history', {
        says: `The history was changed at ${fault.entry}. ${fault.problem}`,
        cause:
          'The store was edited outside of the service, or the disk returned other bytes than were written.',
        remedy:
          'Keep a copy of the store, compare it with a backup, and run sealwright verify-history --copy.',
      });
    if (!anchored)
      return bad('warning', 'history', {
        says: 'The folder of keys has no anchor of the history, and the store has checkpoints.',
        cause:
          'It was removed, or this is a restored or copied store. The removal of the newest checkpoints is not seen.',
        remedy:
          'Run sealwright verify-history --copy with copies of checkpoints; the next start writes an anchor.',
      });
    const rest = complete ? '' : ' There is more; sealwright verify-history verifies all of it.';
    return good('history', `${lines} lines and ${checkpoints} checkpoints are as they were written.${rest}`);
  } finally {
    await store.close();
  }
}
