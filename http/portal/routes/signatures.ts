/** Validation by key and of signed files. */
import type { Validation } from '../../../actors/portal/api.ts';
import {
  getValidationReport,
  validateByKey,
  validateDocument,
  validateUpload,
} from '../../../contracts/portal/signing/validation.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { documentId } from '../input/ids.ts';

export function signatureRoutes(validation: Validation): readonly AnyRoute[] {
  return [
    handle(validateByKey, ({ tenant, params }) => validation.byKey(tenant, params.key)),
    handle(validateDocument, ({ tenant, params }) => validation.byDocument(tenant, documentId(params.id))),
    handle(getValidationReport, async ({ tenant, params }) => {
      const body = await validation.reportOf(tenant, documentId(params.id));
      const contentType = 'application/xml; charset=utf-8';
      return { kind: 'asset', status: 200, contentType, body, headers: [] };
    }),
    handle(validateUpload, ({ tenant, body }) => validation.ofUpload(tenant, body.fileId, body.mimeType)),
  ];
}
