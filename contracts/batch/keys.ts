/** Named API keys: list, create, rotate, revoke. */
import { z } from 'zod';
import { entity, shown, time, wholeFrom } from '../fields.ts';
import type { Value } from '../operation.ts';
import { ACCESS_SCOPES } from './access.ts';
import { AT } from './examples.ts';
import { operationsOf } from './operation.ts';
import { moment } from './requests.ts';

/** Bounds of keys: number of keys, length of a name, entries of a list. */
export const KEY_BOUNDS = { keys: 1000, name: 40, list: 100 } as const;

const NAME_RULE = `must be 1 to ${KEY_BOUNDS.name} lower-case letters, digits and inner hyphens`;
const name = z
  .string({ error: NAME_RULE })
  .max(KEY_BOUNDS.name, { error: NAME_RULE })
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/, { error: NAME_RULE });
const scopes = z
  .array(z.enum(ACCESS_SCOPES), { error: `must be a list of ${ACCESS_SCOPES.join(', ')}` })
  .min(1, { error: 'must have at least one item' })
  .max(ACCESS_SCOPES.length, { error: `must have at most ${ACCESS_SCOPES.length} items` })
  .describe(
    'What the key may do. `read` changes nothing; `submit` makes jobs; `operate` acts on them; `administer` gives access. No scope includes another.',
  );
const names = (what: string) =>
  z
    .array(name)
    .min(1, { error: 'must have at least one item' })
    .max(KEY_BOUNDS.list, { error: `must have at most ${KEY_BOUNDS.list} items` })
    .meta({ description: what, examples: [['invoices']] });
const rateLimit = z
  .strictObject({
    permits: shown(wholeFrom(1, 1_000_000), 'Requests let through in a window.', 600),
    windowSeconds: shown(wholeFrom(1, 3600), 'Length of a window, seconds.', 60),
  })
  .describe('Limit of all requests with the key, in place of those of addresses. Null: those of addresses.');

const BOUND = {
  profiles: 'Only jobs of these profiles. Null: of all.',
  folders: 'Only jobs of these input folders. Null: of all, and uploads.',
} as const;
const keyName = shown(name, 'Name of the key, also in events as `key:` and the name.', 'billing');
const expiry = 'Time from which it is refused. Null: none.';

const key = entity('AccessKey', {
  name: keyName,
  scopes,
  profiles: names(BOUND.profiles).nullable(),
  folders: names(BOUND.folders).nullable(),
  expiresAt: time.nullable().describe(expiry),
  rateLimit: rateLimit.nullable(),
  createdAt: time.describe('Time at which it was made, UTC.'),
  createdBy: shown(z.string(), 'Who made it.', 'operator'),
  lastUsedAt: time.nullable().describe('Last use, stored once in ten minutes. Null: not used yet.'),
  secrets: z
    .array(
      z.strictObject({
        createdAt: time.describe('Time at which it was made, UTC.'),
        expiresAt: time.nullable().describe(expiry),
      }),
    )
    .max(2)
    .describe('Its valid secrets, newest first: two while it is rotated.'),
});
export type AccessKey = Value<typeof key>;

const EXAMPLE = {
  name: 'billing',
  scopes: ['submit', 'read'],
  profiles: ['invoices'],
  folders: null,
  expiresAt: null,
  rateLimit: { permits: 600, windowSeconds: 60 },
  createdAt: AT,
  createdBy: 'operator',
  lastUsedAt: null,
  secrets: [{ createdAt: AT, expiresAt: null }],
};

const newKey = entity('NewAccessKey', {
  name: keyName,
  scopes,
  profiles: names(BOUND.profiles).nullish(),
  folders: names(BOUND.folders).nullish(),
  expiresAt: shown(moment.nullish(), expiry, AT),
  rateLimit: rateLimit.nullish(),
});
export type NewAccessKey = Value<typeof newKey>;

const withSecret = entity('AccessKeyWithSecret', {
  key: key.describe('The key, as lists show it.'),
  secret: shown(
    z.string(),
    'The secret, shown this once. Send it in the header of `Auth:ApiKeyHeader`.',
    'swk_0f1e2d3c4b5a6978_…',
  ),
});
const MADE = { key: EXAMPLE, secret: 'swk_0f1e2d3c4b5a6978_…' };

const MAX_OVERLAP_HOURS = 720;
const rotation = entity('KeyRotation', {
  overlapHours: shown(
    wholeFrom(0, MAX_OVERLAP_HOURS).default(24),
    'Hours for which the present secret stays valid; an older one ends at once.',
    24,
  ),
});

const keyParams = z.object({ name: shown(z.string().max(KEY_BOUNDS.name), 'Name of the key.', 'billing') });

const operation = operationsOf({ group: 'Authentication' });

export const listKeys = operation('GET /api/keys', {
  summary: 'Lists the named API keys by name, without secrets.',
  description: '`Auth:ApiKey` is not among them.',
  reply: entity('AccessKeys', { items: z.array(key).max(KEY_BOUNDS.keys).describe('Entries of this page.') }),
  examples: { reply: { items: [EXAMPLE] } },
});

export const createKey = operation('POST /api/keys', {
  rate: 'actions',
  summary: 'Creates a named API key and shows its secret once.',
  description:
    'A key can give no scope that its maker lacks, and not outlive a key that makes it. A key that is bound to profiles or folders reads and changes their jobs alone: lists need the filter where there are several. A key that is bound to folders uploads nothing.',
  body: newKey,
  reply: withSecret,
  examples: { request: { name: 'billing', scopes: ['submit', 'read'] }, reply: MADE },
  refusals: ['validation.body-invalid', 'key.exists', 'key.limit-reached'],
});

export const rotateKey = operation('POST /api/keys/{name}/rotate', {
  rate: 'actions',
  summary: 'Gives a key a new secret, and shows it once.',
  description: 'The present secret stays valid for `overlapHours`; with 0 it ends at once.',
  params: keyParams,
  unknown: 'key.not-found',
  body: rotation,
  reply: withSecret,
  examples: { request: { overlapHours: 24 }, reply: MADE },
  refusals: ['validation.body-invalid', 'key.not-found'],
});

export const revokeKey = operation('POST /api/keys/{name}/revoke', {
  rate: 'actions',
  summary: 'Revokes a key with all its secrets, at once.',
  description: 'What it did stays recorded under its name.',
  params: keyParams,
  unknown: 'key.not-found',
  reply: entity('RevokedKey', { name: keyName, revoked: z.literal(true).describe('That it is revoked.') }),
  refusals: ['key.not-found'],
});
