/** The tamper-evident history, as far as it can be verified in seconds. Source: docs/decisions/0053-tamper-evident-history.md. */

import { describeFailure, type StoreReader, verifyHistory } from '@sealwright/runtime';
import { ACTOR_KINDS } from '../../actors/index.ts';
import { openReader } from '../../service/open-store.ts';
import type { Settings } from '../../settings.ts';
import { bad, type Finding, good } from './finding.ts';

/** Lines and leaves checked; `verify-history` checks all. */
const MAX_ENTRIES = 200_000;

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
    const report = await verifyHistory(store, { kinds: ACTOR_KINDS, limit: MAX_ENTRIES });
    const { lines, checkpoints, complete, fault } = report;
    if (fault !== undefined)
      return bad('failed', 'history', {
        says: `The history was changed at ${fault.entry}. ${fault.problem}`,
        cause:
          'The store was edited outside of the service, or the disk returned other bytes than were written.',
        remedy:
          'Keep a copy of the store, compare it with a backup, and run sealwright verify-history --copy.',
      });
    const rest = complete ? '' : ' There is more; sealwright verify-history verifies all of it.';
    return good('history', `${lines} lines and ${checkpoints} checkpoints are as they were written.${rest}`);
  } finally {
    await store.close();
  }
}
