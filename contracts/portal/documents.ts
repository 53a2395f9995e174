/**
 * Documents: members of requests and replies, and operations on one document.
 *
 * Source: docs/portal-values.md §0, §§5 to 9, 12 and 14; additional members are marked.
 */
import { z } from 'zod';
import { id, maybeFlag, maybeText, maybeTextOf, maybeUuid, members, textOf, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { plainText } from '../plain-text.ts';
import { createdBy, folder, participant, principal } from './entities.ts';
import { ANA, EXAMPLE_KEY, REASON } from './examples.ts';
import { flowAction } from './flow.ts';
import { documentParams } from './ids.ts';
import { ANNOUNCED_MEMBERS, forKept, KEPT_MEMBERS } from './kept-members.ts';
import { operation } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';
import { reminders } from './reminders.ts';
import { DOCUMENT_STATUSES } from './words.ts';

const MAX_REASON = 2_000;

/** Additional. */
const keptMembers = forKept((_, { shown, example }) =>
  z
    .string()
    .nullable()
    .meta({ description: `${shown}; null: none.`, exampleValue: example }),
);

/** In webhooks. */
export const announcedMembers = Object.fromEntries(
  ANNOUNCED_MEMBERS.map((name) => {
    const { shown, example } = KEPT_MEMBERS[name];
    const meta = { description: `${shown}; left out: none.`, exampleValue: example };
    return [name, z.string().optional().meta(meta)];
  }),
);

export const documentStatus = z.enum(DOCUMENT_STATUSES);

export const tag = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    label: z
      .string()
      .nullable()
      .meta({ description: 'Name of the kind of tag. Null: none.', exampleValue: 'department' }),
    value: z.string().meta({ description: 'Text of the tag.', exampleValue: 'lease' }),
  })
  .meta({ id: 'Tag' });

export const attachment = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z.string().meta({ description: 'Title of the attachment.', exampleValue: 'Floor plan' }),
    filename: z.string().meta({ description: 'File name with its extension.', exampleValue: 'contract.pdf' }),
    fileSize: z.int().meta({ description: 'Length of the file, bytes.', exampleValue: 184320 }),
    mimeType: z.string().meta({ description: 'Media type of the file.', exampleValue: 'application/pdf' }),
    creationDate: time.meta({ description: 'Time of the creation, UTC.' }),
    updateDate: time.meta({ description: 'Time of the last change, UTC.' }),
    createdBy: createdBy.meta({ description: 'Application or user that created it.' }),
    isPrivate: z.boolean().meta({ description: 'Whether participants do not see the file.' }),
    signaturesNotInEnvelope: z.int().nullable().meta({
      description:
        'Number of signatures of a signed file that was merged into the envelope, which does not contain them; null for other attachments.',
      exampleValue: 2,
    }),
    fieldId: id
      .optional()
      .describe('Field that a participant attached the file in; left out for other attachments.'),
  })
  .meta({ id: 'Attachment' });

export const organizationReference = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z
      .string()
      .nullable()
      .meta({ description: 'Name of the organization.', exampleValue: 'Example Ltda.' }),
    identifier: z.string().nullable().meta({
      description:
        'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
      exampleValue: '52998224725',
    }),
    owner: z
      .strictObject({
        id: id.meta({ description: 'Identifier, unique within the instance.' }),
        name: z.string().meta({ description: 'Full name of the person.', exampleValue: 'Ana Silva' }),
      })
      .nullable()
      .meta({ description: 'Person of a personal organization. Null for others.' }),
  })
  .meta({ id: 'OrganizationReference', description: 'Only a personal organization has an owner.' });

export const document = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z.string().meta({ description: 'Name that people read.', exampleValue: 'Lease agreement' }),
    status: documentStatus.meta({ description: 'State of the document.' }),
    key: z
      .string()
      .meta({ description: 'The validation key: 20 characters A-Z and 0-9.', exampleValue: EXAMPLE_KEY }),
    filename: z.string().meta({ description: 'File name with its extension.', exampleValue: 'contract.pdf' }),
    fileSize: z.int().meta({ description: 'Length of the file, bytes.', exampleValue: 184320 }),
    mimeType: z.string().meta({ description: 'Media type of the file.', exampleValue: 'application/pdf' }),
    checksumMd5: z
      .string()
      .meta({ description: 'Of the original; Base64.', exampleValue: 'CY9rzUYh03PK3k6DJie09g==' }),
    hasSignature: z.boolean().meta({ description: 'Whether a participant has signed.' }),
    isConcluded: z
      .boolean()
      .meta({ description: 'Whether all actions are completed and the final file is made.' }),
    isDeleted: z.boolean().meta({ description: 'Whether the document was deleted.' }),
    isEnvelope: z.boolean().meta({ description: 'Whether the document was merged from several files.' }),
    isScanned: z.literal(false).meta({ description: 'Always false.' }),
    creationDate: time.meta({ description: 'Time of the creation, UTC.' }),
    updateDate: time.meta({ description: 'Time of the last change, UTC.' }),
    createdBy: createdBy.meta({ description: 'Application or user that created it.' }),
    organization: organizationReference.meta({ description: 'Organization to which it belongs.' }),
    folder: folder.nullable().meta({ description: 'Folder that contains the document. Null: none.' }),
    statusUpdatedBy: principal.nullable().meta({ description: 'Who canceled or refused. Null: nobody did.' }),
    statusUpdateReason: z.string().nullable().meta({
      description: 'Reason of cancellation or refusal. Null: none was given.',
      exampleValue: 'The price has changed.',
    }),
    description: z
      .string()
      .nullable()
      .meta({ description: 'Text given at creation. Null: none.', exampleValue: 'Lease of the office' }),
    expirationDate: time.nullable().meta({
      description: 'Time at which participants can no longer act. Null: never.',
      exampleValue: '2027-12-31T23:59:59.999Z',
    }),
    expirationDateWithoutTime: z.iso
      .date()
      .nullable()
      .meta({ description: 'Date of `expirationDate`. Null: never.', exampleValue: '2027-12-31' }),
    observers: z
      .array(
        z.strictObject({
          id: id.meta({ description: 'Identifier, unique within the instance.' }),
          user: participant.meta({
            description:
              'The person. Name and e-mail address are required, an identifier where certificates are used.',
          }),
        }),
      )
      .meta({ description: 'People who are notified about the document, and can read it.' }),
    attachments: z.array(attachment).meta({ description: 'Files that accompany the document.' }),
    notifiedEmails: z.array(z.string()).meta({
      description: 'Addresses that get an e-mail when the document is concluded.',
      exampleValue: ['archive@example.com'],
    }),
    permissions: z
      .strictObject({
        move: z
          .boolean()
          .meta({ description: 'Whether the document can be moved to another folder.', exampleValue: true }),
        editFlow: z
          .boolean()
          .meta({ description: 'Whether the flow can still be edited.', exampleValue: true }),
      })
      .meta({ description: 'What can still be changed.' }),
    forceCadesSignature: z.boolean().meta({
      description: 'Whether a PDF is signed beside the file (CAdES) and stays as it is. Default false.',
    }),
    tags: z.array(tag).meta({ description: 'Labels by which the document is found.' }),
    type: z
      .string()
      .nullable()
      .meta({ description: 'Kind of document, as given at creation. Null: none.', exampleValue: 'Deed' }),
    signatureType: z.string().nullable().meta({
      description: 'Lowest level that signatures must have, as given at creation. Null: none.',
      exampleValue: 'Advanced',
    }),
    ...keptMembers,
    securityContext: z.null().meta({ description: 'Always null.', exampleValue: null }),
    hideDownloadOptionForPendingDocuments: z
      .boolean()
      .meta({ description: 'Whether pages offer no download before the document is concluded.' }),
    flowActions: z
      .array(flowAction)
      .meta({ description: 'Actions of the participants, in the order of their steps.' }),
    reminders: reminders.nullable().describe('Null: none.'),
    template: z
      .strictObject({
        id: id.describe('Id of the template; it may have been deleted since.'),
        version: z
          .int()
          .min(1)
          .meta({ description: 'The version of the template that was used.', exampleValue: 2 }),
      })
      .nullable()
      .describe('The template that the document was made of; null: none.'),
    processingError: z
      .strictObject({
        code: z.string().meta({
          description: 'Error code, for programs. It is never renamed.',
          exampleValue: 'InvalidDocumentStatus',
        }),
        message: z.string().meta({
          description: 'What happened, for people. The text may change.',
          exampleValue: 'The document is already concluded.',
        }),
        since: time.meta({ description: 'Time of the first failure.' }),
        nextTryAt: time.nullable().meta({ description: 'Time of the next attempt. Null: none is planned.' }),
      })
      .nullable()
      .describe(
        'Why an accepted signature or the conclusion is not done yet. It is tried again at nextTryAt, and at once on POST …/retry.',
      ),
  })
  .meta({ id: 'Document' });

export const documentListItem = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z.string().meta({ description: 'Name that people read.', exampleValue: 'Lease agreement' }),
    creationDate: time.meta({ description: 'Time of the creation, UTC.' }),
    updateDate: time.meta({ description: 'Time of the last change, UTC.' }),
    folder: folder.nullable().meta({ description: 'Folder that contains it. Null: none.' }),
    type: z
      .string()
      .nullable()
      .meta({ description: 'Kind of document, as given at creation. Null: none.', exampleValue: 'Deed' }),
    tags: z.array(tag).meta({ description: 'Labels by which the document is found.' }),
    status: documentStatus.meta({ description: 'State of the document.' }),
    externalId: keptMembers.externalId,
  })
  .meta({ id: 'DocumentListItem' });

export type DocumentView = Value<typeof document>;
export type DocumentListItem = Value<typeof documentListItem>;

const actionUrlRequest = members({
  identifier: maybeText.meta({
    description:
      'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
    exampleValue: '52998224725',
  }),
  emailAddress: maybeText.meta({
    description: 'E-mail address of the participant.',
    exampleValue: 'ana@example.com',
  }),
  requireEmailAuthentication: maybeFlag.meta({
    description:
      'Whether the participant must enter a code of six digits that is sent by e-mail. Default false. Electronic signatures only.',
  }),
  flowActionId: maybeUuid.meta({
    description: 'Action of the participant. Absent: the first pending action of this person.',
    exampleValue: '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
  }),
}).meta({ id: 'ActionUrlRequest' });

const actionUrls = z.strictObject({
  url: z.url().meta({
    description: 'Absolute address. https, or http where the configuration allows it.',
    exampleValue: 'https://hooks.example.com/portal',
  }),
  embedUrl: z.url().meta({
    description:
      'Address for the widget in the page of the client. Anybody with it can act for one participant.',
    exampleValue: 'https://sign.example.com/document/key/K3M9Q7W2E5R8T1Y4U6I0/sign-embedded?ticket=0f8c1d2e',
  }),
});

const REASON_FAULT = `has more than ${MAX_REASON} characters`;

/** The reason of a cancellation or refusal. */
export const reason = textOf(plainText, MAX_REASON, REASON_FAULT).meta({
  description: 'Reason, which participants and the history show. At most 2,000 characters.',
  exampleValue: REASON.reason,
});
export const maybeReason = maybeTextOf(plainText, MAX_REASON, REASON_FAULT);

const documentReason = members({ reason }).meta({ id: 'DocumentReason' });

export const getDocument = operation({
  method: 'GET',
  path: '/api/documents/{id}',
  group: 'Documents',
  summary: 'Returns a document with its flow.',
  description:
    'Contains the status, the flow actions with their participants, the files, attachments, fields and the validation key. All members are present; those without a value are null. A document of another organization is `DocumentNotFound`.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  reply: document,
  refusals: UNKNOWN_DOCUMENT,
});

export const deleteDocument = operation({
  method: 'DELETE',
  path: '/api/documents/{id}',
  group: 'Documents',
  summary: 'Deletes a document.',
  description:
    'Possible in every status. The document disappears from lists, its links stop working, and further requests are refused with `DocumentIsDeleted`; webhooks receive `DocumentDeleted`. A deletion cannot be undone. A document of another organization is `DocumentNotFound`.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  reply: 'empty',
  refusals: UNKNOWN_DOCUMENT,
});

export const getActionUrl = operation({
  method: 'POST',
  path: '/api/documents/{id}/action-url',
  group: 'Documents',
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

export const cancelDocument = operation({
  method: 'POST',
  path: '/api/documents/{id}/cancellation',
  group: 'Documents',
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

export const refuseDocument = operation({
  method: 'POST',
  path: '/api/documents/{id}/refusal',
  group: 'Documents',
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

export const retryDocument = operation({
  method: 'POST',
  path: '/api/documents/{id}/retry',
  group: 'Documents',
  summary: 'Retries the failed processing of a document now.',
  description:
    'For a document with a `processingError`, for example because a time-stamp authority did not answer. The service also retries by itself, with growing pauses. Without a failure the request changes nothing.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  reply: 'empty',
  refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus', 'SigningFailed'],
});
