/**
 * A named API key of the batch service, with SHA-256 of its secrets: they are 256 random bits, so that no slow hash is
 * needed.
 *
 * | from  | message | to      | effects |                                                               |
 * |-------|---------|---------|---------|---------------------------------------------------------------|
 * | Known | ROTATE  | Known   |         | unless it is revoked                                          |
 * | Known | USED    | Known   |         | unless it is revoked; later than the last use                 |
 * | Known | REVOKE  | Known   |         | unless it is revoked                                          |
 *
 * A revoked key ends; one that came from a file stays, so that no file brings it back.
 *
 * Source: docs/decisions/0277-scopes-and-roles-of-operators.md.
 */
import type { AccessScope } from '../../contracts/batch/access.ts';
import type { Millis } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';

export interface AccessSecret {
  readonly sha256: string;
  readonly createdAt: Millis;
  readonly expiresAt: Millis | null;
}

export interface AccessKeyContext {
  readonly name: string;
  readonly scopes: readonly AccessScope[];
  readonly profiles: readonly string[] | null;
  readonly folders: readonly string[] | null;
  readonly expiresAt: Millis | null;
  readonly rateLimit: { readonly permits: number; readonly windowSeconds: number } | null;
  readonly createdAt: Millis;
  readonly createdBy: string;
  /** One or two, the newest first. */
  readonly secrets: readonly AccessSecret[];
  readonly lastUsedAt: Millis | null;
  /** Came from a file of an earlier version. */
  readonly isTakenOver: boolean;
  readonly revokedAt: Millis | null;
}

export type NewAccessKeyRecord = Omit<AccessKeyContext, 'revokedAt'>;

export type AccessKeyMessage = RecordMessage &
  (
    | { readonly type: 'ROTATE'; readonly secret: AccessSecret; readonly earlierUntil: Millis }
    | { readonly type: 'USED'; readonly usedAt: Millis }
    | { readonly type: 'REVOKE' }
  );

export const accessKeyMachine = recordMachine<AccessKeyContext, AccessKeyMessage, NewAccessKeyRecord>({
  id: 'access-key',
  state: 'Known',
  context: (input) => ({ ...input, revokedAt: null }),
  created: 'Made.',
  changes: {
    ROTATE: ({ revokedAt, secrets }, { secret, earlierUntil }) => {
      if (revokedAt !== null) return undefined;
      const [earlier] = secrets;
      const kept =
        earlier && earlierUntil > secret.createdAt ? [{ ...earlier, expiresAt: earlierUntil }] : [];
      return { context: { secrets: [secret, ...kept] }, note: 'Has a new secret.' };
    },
    USED: ({ revokedAt, lastUsedAt }, { usedAt }) =>
      revokedAt !== null || usedAt <= (lastUsedAt ?? 0) ? undefined : { context: { lastUsedAt: usedAt } },
    REVOKE: ({ revokedAt }, { at }) =>
      revokedAt === null ? { context: { revokedAt: at }, note: 'Revoked.' } : undefined,
  },
});
