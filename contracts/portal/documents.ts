/**
 * Documents: members of requests and replies, and operations on one document.
 *
 * Source: docs/portal-values.md §0, §§5 to 9, 12 and 14; additional members are marked.
 */

import { z } from 'zod';
import {
  entity,
  id,
  maybeFlag,
  maybePart,
  maybeText,
  maybeTextOf,
  members,
  part,
  parts,
  shown,
  textOf,
  time,
} from '../fields.ts';
import { fileWarnings } from '../file-warnings.ts';
import type { Value } from '../operation.ts';
import { plainText } from '../plain-text.ts';
import { replyProperties } from './document-properties.ts';
import {
  creationDate,
  creator,
  embedUrl,
  entityName,
  expirationDay,
  failureCode,
  failureMessage,
  filename,
  fileSize,
  folder,
  identity,
  isConcluded,
  maybeActionId,
  mimeType,
  nationalNumber,
  participant,
  participantIdentifier,
  principal,
  updateDate,
} from './entities.ts';
import { ANA, EXAMPLE_KEY, REASON } from './examples.ts';
import { flowAction } from './flow.ts';
import { documentParams } from './ids.ts';
import { operationsOf } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';
import { reminders } from './reminders.ts';
import { DOCUMENT_STATUSES } from './words.ts';

const MAX_REASON = 2_000;

export const documentStatus = z.enum(DOCUMENT_STATUSES);

export const tag = entity('Tag', {
  id: identity,
  label: shown(z.string().nullable(), 'Name of the kind of tag. Null: none.', 'department'),
  value: shown(z.string(), 'Text of the tag.', 'lease'),
});

const attachment = entity('Attachment', {
  id: identity,
  name: shown(z.string(), 'Title of the attachment.', 'Floor plan'),
  filename,
  fileSize,
  mimeType,
  creationDate,
  updateDate,
  createdBy: creator,
  isPrivate: z.boolean().describe('Whether participants do not see the file.'),
  signaturesNotInEnvelope: shown(
    z.int().nullable(),
    'Number of signatures of a signed file that was merged into the envelope, which does not contain them; null for other attachments.',
    2,
  ),
  fieldId: id
    .optional()
    .describe('Field that a participant attached the file in; left out for other attachments.'),
});

export const organizationReference = z
  .strictObject({
    id: identity,
    name: shown(z.string().nullable(), 'Name of the organization.', 'Example Ltda.'),
    identifier: nationalNumber,
    owner: maybePart('Person of a personal organization. Null for others.', {
      id: identity,
      name: shown(z.string(), 'Full name of the person.', 'Ana Silva'),
    }),
  })
  .meta({ id: 'OrganizationReference', description: 'Only a personal organization has an owner.' });

// Those that are named stand where replies have always had them.
const {
  isEnvelope,
  description,
  forceCadesSignature,
  type,
  signatureType,
  requireReading,
  ...otherProperties
} = replyProperties;

const document = entity('Document', {
  id: identity,
  name: entityName,
  status: documentStatus.describe('State of the document.'),
  key: shown(z.string(), 'The validation key: 20 characters A-Z and 0-9.', EXAMPLE_KEY),
  filename,
  fileSize,
  mimeType,
  checksumMd5: shown(z.string(), 'Of the original; Base64.', 'CY9rzUYh03PK3k6DJie09g=='),
  hasSignature: z.boolean().describe('Whether a participant has signed.'),
  isConcluded,
  isDeleted: z.boolean().describe('Whether the document was deleted.'),
  isEnvelope,
  isScanned: z.literal(false).describe('Always false.'),
  creationDate,
  updateDate,
  createdBy: creator,
  organization: organizationReference.describe('Organization to which it belongs.'),
  folder: folder.nullable().describe('Folder that contains the document. Null: none.'),
  statusUpdatedBy: principal.nullable().describe('Who canceled or refused. Null: nobody did.'),
  statusUpdateReason: shown(
    z.string().nullable(),
    'Reason of cancellation or refusal. Null: none was given.',
    'The price has changed.',
  ),
  description,
  expirationDate: shown(
    time.nullable(),
    'Time at which participants can no longer act. Null: never.',
    '2027-12-31T23:59:59.999Z',
  ),
  expirationDateWithoutTime: expirationDay,
  observers: parts('People who are notified about the document, and can read it.', {
    id: identity,
    user: participant.describe(
      'The person. Name and e-mail address are required, an identifier where certificates are used.',
    ),
  }),
  attachments: z.array(attachment).describe('Files that accompany the document.'),
  notifiedEmails: shown(z.array(z.string()), 'Addresses that get an e-mail when the document is concluded.', [
    'archive@example.com',
  ]),
  permissions: part('What can still be changed.', {
    move: shown(z.boolean(), 'Whether the document can be moved to another folder.', true),
    editFlow: shown(z.boolean(), 'Whether the flow can still be edited.', true),
  }),
  forceCadesSignature,
  tags: z.array(tag).describe('Labels by which the document is found.'),
  type,
  signatureType,
  ...otherProperties,
  securityContext: shown(z.null(), 'Always null.', null),
  requireReading,
  hideDownloadOptionForPendingDocuments: z
    .boolean()
    .describe('Whether pages offer no download before the document is concluded.'),
  flowActions: z.array(flowAction).describe('Actions of the participants, in the order of their steps.'),
  reminders: reminders.nullable().describe('Null: none.'),
  template: maybePart('The template that the document was made of; null: none.', {
    id: id.describe('Id of the template; it may have been deleted since.'),
    version: shown(z.int().min(1), 'The version of the template that was used.', 2),
  }),
  processingError: z
    .strictObject({
      code: failureCode,
      message: failureMessage,
      since: time.describe('Time of the first failure.'),
      nextTryAt: time.nullable().describe('Time of the next attempt. Null: none is planned.'),
    })
    .nullable()
    .describe(
      'Why an accepted signature or the conclusion is not done yet. It is tried again at nextTryAt, and at once on POST …/retry.',
    ),
  warnings: fileWarnings,
});

export const documentListItem = entity('DocumentListItem', {
  id: identity,
  name: entityName,
  creationDate,
  updateDate,
  folder: folder.nullable().describe('Folder that contains it. Null: none.'),
  type,
  tags: z.array(tag).describe('Labels by which the document is found.'),
  status: documentStatus.describe('State of the document.'),
  externalId: replyProperties.externalId,
});

export type Tag = Value<typeof tag>;
export type DocumentView = Value<typeof document>;
export type DocumentListItem = Value<typeof documentListItem>;

const actionUrlRequest = members({
  identifier: participantIdentifier,
  emailAddress: shown(maybeText, 'E-mail address of the participant.', 'ana@example.com'),
  requireEmailAuthentication: maybeFlag.describe(
    'Whether the participant must enter a code of six digits that is sent by e-mail. Default false. Electronic signatures only.',
  ),
  flowActionId: maybeActionId,
}).meta({ id: 'ActionUrlRequest' });

const actionUrls = z.strictObject({
  url: shown(
    z.url(),
    'Absolute address. https, or http where the configuration allows it.',
    'https://hooks.example.com/portal',
  ),
  embedUrl,
});

const REASON_FAULT = `has more than ${MAX_REASON} characters`;

/** The reason of a cancellation or refusal. */
export const reason = shown(
  textOf(plainText, MAX_REASON, REASON_FAULT),
  'Reason, which participants and the history show. At most 2,000 characters.',
  REASON.reason,
);
export const maybeReason = maybeTextOf(plainText, MAX_REASON, REASON_FAULT);

const documentReason = members({ reason }).meta({ id: 'DocumentReason' });

const operation = operationsOf({ group: 'Documents' });

export const getDocument = operation('GET /api/documents/{id}', {
  summary: 'Returns a document with its flow.',
  description:
    'Contains the status, the flow actions with their participants, the files, attachments, fields and the validation key. All members are present; those without a value are null. A document of another organization is `DocumentNotFound`.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  reply: document,
  refusals: UNKNOWN_DOCUMENT,
});

export const deleteDocument = operation('DELETE /api/documents/{id}', {
  summary: 'Deletes a document.',
  description:
    'Possible in every status. The document disappears from lists, its links stop working, and further requests are refused with `DocumentIsDeleted`; webhooks receive `DocumentDeleted`. A deletion cannot be undone. A document of another organization is `DocumentNotFound`.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  reply: 'empty',
  refusals: [...UNKNOWN_DOCUMENT, 'LegalHold'],
});

export const getActionUrl = operation('POST /api/documents/{id}/action-url', {
  summary: 'Returns the URLs of the signing page for one participant.',
  description:
    'For applications that send participants to the page themselves. `emailAddress`, `identifier` or both name the participant; the URLs are for the first pending action unless `flowActionId` names one. `url` is a page of its own, `embedUrl` is for a frame. Anybody who has a URL can act as the participant for 24 hours. `NoPendingActionFoundForEmailAndIdentifier`: the participant has no pending action.',
  scope: 'Sign',
  folderKeys: true,
  params: documentParams,
  body: actionUrlRequest,
  reply: actionUrls,
  examples: { request: { emailAddress: ANA.email } },
  refusals: [
    ...UNKNOWN_DOCUMENT,
    'FlowActionNotFound',
    'NoPendingActionFoundForEmailAndIdentifier',
    'InvalidDocumentStatus',
  ],
});

export const cancelDocument = operation('POST /api/documents/{id}/cancellation', {
  summary: 'Cancels a document for good.',
  description:
    'Possible while the document is Pending or Refused. Nobody can act any more; observers and the participants whose turn had come receive the `reason` by e-mail, and webhooks receive `DocumentCanceled`. A cancellation cannot be undone. Refused in other statuses: `DocumentAlreadyCanceled`, `CannotCancelExpiredDocument`, and `InvalidDocumentStatus` for a concluded document.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  body: documentReason,
  reply: 'empty',
  examples: { request: REASON },
  refusals: [
    ...UNKNOWN_DOCUMENT,
    'DocumentAlreadyCanceled',
    'CannotCancelExpiredDocument',
    'InvalidDocumentStatus',
  ],
});

export const refuseDocument = operation('POST /api/documents/{id}/refusal', {
  summary: 'Refuses a document on behalf of the organization.',
  description:
    'Possible while the document is Pending (otherwise `InvalidDocumentStatus`). The flow stops; observers and the participants whose turn had come receive the `reason` by e-mail, and webhooks receive `DocumentRefused`. A new version restarts the flow (`versions`, for an envelope `envelope/versions`).',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  body: documentReason,
  reply: 'empty',
  examples: { request: REASON },
  refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus'],
});

export const retryDocument = operation('POST /api/documents/{id}/retry', {
  summary: 'Retries the failed processing of a document now.',
  description:
    'For a document with a `processingError`, for example because a time-stamp authority did not answer. The service also retries by itself, with growing pauses. Without a failure the request changes nothing.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  reply: 'empty',
  refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus', 'SigningFailed'],
});
