/**
 * Changes of a document during its flow: its files, the flow itself, the recipients of the final mail.
 *
 * Source: docs/portal-values.md §§14 and 15.
 */
import { z } from 'zod';
import type { PortalDocuments } from '../../../actors/portal/api.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { FILE, SIGNER } from '../description/example-values.ts';
import { list, members, text } from '../input/fields.ts';
import { flowEditInput, newEnvelopeVersionInput, newVersionInput } from '../input/flow-inputs.ts';
import { documentId, idParams } from '../input/ids.ts';
import { UNKNOWN_DOCUMENT, UNKNOWN_FILES } from '../refusal-groups.ts';
import { DONE, portalRoute } from '../route.ts';
import { id, participantShape } from '../shapes/shared-shapes.ts';

const rectifiedShape = z.strictObject({
  rectifiedParticipants: z.array(
    z.strictObject({ userId: id, requested: participantShape, rectified: participantShape }),
  ),
});

export function documentChangeRoutes(documents: PortalDocuments): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/versions',
      group: 'Documents',
      summary: 'Puts a new file in the place of the document’s, and begins its flow again.',
      description:
        'For documents of one file, while they are Pending or Refused. Id and validation key stay; all actions begin again, and participants are mailed that there is a new version. Envelopes have `envelope/versions`. An ended document is `InvalidDocumentStatus`.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      body: newVersionInput,
      largeBody: 'version',
      responses: { 200: 'empty' },
      examples: { request: { file: FILE } },
      refusals: [
        ...UNKNOWN_DOCUMENT,
        ...UNKNOWN_FILES,
        'FlowActionNotFound',
        'InvalidFlowAction',
        'InvalidDocumentStatus',
      ],
      async handle({ tenant, params, body }) {
        const { file, ...rest } = body;
        await documents.newVersion(tenant, documentId(params.id), { ...rest, files: [file] });
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/envelope/versions',
      group: 'Documents',
      summary: 'Puts new files in the place of the envelope’s, and begins its flow again.',
      description:
        'For envelopes, while they are Pending or Refused. Id and validation key stay; all actions begin again, and participants are mailed that there is a new version. `EnvelopeFileSigned`: the organization refuses files that have signatures already. An ended document is `InvalidDocumentStatus`.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      body: newEnvelopeVersionInput,
      largeBody: 'envelope-version',
      responses: { 200: 'empty' },
      examples: { request: { files: [FILE], envelopeName: 'Contract and annexes' } },
      refusals: [
        ...UNKNOWN_DOCUMENT,
        ...UNKNOWN_FILES,
        'FlowActionNotFound',
        'InvalidFlowAction',
        'EnvelopeFileSigned',
        'InvalidDocumentStatus',
      ],
      async handle({ tenant, params, body }) {
        await documents.newEnvelopeVersion(tenant, documentId(params.id), body);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/flow',
      group: 'Documents',
      summary: 'Changes the flow of a document while it runs.',
      description:
        'Adds, changes and removes actions that are not completed. New ones stand at the pending step or later; participants who are added to the pending step are mailed at once. The whole change is made or none of it. `InvalidFlowAction` names an action that is completed or unsuitable; an ended document is `InvalidDocumentStatus`.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      body: flowEditInput,
      largeBody: 'flow-edit',
      responses: { 200: rectifiedShape },
      examples: {
        request: {
          addedFlowActions: [{ ...SIGNER, step: 2, user: { name: 'Lou Lima', email: 'lou@example.com' } }],
        },
      },
      refusals: [
        ...UNKNOWN_DOCUMENT,
        'FieldsNotEditable',
        'FlowActionNotFound',
        'InvalidFieldValue',
        'InvalidFlowAction',
        'InvalidIdentifier',
        'InvalidDocumentStatus',
        'LimitExceeded',
      ],
      async handle({ tenant, params, body }) {
        await documents.editFlow(tenant, documentId(params.id), body);
        return json(200, { rectifiedParticipants: [] });
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/documents/{id}/notified-emails',
      group: 'Documents',
      summary: 'Says who is mailed when the document is concluded.',
      description:
        'Replaces the whole list, at most 100 addresses; an empty list removes it. The mail is sent when the document is concluded. An address that is not valid is `InvalidFlowAction`, an ended document `InvalidDocumentStatus`.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      body: members({ emails: list(text) }),
      responses: { 200: 'empty' },
      examples: { request: { emails: ['archive@example.com'] } },
      refusals: [...UNKNOWN_DOCUMENT, 'InvalidFlowAction', 'LimitExceeded', 'InvalidDocumentStatus'],
      async handle({ tenant, params, body }) {
        await documents.setNotifiedEmails(tenant, documentId(params.id), body.emails);
        return DONE;
      },
    }),
  ];
}
