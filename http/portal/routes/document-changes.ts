/**
 * Changes of a document during its flow: its files, the flow itself, the recipients of the final mail.
 *
 * Source: docs/portal-values.md §§14 and 15.
 */

import { z } from 'zod';
import type { PortalDocuments } from '../../../actors/portal/api.ts';
import { id, list, members, text } from '../../../contracts/fields.ts';
import { participant } from '../../../contracts/portal/entities.ts';
import { FILE, SIGNER } from '../../../contracts/portal/examples.ts';
import { UNKNOWN_DOCUMENT, UNKNOWN_FILES } from '../../../contracts/portal/refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { flowEditInput, newEnvelopeVersionInput, newVersionInput } from '../input/flow-inputs.ts';
import { documentId, idParams } from '../input/ids.ts';
import { DONE, portalRoute } from '../route.ts';

const rectifiedShape = z.strictObject({
  rectifiedParticipants: z.array(
    z.strictObject({ userId: id, requested: participant, rectified: participant }),
  ),
});

export function documentChangeRoutes(documents: PortalDocuments): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/versions',
      group: 'Documents',
      summary: 'Replaces the file of a document and restarts its flow.',
      description:
        'For documents of one file that are Pending or Refused (otherwise `InvalidDocumentStatus`); envelopes have `envelope/versions`. Id and validation key stay, earlier signatures are dropped, and all actions start again. Unless `disablePendingActionNotifications` is true, the participants of the first step are notified by e-mail, and, if the service is configured so, those whose turn had come before; observers are notified in both cases. `InvalidTextTag`: `textTags` is true, and a tag of the file cannot be used.',
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
        'InvalidTextTag',
        'InvalidDocumentStatus',
        'LimitExceeded',
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
      summary: 'Replaces the files of an envelope and restarts its flow.',
      description:
        'For envelopes that are Pending or Refused (otherwise `InvalidDocumentStatus`). Id and validation key stay, earlier signatures are dropped, and all actions start again. E-mails are sent as for `POST /api/documents/{id}/versions`. `EnvelopeFileSigned`: the organization refuses files that have signatures already; `InvalidTextTag`: `textTags` is true, and a tag of a file cannot be used.',
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
        'InvalidTextTag',
        'EnvelopeFileSigned',
        'InvalidDocumentStatus',
        'LimitExceeded',
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
      summary: 'Changes the flow of a pending document.',
      description:
        'Adds, changes and deletes observers, and actions that are not completed. New actions have the pending step or a later one; participants who are added to the pending step are notified by e-mail at once. Either the whole change is made or none of it. `InvalidFlowAction`: an action is completed or not valid; `FieldsNotEditable`: the file takes no new fields; `InvalidDocumentStatus`: the document is not Pending.',
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
      summary: 'Replaces the addresses that are notified when the document is concluded.',
      description:
        'At most 100 addresses; an empty list removes all. Possible in every status, but the e-mail is sent only at the conclusion. An address that is not valid is refused with `InvalidFlowAction`.',
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
