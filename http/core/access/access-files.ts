/** Files of named API keys and ended sessions, in which earlier versions kept them. */
import { z } from 'zod';
import { ACCESS_SCOPES } from '../../../contracts/batch/access.ts';
import { KEY_BOUNDS } from '../../../contracts/batch/keys.ts';

/** The program alone wrote this, so that a text beyond these bounds is damaged. */
const keys = z.strictObject({
  version: z.literal(1),
  keys: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[0-9a-f]{16}$/),
        name: z.string().max(KEY_BOUNDS.name),
        scopes: z.array(z.enum(ACCESS_SCOPES)).max(ACCESS_SCOPES.length),
        profiles: z.array(z.string()).max(KEY_BOUNDS.list).nullable(),
        folders: z.array(z.string()).max(KEY_BOUNDS.list).nullable(),
        expiresAt: z.int().nullable(),
        rateLimit: z.strictObject({ permits: z.int(), windowSeconds: z.int() }).nullable(),
        createdAt: z.int(),
        createdBy: z.string(),
        /** Newest first. */
        secrets: z
          .array(
            z.strictObject({
              sha256: z.string().length(64),
              createdAt: z.int(),
              expiresAt: z.int().nullable(),
            }),
          )
          .min(1)
          .max(2),
      }),
    )
    .max(KEY_BOUNDS.keys),
});

const sessions = z.strictObject({
  version: z.literal(1),
  sessions: z.array(z.strictObject({ id: z.string().max(64), until: z.iso.datetime() })).max(10_000),
});

/** @throws where the text is damaged */
export function readKeyFile(text: string) {
  return keys.parse(JSON.parse(text)).keys;
}

/** @throws where the text is damaged */
export function readEndedSessions(text: string) {
  return sessions.parse(JSON.parse(text)).sessions.map(({ id, until }) => ({ id, until: Date.parse(until) }));
}
