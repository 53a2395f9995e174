/** Keys of all applications with their expiry and last use, for operators. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { listPortalKeys } from '../../../contracts/batch/portal.ts';
import type { Value } from '../../../contracts/operation.ts';
import type { Administration } from './administration.ts';

/** Maximum of organizations that are read, and of keys that are listed. */
const MAX_ORGANIZATIONS = 1000;
const MAX_KEYS = 500;
/** Organizations that are read at once. */
const AT_ONCE = 100;

type OperatorKey = Value<typeof listPortalKeys.reply>['items'][number];

export type OperatorKeys = Pick<OperatorKeyList, 'keys'>;

export class OperatorKeyList {
  constructor(private readonly administration: Pick<Administration, 'organizations'>) {}

  /** Those that expire first come first; `complete`: false when not all organizations or keys are listed. */
  async keys(): Promise<Value<typeof listPortalKeys.reply>> {
    const keys: OperatorKey[] = [];
    let total = 0;
    for (let offset = 0; offset * AT_ONCE < MAX_ORGANIZATIONS; offset += 1) {
      const { items, totalCount } = await this.administration.organizations({ limit: AT_ONCE, offset });
      total = totalCount;
      for (const { name: organization, applications } of items) {
        for (const { name: application, role, keys: some } of applications) {
          for (const { id, scopes, folderIds, creationDate, lastUseDate, expirationDate, expiry } of some)
            keys.push({
              id,
              organization,
              application,
              role,
              expiry,
              limited: (scopes ?? folderIds) !== null,
              createdAt: creationDate,
              lastUsedAt: lastUseDate,
              expiresAt: expirationDate,
            });
        }
      }
      if ((offset + 1) * AT_ONCE >= totalCount) break;
      // Reads of a store on disk do not wait; other work of the thread comes in between.
      await nextTurn();
    }
    keys.sort(byExpiry);
    return {
      items: keys.slice(0, MAX_KEYS),
      complete: total <= MAX_ORGANIZATIONS && keys.length <= MAX_KEYS,
    };
  }
}

/** Those that do not expire come last. */
function byExpiry({ expiresAt: one }: OperatorKey, { expiresAt: other }: OperatorKey): number {
  if (one === other) return 0;
  return one === null ? 1 : other === null ? -1 : one - other;
}
