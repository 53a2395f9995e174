/**
 * `/api/documents/generation`: many documents from a template and a table.
 *
 * Source: docs/portal-values.md §20.
 */
import { z } from 'zod';
import type { GenerationView, IdempotentRequests, PortalGenerations } from '../../../actors/portal/api.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from '../idempotency.ts';
import { DOCUMENT_TYPES } from '../input/enumerations.ts';
import { day, list, maybeText, maybeUuid, members, text, word } from '../input/fields.ts';
import { fileReference, flowActionInput, observerInput } from '../input/flow-inputs.ts';
import { idParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { id } from '../shapes/shared-shapes.ts';

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

const generationShape = z
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
  })
  .meta({ id: 'DocumentGeneration' });

export const generationInput = members({
  flowActions: list(flowActionInput, { least: 1 }),
  observers: list(observerInput).nullish(),
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
      summary: 'Makes a document of a template for every row of a table; texts may hold {{column}}.',
      headers: [IDEMPOTENCY_HEADER],
      body: generationInput,
      largeBody: 'generation',
      responses: { 200: generationShape },
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
      summary: 'Tells how far a generation is.',
      params: idParams,
      responses: { 200: generationShape },
      refusals: ['DocumentGenerationNotFound'],
      async handle({ tenant, params }) {
        return json(200, generationBody(await generations.get(tenant, params.id.toLowerCase())));
      },
    }),
  ];
}

function generationBody(view: GenerationView): z.infer<typeof generationShape> {
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
  };
}
