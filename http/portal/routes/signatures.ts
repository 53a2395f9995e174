/**
 * Validation by key and of signed files.
 *
 * Source: docs/portal-values.md §0, §17.
 */
import { z } from 'zod';
import type { PortalValidation } from '../../../actors/portal/api.ts';
import { maybeText, maybeUuid, members, text, uuid } from '../../../contracts/fields.ts';
import { EXAMPLE_IDS } from '../../../contracts/portal/examples.ts';
import { UNKNOWN_DOCUMENT } from '../../../contracts/portal/refusals.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { documentId, idParams, keyParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import {
  signatureBody,
  signatureShape,
  validationRecordBody,
  validationRecordShape,
} from '../shapes/signatures.ts';

export function signatureRoutes(validation: PortalValidation): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/documents/keys/{key}/signatures',
      group: 'Validation',
      summary: 'Validates the signatures of a document by its validation key.',
      description:
        'Case, hyphens and spaces of the key are ignored. Each record has the signer, times, evidence and `validationResults`; a signature is valid when these contain no errors. A client may send ten requests a second (`TooManyRequests`). An unknown key is `DocumentInvalidKey`.',
      scope: 'Read',
      folderKeys: true,
      rate: 'validation',
      params: keyParams,
      responses: { 200: validationRecordShape },
      refusals: ['DocumentInvalidKey', 'DocumentIsDeleted', 'DocumentHasNoSignatures'],
      async handle({ tenant, params }) {
        return json(200, validationRecordBody(await validation.byKey(tenant, params.key)));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/signatures-details',
      group: 'Validation',
      summary: 'Validates the signatures of a document.',
      description:
        'As `GET /api/documents/keys/{key}/signatures`, by the id of the document. `DocumentHasNoSignatures`: nobody has signed yet.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      responses: { 200: validationRecordShape },
      refusals: [...UNKNOWN_DOCUMENT, 'DocumentHasNoSignatures'],
      async handle({ tenant, params }) {
        return json(200, validationRecordBody(await validation.byDocument(tenant, documentId(params.id))));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/validation-report',
      group: 'Validation',
      summary: 'Returns the validation report of a document (ETSI TS 119 102-2).',
      description:
        'XML with each check of each signature, and the certificates, time-stamps and revocation data that it used. `DocumentHasNoSignatures`: nobody has signed yet.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      responses: { 200: 'xml' },
      refusals: [...UNKNOWN_DOCUMENT, 'DocumentHasNoSignatures', 'DocumentUnreadable'],
      async handle({ tenant, params }) {
        const body = await validation.reportOf?.(tenant, documentId(params.id));
        if (body === undefined) throw new PortalRefusal('DocumentUnreadable');
        const contentType = 'application/xml; charset=utf-8';
        return { kind: 'asset', status: 200, contentType, body, headers: [] };
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/validate-signatures',
      group: 'Validation',
      summary: 'Validates the signatures of an uploaded file.',
      description:
        'The file need not be a document of this service; upload it first. The format is detected from the content. Signatures of documents of the organization are recognized, and reported with their participants. `DocumentHasNoSignatures`: the file is readable and has no signature.',
      scope: 'Read',
      folderKeys: true,
      body: members({
        fileId: uuid,
        mimeType: text,
        signatureType: maybeText.meta({
          description: 'Accepted and ignored: the format is found in the file.',
          exampleValue: 'Pades',
        }),
        securityContextId: maybeUuid,
      }),
      responses: { 200: z.array(signatureShape) },
      examples: { request: { fileId: EXAMPLE_IDS.upload, mimeType: 'application/pdf' } },
      refusals: ['UploadNotFound', 'DocumentHasNoSignatures', 'DocumentUnreadable'],
      async handle({ tenant, body }) {
        const signatures = await validation.ofUpload(tenant, body.fileId, body.mimeType);
        return json(200, signatures.map(signatureBody));
      },
    }),
  ];
}
