/** The history of a document with its proof. Source: docs/decisions/0053-tamper-evident-history.md. */
import { z } from 'zod';
import { id, members, time } from '../fields.ts';
import type { Value } from '../operation.ts';
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

const entry = z
  .strictObject({
    id: z.int().meta({ description: 'Number of the entry, from 1.', exampleValue: 7 }),
    type: z.enum(HISTORY_ENTRY_TYPES).meta({ description: 'What happened.' }),
    date: time.meta({ description: 'Time of the event, UTC.' }),
    message: z.string().meta({
      description: 'What happened, for people. The text may change.',
      exampleValue: 'The document is already concluded.',
    }),
    by: z.string().nullable().meta({
      description: 'Participant or application; null for the service itself.',
      exampleValue: ANA.name,
    }),
    userId: id
      .nullable()
      .meta({ description: 'Participant who acted. Null: an application or the service.' }),
    ipAddress: z
      .string()
      .nullable()
      .meta({ description: 'Address of the client. Null: not known.', exampleValue: '203.0.113.7' }),
    userAgent: z.string().nullable().meta({
      description: '`User-Agent` of the client, shortened. Null: not known.',
      exampleValue: 'Mozilla/5.0',
    }),
    state: z
      .string()
      .meta({ description: 'State of the document after the event.', exampleValue: 'Pending' }),
    cause: z
      .string()
      .meta({ description: 'Message of the state machine that changed the document.', exampleValue: 'SIGN' }),
    data: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .nullable()
      .meta({
        description: 'Details, as they are hashed.',
        exampleValue: { action: 'downloaded', address: '203.0.113.7' },
      }),
    hash: z.string().nullable().meta({
      description:
        'Lower-case hex SHA-256 of the JSON array [hash of the entry before or "", "document", document id, id, milliseconds of date, state, message, cause, and, with data, its [name, value] pairs by name].',
      exampleValue: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
  })
  .meta({ id: 'HistoryEntry' });
export type DocumentHistoryEntry = Value<typeof entry>;

const checkpoint = z
  .strictObject({
    node: z.string().meta({ description: 'Node that signed the checkpoint.', exampleValue: 'node-1' }),
    sequence: z.int().meta({ description: 'Number of the checkpoint, from 1.', exampleValue: 12 }),
    at: z.int().meta({ description: 'Milliseconds since the epoch.', exampleValue: 1_779_810_131_123 }),
    leaves: z.int().meta({ description: 'Number of leaves of the tree.', exampleValue: 128 }),
    root: z.string().meta({
      description: 'Root hash of the Merkle tree, lower-case hex.',
      exampleValue: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
    previous: z.string().meta({
      description: 'Hash of the checkpoint before, lower-case hex. Empty: this is the first.',
      exampleValue: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
    publicKey: z.string().meta({
      description: 'Ed25519 key of the node that signed, Base64.',
      exampleValue: 'MCowBQYDK2VwAyEA',
    }),
    signature: z.string().meta({ description: 'Ed25519 signature, Base64.', exampleValue: 'c2lnbmF0dXJl' }),
  })
  .meta({ id: 'HistoryCheckpoint', description: 'A signed Merkle tree root (RFC 6962 hashes, Ed25519).' });

const proof = z
  .strictObject({
    line: z.int().meta({ description: 'Number of the entry that the proof is about.', exampleValue: 7 }),
    hash: z.string().meta({
      description: 'SHA-256 of the entry that the proof is about, lower-case hex.',
      exampleValue: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
    leafIndex: z.int().meta({ description: 'Place of the leaf in the tree, from 0.', exampleValue: 41 }),
    auditPath: z.array(z.string()).meta({
      description: 'Hashes that lead from the leaf to the root, Base64, nearest first (RFC 6962 §2.1.1).',
      exampleValue: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    checkpoint: checkpoint.meta({ description: 'Signed root that contains the entry.' }),
  })
  .meta({
    id: 'HistoryProof',
    description: 'Leads from the newest entry that a checkpoint covers to the root of the signed checkpoint.',
  });

export const getHistory = operation({
  method: 'GET',
  path: '/api/documents/{id}/history',
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
      proof: proof.nullable().meta({
        description: 'Proof that the newest entry is in a signed checkpoint. Null: not yet in one.',
      }),
    })
    .meta({ id: 'HistoryPage' }),
  refusals: UNKNOWN_DOCUMENT,
});
