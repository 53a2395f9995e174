/**
 * Documents in replies.
 *
 * Source: docs/portal-values.md §7 and §12; additional members are marked.
 */

import { z } from 'zod';
import type { DocumentListItem, DocumentView } from '../../../actors/portal/api.ts';
import { id } from '../../../contracts/fields.ts';
import { createdBy, folder, participant, principal } from '../../../contracts/portal/entities.ts';
import { reminders } from '../../../contracts/portal/reminders.ts';
import { isoDay, isoTime, isoTimeOrNull } from '../../../contracts/times.ts';
import { type Attachment, DOCUMENT_STATUSES, type Tag } from '../../../machines/portal/portal-types.ts';
import { flowActionBody, flowActionShape } from './flow-actions.ts';
import { remindersBody } from './reminders.ts';
import { createdByBody, folderBody, participantBody, timestamp } from './shared-shapes.ts';

/** Additional. */
const externalIdShape = z
  .string()
  .nullable()
  .describe('The id that the application gave at creation; null: none.');

export const statusShape = z.enum(DOCUMENT_STATUSES);

const tagShape = z.strictObject({ id, label: z.string().nullable(), value: z.string() }).meta({ id: 'Tag' });

const attachmentShape = z
  .strictObject({
    id,
    name: z.string(),
    filename: z.string(),
    fileSize: z.int(),
    mimeType: z.string(),
    creationDate: timestamp,
    updateDate: timestamp,
    createdBy: createdBy,
    isPrivate: z.boolean(),
    signaturesNotInEnvelope: z
      .int()
      .nullable()
      .describe(
        'Number of signatures of a signed file that was merged into the envelope, which does not contain them; null for other attachments.',
      ),
    fieldId: id
      .optional()
      .describe('Field that a participant attached the file in; left out for other attachments.'),
  })
  .meta({ id: 'Attachment' });

export const organizationRefShape = z
  .strictObject({
    id,
    name: z.string().nullable(),
    identifier: z.string().nullable(),
    owner: z.strictObject({ id, name: z.string() }).nullable(),
  })
  .meta({ id: 'OrganizationReference', description: 'Only a personal organization has an owner.' });

export const documentShape = z
  .strictObject({
    id,
    name: z.string(),
    status: statusShape,
    key: z.string().describe('The validation key: 20 characters A-Z and 0-9.'),
    filename: z.string(),
    fileSize: z.int(),
    mimeType: z.string(),
    checksumMd5: z.string().describe('Of the original; Base64.'),
    hasSignature: z.boolean(),
    isConcluded: z.boolean(),
    isDeleted: z.boolean(),
    isEnvelope: z.boolean(),
    isScanned: z.literal(false),
    creationDate: timestamp,
    updateDate: timestamp,
    createdBy: createdBy,
    organization: organizationRefShape,
    folder: folder.nullable(),
    statusUpdatedBy: principal.nullable(),
    statusUpdateReason: z.string().nullable(),
    description: z.string().nullable(),
    expirationDate: timestamp.nullable(),
    expirationDateWithoutTime: z.iso.date().nullable(),
    observers: z.array(z.strictObject({ id, user: participant })),
    attachments: z.array(attachmentShape),
    notifiedEmails: z.array(z.string()),
    permissions: z.strictObject({ move: z.boolean(), editFlow: z.boolean() }),
    forceCadesSignature: z.boolean(),
    tags: z.array(tagShape),
    type: z.string().nullable(),
    signatureType: z.string().nullable(),
    externalId: externalIdShape,
    securityContext: z.null(),
    hideDownloadOptionForPendingDocuments: z.boolean(),
    flowActions: z.array(flowActionShape),
    reminders: reminders.nullable().describe('Null: none.'),
    template: z
      .strictObject({
        id: id.describe('Id of the template; it may have been deleted since.'),
        version: z.int().min(1).describe('The version of the template that was used.'),
      })
      .nullable()
      .describe('The template that the document was made of; null: none.'),
    processingError: z
      .strictObject({
        code: z.string(),
        message: z.string(),
        since: timestamp,
        nextTryAt: timestamp.nullable(),
      })
      .nullable()
      .describe(
        'Why an accepted signature or the conclusion is not done yet. It is tried again at nextTryAt, and at once on POST …/retry.',
      ),
  })
  .meta({ id: 'Document' });

export function documentBody(view: DocumentView): z.infer<typeof documentShape> {
  const isOpen = view.status === 'Pending' && !view.isDeleted;
  const error = view.processingError;
  return {
    id: view.id,
    name: view.name,
    status: view.status,
    key: view.key,
    filename: view.filename,
    fileSize: view.fileSize,
    mimeType: view.mimeType,
    checksumMd5: view.checksumMd5,
    hasSignature: view.hasSignature,
    isConcluded: view.status === 'Concluded',
    isDeleted: view.isDeleted,
    isEnvelope: view.isEnvelope,
    isScanned: false,
    creationDate: isoTime(view.creationDate),
    updateDate: isoTime(view.updateDate),
    createdBy: createdByBody(view.createdBy),
    organization: {
      id: view.organization.id,
      name: view.organization.name,
      identifier: view.organization.identifier ?? null,
      owner: null,
    },
    folder: view.folder === null ? null : folderBody(view.folder),
    statusUpdatedBy:
      view.statusUpdatedBy === null
        ? null
        : {
            id: view.statusUpdatedBy.id,
            type: view.statusUpdatedBy.type,
            name: view.statusUpdatedBy.name,
          },
    statusUpdateReason: view.statusUpdateReason,
    description: view.description,
    expirationDate: isoTimeOrNull(view.expirationDate),
    expirationDateWithoutTime: isoDay(view.expirationDate),
    observers: view.observers.map(({ id: observer, user }) => ({
      id: observer,
      user: participantBody(user),
    })),
    attachments: view.attachments.map((attachment) => attachmentBody(attachment, view)),
    notifiedEmails: [...view.notifiedEmails],
    permissions: { move: !view.isDeleted, editFlow: isOpen },
    forceCadesSignature: view.forceCadesSignature,
    tags: view.tags.map(tagBody),
    type: view.type,
    signatureType: view.signatureType,
    externalId: view.externalId,
    securityContext: null,
    hideDownloadOptionForPendingDocuments: false,
    flowActions: view.flowActions.map((action) => flowActionBody(action, view.fieldValues)),
    reminders: remindersBody(view.reminders),
    template: view.template && { id: view.template.id, version: view.template.version },
    processingError:
      error === null
        ? null
        : {
            code: error.code,
            message: error.message,
            since: isoTime(error.since),
            nextTryAt: isoTimeOrNull(error.nextTryAt),
          },
  };
}

function attachmentBody(attachment: Attachment, view: DocumentView): z.infer<typeof attachmentShape> {
  const { file, creationDate } = attachment;
  return {
    id: attachment.id,
    name: file.displayName,
    filename: file.name,
    fileSize: file.blob.length,
    mimeType: file.contentType,
    creationDate: isoTime(creationDate),
    // An attachment never changes.
    updateDate: isoTime(creationDate),
    createdBy: createdByBody(view.createdBy),
    isPrivate: attachment.isPrivate,
    signaturesNotInEnvelope: attachment.signatures ?? null,
    ...(attachment.fieldId !== undefined && { fieldId: attachment.fieldId }),
  };
}

function tagBody({ id: tag, label, value }: Tag): z.infer<typeof tagShape> {
  return { id: tag, label, value };
}

export const listItemShape = z
  .strictObject({
    id,
    name: z.string(),
    creationDate: timestamp,
    updateDate: timestamp,
    folder: folder.nullable(),
    type: z.string().nullable(),
    tags: z.array(tagShape),
    status: statusShape,
    externalId: externalIdShape,
  })
  .meta({ id: 'DocumentListItem' });

export function listItemBody(item: DocumentListItem): z.infer<typeof listItemShape> {
  return {
    id: item.id,
    name: item.name,
    creationDate: isoTime(item.creationDate),
    updateDate: isoTime(item.updateDate),
    folder: item.folder === null ? null : folderBody(item.folder),
    type: item.type,
    tags: item.tags.map(tagBody),
    status: item.status,
    externalId: item.externalId,
  };
}
