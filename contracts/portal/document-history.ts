/** The history of a document with its proof. Source: docs/decisions/0053-tamper-evident-history.md. */

import { z } from 'zod';
import { entity, id, members, shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { failureMessage } from './entities.ts';
import { ANA } from './examples.ts';
import { documentParams } from './ids.ts';
import { pageOf, paging } from './lists.ts';
import { operation } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';

const HISTORY_ENTRY_TYPES = [
  'Created',
  'Signed',
  'Approved',
  'Refused',
  'Edited',
  'Reminded',
  'ExpiryWarned',
  'Canceled',
  'Expired',
  'Concluded',
  'Deleted',
  'ProcessingFailed',
  'Mailed',
  'MailDelivered',
  'MailRefused',
  'Opened',
  'Viewed',
  'CodeSent',
  'WrongCode',
  'Downloaded',
  'Other',
] as const;

const entry = entity('HistoryEntry', {
  id: shown(z.int(), 'Number of the entry, from 1.', 7),
  type: z.enum(HISTORY_ENTRY_TYPES).describe('What happened.'),
  date: time.describe('Time of the event, UTC.'),
  message: failureMessage,
  by: shown(z.string().nullable(), 'Participant or application; null for the service itself.', ANA.name),
  userId: id.nullable().describe('Participant who acted. Null: an application or the service.'),
  ipAddress: shown(z.string().nullable(), 'Address of the client. Null: not known.', '203.0.113.7'),
  userAgent: shown(
    z.string().nullable(),
    '`User-Agent` of the client, shortened. Null: not known.',
    'Mozilla/5.0',
  ),
  state: shown(z.string(), 'State of the document after the event.', 'Pending'),
  cause: shown(z.string(), 'Message of the state machine that changed the document.', 'SIGN'),
  data: shown(
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable(),
    'Details, as they are hashed.',
    { action: 'downloaded', address: '203.0.113.7' },
  ),
  salt: shown(
    z.string().nullable(),
    'Random Base64url that is hashed with message and data, so that both can be erased. Null: an entry of an earlier version, or erased.',
    '3q2-7wAAAAAAAAAAAAAAAA',
  ),
  erased: shown(
    z.string().nullable(),
    'Where message, data and salt were erased: their hash; empty without a salt. Null: not erased. The data of a later entry records it.',
    null,
  ),
  hash: shown(
    z.string().nullable(),
    'Lower-case hex SHA-256 of the JSON array [2, hash of the entry before or "", "document", document id, id, milliseconds of date, state, cause, content]. `content` is `erased`, or the lower-case hex SHA-256 of [salt, message, data as [name, value] pairs by name or null]. Without salt and erasure: of [hash before, "document", document id, id, milliseconds, state, message, cause, and, with data, its pairs].',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
});
export type DocumentHistoryEntry = Value<typeof entry>;

const checkpoint = z
  .strictObject({
    node: shown(z.string(), 'Node that signed the checkpoint.', 'node-1'),
    sequence: shown(z.int(), 'Number of the checkpoint, from 1.', 12),
    at: shown(z.int(), 'Milliseconds since the epoch.', 1_779_810_131_123),
    leaves: shown(z.int(), 'Number of leaves of the tree.', 128),
    root: shown(
      z.string(),
      'Root hash of the Merkle tree, lower-case hex.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
    previous: shown(
      z.string(),
      'Hash of the checkpoint before, lower-case hex. Empty: this is the first.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
    publicKey: shown(z.string(), 'Ed25519 key of the node that signed, Base64.', 'MCowBQYDK2VwAyEA'),
    signature: shown(z.string(), 'Ed25519 signature, Base64.', 'c2lnbmF0dXJl'),
  })
  .meta({ id: 'HistoryCheckpoint', description: 'A signed Merkle tree root (RFC 6962 hashes, Ed25519).' });

const proof = z
  .strictObject({
    line: shown(z.int(), 'Number of the entry that the proof is about.', 7),
    hash: shown(
      z.string(),
      'SHA-256 of the entry that the proof is about, lower-case hex.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
    leafIndex: shown(z.int(), 'Place of the leaf in the tree, from 0.', 41),
    auditPath: shown(
      z.array(z.string()),
      'Hashes that lead from the leaf to the root, Base64, nearest first (RFC 6962 §2.1.1).',
      ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    ),
    checkpoint: checkpoint.describe('Signed root that contains the entry.'),
  })
  .meta({
    id: 'HistoryProof',
    description: 'Leads from the newest entry that a checkpoint covers to the root of the signed checkpoint.',
  });

export const getHistory = operation('GET /api/documents/{id}/history', {
  group: 'Documents',
  summary: 'Lists the history of a document, oldest entry first, with the proof that it was not changed.',
  description:
    'Contains changes, e-mails, page views, codes and downloads, each with its principal, IP address and hash. `proof` leads from the newest entry that a checkpoint covers to the root of the signed checkpoint. Each entry contains the input of its hash, so that a client can compute the chain. A document of another organization is `DocumentNotFound`.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  query: members({ limit: paging.limit, offset: paging.offset }),
  reply: pageOf(entry)
    .extend({
      proof: proof
        .nullable()
        .describe('Proof that the newest entry is in a signed checkpoint. Null: not yet in one.'),
    })
    .meta({ id: 'HistoryPage' }),
  refusals: UNKNOWN_DOCUMENT,
});
