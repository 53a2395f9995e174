/**
 * `/api/documents/generation`: many documents from a template and a table.
 *
 * Source: docs/portal-values.md §20.
 */

import { z } from 'zod';
import type { GenerationView, IdempotentRequests, PortalGenerations } from '../../../actors/portal/api.ts';
import { day, id, list, maybeText, maybeUuid, members, text, word } from '../../../contracts/fields.ts';
import { EXAMPLE_IDS, SIGNER } from '../../../contracts/portal/examples.ts';
import { fileReference, newFlowAction, newObserver } from '../../../contracts/portal/flow.ts';
import { pageOf, paging } from '../../../contracts/portal/lists.ts';
import { DOCUMENT_TYPES } from '../../../contracts/portal/words.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from '../idempotency.ts';
import { idParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { pageBody } from '../shapes/shared-shapes.ts';

const STATUSES = [
  'Pending',
  'Init',
  'Completed',
  'Done',
  'Error',
  'WaitingSignatures',
  'Canceling',
  'Canceled',
] as const;

export const generationShape = z
  .strictObject({
    id,
    status: z.enum(STATUSES),
    type: z.string().nullable(),
    agentId: id.describe('The application that asked for it.'),
    folderId: id.nullable(),
    subscriptionId: z.null(),
    totalDocumentsCount: z.int(),
    initializedCount: z.int().describe('Documents that were made.'),
    completedCount: z.int().describe('Documents that are concluded.'),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    refusedRowsCount: z.int().describe('Rows that became no documents; the list of rows tells why.'),
    template: z
      .strictObject({
        id: id.describe('Id of the template.'),
        version: z.int().describe('The version of the template that is used.'),
      })
      .nullable()
      .describe('The template that the documents are made of; null: a text.'),
  })
  .meta({ id: 'DocumentGeneration' });

const rowShape = z
  .strictObject({
    row: z.int().min(1).describe('Number of the row; the first one below the names of the columns is 1.'),
    status: z
      .enum(['Pending', 'Made', 'Refused'])
      .describe('`Pending`: not made yet, or never, where the generation was canceled or failed.'),
    documentIds: z.array(id).describe('The documents of the row.'),
    error: z
      .strictObject({
        code: z.string().describe('Code of the refusal.'),
        message: z.string().describe('What is wrong with the row.'),
      })
      .nullable()
      .describe('Why a row was refused.'),
  })
  .meta({
    id: 'DocumentGenerationRow',
    description: 'A row of the table of a generation.',
    example: {
      row: 2,
      status: 'Refused',
      documentIds: [],
      error: {
        code: 'InvalidFieldValue',
        message: 'A field was not filled in as it must be. rent: The value must be a number.',
      },
    },
  });

export const generationInput = members({
  flowActions: list(newFlowAction, { least: 1 }),
  observers: list(newObserver).nullish(),
  folderId: maybeUuid,
  newFolderName: maybeText,
  organizationId: maybeUuid,
  type: word(DOCUMENT_TYPES).nullish(),
  notaryType: maybeText,
  expirationDate: day.nullish(),
  notifiedEmails: list(text).nullish(),
  dataFile: fileReference,
  templateFile: fileReference,
}).transform(({ organizationId: _organization, notaryType: _notary, ...request }) => request);

export function generationRoutes(
  generations: PortalGenerations,
  requests: IdempotentRequests,
): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents/generation',
      group: 'Generation',
      summary: 'Creates a document from a text template for every row of a table.',
      description:
        '`templateFile` is an uploaded text, `dataFile` an uploaded table (CSV, JSON or XLSX). `{{column}}` in the text, its name and the flow is replaced by the value of the row. Every row is checked before the first document is created (`InvalidGenerationFile`, `InvalidFlowAction`, `InvalidIdentifier`). The documents are created after the reply, which has the id of the generation. The same `Idempotency-Key` with the same request returns the same generation.',
      scope: 'Create',
      headers: [IDEMPOTENCY_HEADER],
      body: generationInput,
      largeBody: 'generation',
      responses: { 200: generationShape },
      examples: {
        request: {
          templateFile: { id: EXAMPLE_IDS.template, name: 'letter.txt', contentType: 'text/plain' },
          dataFile: { id: EXAMPLE_IDS.table, name: 'people.csv', contentType: 'text/csv' },
          flowActions: [{ ...SIGNER, user: { name: '{{name}}', email: '{{email}}' } }],
        },
      },
      refusals: [
        'FolderNotFound',
        'IdempotencyConflict',
        'InvalidFieldValue',
        'InvalidFlowAction',
        'InvalidGenerationFile',
        'InvalidIdentifier',
        'LimitExceeded',
        'UploadNotFound',
      ],
      async handle({ tenant, body, fingerprint, header }) {
        const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
        const sent = key ? fingerprint() : '';
        const request = { route: 'POST /api/documents/generation', key, fingerprint: sent };
        const made = await withIdempotency(requests, tenant, request, async (seed) =>
          generationBody(await generations.create(tenant, body, seed)),
        );
        return json(200, made);
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/generation/{id}',
      group: 'Generation',
      summary: 'Returns a generation with its progress.',
      description:
        'Contains the number of documents in total, created and concluded. `error` is the reason why the generation failed. A generation of another organization is `DocumentGenerationNotFound`.',
      scope: 'Read',
      params: idParams,
      responses: { 200: generationShape },
      refusals: ['DocumentGenerationNotFound'],
      async handle({ tenant, params }) {
        return json(200, generationBody(await generations.get(tenant, params.id.toLowerCase())));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/generation/{id}/rows',
      group: 'Generation',
      summary: 'Lists the rows of a generation, with their documents or the reason of a refusal.',
      description:
        'Rows are numbered from 1. A refused row has an error code and a message, and does not stop the others.',
      scope: 'Read',
      params: idParams,
      query: members({ limit: paging.limit, offset: paging.offset }),
      responses: { 200: pageOf(rowShape) },
      refusals: ['DocumentGenerationNotFound'],
      async handle({ tenant, params, query }) {
        const page = await generations.rows(tenant, params.id.toLowerCase(), query);
        return json(
          200,
          pageBody(page, ({ documentIds, ...row }) => ({ ...row, documentIds: [...documentIds] })),
        );
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/generation/{id}/cancellation',
      group: 'Generation',
      summary: 'Cancels a generation after the rows in progress; its documents stay.',
      description:
        'Documents that exist are not canceled; `POST /api/documents/operations` does that. `DocumentOperationEnded`: the generation has ended.',
      scope: 'Create',
      params: idParams,
      responses: { 200: generationShape },
      refusals: ['DocumentGenerationNotFound', 'DocumentOperationEnded'],
      async handle({ tenant, params }) {
        return json(200, generationBody(await generations.cancel(tenant, params.id.toLowerCase())));
      },
    }),
  ];
}

export function generationBody(view: GenerationView): z.infer<typeof generationShape> {
  return {
    id: view.id,
    status: view.status,
    type: view.type,
    agentId: view.agentId,
    folderId: view.folderId,
    subscriptionId: null,
    totalDocumentsCount: view.total,
    initializedCount: view.initialized,
    completedCount: view.completed,
    error: view.error,
    refusedRowsCount: view.refusedRows,
    template: view.template && { id: view.template.id, version: view.template.version },
  };
}
