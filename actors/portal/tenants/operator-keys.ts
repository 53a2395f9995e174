/** Keys of all applications with their expiry and last use, for operators. Implements `OperatorKeys`. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OperatorKey, OperatorKeys, PortalAdministration } from '../api/administration.ts';

/** Maximum of organizations that are read, and of keys that are listed. */
const MAX_ORGANIZATIONS = 1000;
const MAX_KEYS = 500;
/** Organizations that are read at once. */
const AT_ONCE = 100;

export class OperatorKeyList implements OperatorKeys {
  readonly #administration: Pick<PortalAdministration, 'organizations'>;

  constructor(administration: Pick<PortalAdministration, 'organizations'>) {
    this.#administration = administration;
  }

  async keys(): ReturnType<OperatorKeys['keys']> {
    const keys: OperatorKey[] = [];
    let total = 0;
    for (let offset = 0; offset * AT_ONCE < MAX_ORGANIZATIONS; offset += 1) {
      const { items, totalCount } = await this.#administration.organizations({ limit: AT_ONCE, offset });
      total = totalCount;
      for (const { name: organization, applications } of items) {
        for (const { name: application, role, secrets } of applications) {
          for (const { prefix: _, scopes, folders, ...secret } of secrets)
            keys.push({ ...secret, organization, application, role, limited: (scopes ?? folders) !== null });
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
