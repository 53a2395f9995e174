/** The history of a document with its proof. Source: docs/decisions/0053-tamper-evident-history.md. */

import { z } from 'zod';
import {
  type DocumentHistoryEntry,
  type DocumentHistoryPage,
  type DocumentService,
  HISTORY_ENTRY_TYPES,
} from '../../../actors/portal/api.ts';
import { id, members } from '../../../contracts/fields.ts';
import { pageOf, paging } from '../../../contracts/portal/lists.ts';
import { UNKNOWN_DOCUMENT } from '../../../contracts/portal/refusals.ts';
import { isoTime } from '../../../contracts/times.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { documentId, idParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { pageBody, timestamp } from '../shapes/shared-shapes.ts';

const dataShape = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .nullable()
  .describe('Details, as they are hashed.');

const entryShape = z
  .strictObject({
    id: z.int().describe('Number of the entry, from 1.'),
    type: z.enum(HISTORY_ENTRY_TYPES),
    date: timestamp,
    message: z.string(),
    by: z.string().nullable().describe('Participant or application; null for the service itself.'),
    userId: id.nullable(),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    state: z.string(),
    cause: z.string(),
    data: dataShape,
    hash: z
      .string()
      .nullable()
      .describe(
        'Lower-case hex SHA-256 of the JSON array [hash of the entry before or "", "document", document id, id, milliseconds of date, state, message, cause, and, with data, its [name, value] pairs by name].',
      ),
  })
  .meta({ id: 'HistoryEntry' });

const checkpointShape = z
  .strictObject({
    node: z.string(),
    sequence: z.int(),
    at: z.int().describe('Milliseconds since the epoch.'),
    leaves: z.int(),
    root: z.string(),
    previous: z.string(),
    publicKey: z.string(),
    signature: z.string(),
  })
  .meta({ id: 'HistoryCheckpoint', description: 'A signed Merkle tree root (RFC 6962 hashes, Ed25519).' });

const proofShape = z
  .strictObject({
    line: z.int(),
    hash: z.string(),
    leafIndex: z.int(),
    auditPath: z.array(z.string()),
    checkpoint: checkpointShape,
  })
  .meta({
    id: 'HistoryProof',
    description: 'Leads from the newest entry that a checkpoint covers to the root of the signed checkpoint.',
  });

export function documentHistoryRoutes(documents: Pick<DocumentService, 'history'>): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/history',
      group: 'Documents',
      summary: 'Lists the history of a document, oldest entry first, with the proof that it was not changed.',
      description:
        'Contains changes, e-mails, page views, codes and downloads, each with its principal, IP address and hash. `proof` leads from the newest entry that a checkpoint covers to the root of the signed checkpoint. Each entry contains the input of its hash, so that a client can compute the chain. A document of another organization is `DocumentNotFound`.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      query: members({ limit: paging.limit, offset: paging.offset }),
      responses: { 200: pageOf(entryShape).extend({ proof: proofShape.nullable() }) },
      refusals: UNKNOWN_DOCUMENT,
      async handle({ tenant, params, query: { limit, offset } }) {
        const page = await documents.history(tenant, documentId(params.id), { limit, offset });
        return json(200, { ...pageBody(page, entryBody), proof: proofBody(page.proof) });
      },
    }),
  ];
}

function entryBody({ at, ...entry }: DocumentHistoryEntry): z.infer<typeof entryShape> {
  return { ...entry, data: entry.data === null ? null : { ...entry.data }, date: isoTime(at) };
}

function proofBody(proof: DocumentHistoryPage['proof']): z.infer<typeof proofShape> | null {
  return proof && { ...proof, auditPath: [...proof.auditPath], checkpoint: { ...proof.checkpoint } };
}
