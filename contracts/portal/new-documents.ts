/**
 * The request that creates documents.
 *
 * Source: docs/portal-values.md §§5 and 6; additional members are marked.
 */

import { z } from 'zod';
import {
  day,
  entity,
  id,
  list,
  map,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  parts,
  shown,
  text,
  uuid,
} from '../fields.ts';
import type { Value } from '../operation.ts';
import { requestProperties } from './document-properties.ts';
import { folderId, newFolderName, newTitle } from './entities.ts';
import { CREATION } from './examples.ts';
import { atMost, newFile, newFlowAction, newObserver } from './flow.ts';
import { queryFlag, queryText } from './lists.ts';
import { operation } from './operation.ts';
import { UNKNOWN_FILES } from './refusals.ts';
import { newReminders } from './reminders.ts';
import { MAX_ACTIONS, MAX_OBSERVERS } from './words.ts';

/** Documents of one call. Source: docs/portal-values.md §21. */
export const MAX_DOCUMENTS = 50;
/** Addresses notified of a conclusion; chosen by this project. */
const MAX_NOTIFIED_EMAILS = 100;
/** Files of one envelope. Source: docs/portal-values.md §21. */
export const MAX_ENVELOPE_FILES = 20;
const MAX_NAMESPACES = 50;
const MAX_TAGS = 100;
const MAX_ATTACHMENTS = 20;

const newTag = members({
  label: shown(maybeText, 'Name of the kind of tag, such as `department`. Absent: none.', 'department'),
  value: shown(text, 'Text of the tag.', 'lease'),
}).meta({ id: 'NewTag' });

const newAttachment = members({
  displayName: newTitle,
  id: shown(uuid, 'Upload from which the attachment is made.', '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d'),
  name: shown(text, 'File name with its extension.', 'annex.pdf'),
  contentType: shown(text, 'Media type of the content.', 'application/pdf'),
  isPrivate: maybeFlag.describe(
    'Whether participants do not see the file; it is then readable by key only. Default false.',
  ),
}).meta({ id: 'NewAttachment' });

const upload = members({
  id: maybeUuid.describe('Identifier, unique within the instance.'),
  name: shown(maybeText, 'Name that people read.', 'Lease agreement'),
  contentType: shown(maybeText, 'Media type of the content.', 'application/pdf'),
}).meta({ id: 'ParticipantsDataFile' });

export const OBSERVERS = 'People who are notified about the document, and can read it with their own links.';

export const FEW_ACTIONS = atMost(MAX_ACTIONS, 'flow actions');
export const FEW_OBSERVERS = atMost(MAX_OBSERVERS, 'observers');
export const FEW_NOTIFIED_EMAILS = atMost(MAX_NOTIFIED_EMAILS, 'addresses');

// Those that are named stand where the description has always had them.
const {
  isEnvelope,
  disableNotifications,
  description,
  additionalInfo,
  forceCadesSignature,
  requireReading,
  timestampEnabled,
  ...otherProperties
} = requestProperties;

/** Members that are accepted and ignored are validated all the same: a wrong type is a mistake of the client. */
export const creationMembers = {
  isEnvelope,
  envelopeName: shown(
    maybeText,
    'Name of the envelope. Required when `isEnvelope` is true.',
    'Contract and annexes',
  ),
  disablePendingActionNotifications: maybeFlag.describe(
    'Whether participants of the first step get no e-mail. Default false. Those of later steps do; recommended for embedded pages.',
  ),
  disableNotifications,
  description,
  folderId,
  newFolderName,
  expirationDate: shown(
    day.nullish(),
    'Last day on which participants may act. It ends with that day in the offset that is written, in UTC where none is. Absent: never.',
    '2027-12-31',
  ),
  observers: list(newObserver, FEW_OBSERVERS).nullish().describe(OBSERVERS),
  attachments: list(newAttachment, {
    most: MAX_ATTACHMENTS,
    refusal: {
      code: 'LimitExceeded',
      message: `A document has at most ${MAX_ATTACHMENTS} attachments.`,
    },
  })
    .nullish()
    .describe('Files that accompany the document. They are not signed.'),
  notifiedEmails: shown(
    list(text, FEW_NOTIFIED_EMAILS).nullish(),
    'Addresses that get an e-mail when the document is concluded.',
    ['archive@example.com'],
  ),
  tags: list(newTag, {
    most: MAX_TAGS,
    refusal: { code: 'LimitExceeded', message: `A document has at most ${MAX_TAGS} tags.` },
  })
    .nullish()
    .describe('Labels by which the document is found.'),
  additionalInfo,
  forceCadesSignature,
  requireReading,
  xmlNamespaces: list(
    members({
      prefix: shown(maybeText, 'Prefix that XPath expressions use for the namespace.', 'ds'),
      uri: shown(maybeText, 'Namespace of the prefix.', 'http://www.w3.org/2000/09/xmldsig#'),
    }).meta({ id: 'NewXmlNamespace' }),
    {
      most: MAX_NAMESPACES,
      refusal: {
        code: 'LimitExceeded',
        message: `A document takes at most ${MAX_NAMESPACES} XML namespaces.`,
      },
    },
  )
    .nullish()
    .describe('Prefixes that XPath expressions of `xadesOptions` use.'),
  participantsDataFile: upload.nullish().describe('Accepted and ignored.'),
  timestampEnabled,
  ...otherProperties,
  reminders: newReminders.nullish().describe('Left out: the reminders of the organization.'),
  securityContextId: maybeUuid.describe('Accepted and ignored.'),
  templateId: maybeUuid.describe('Accepted and ignored.'),
  templateFieldValues: shown(map(z.unknown()).nullish(), 'Accepted and ignored.', {}),
  textTags: maybeFlag.describe(
    'Whether tags in the text of PDFs, such as `{{sig:Tenant}}` and `{{text:Tenant:city}}`, place marks and fields. Fields of the request without a place need a tag of their name. Default false.',
  ),
};

export const FILES =
  'Uploads. Each becomes a document, at most 50; with `isEnvelope` they become one, at most 20 files, all PDF.';
export const FLOW_ACTIONS = 'Who signs and approves, in which order. At least one, at most 100.';

const FEW_FILES = {
  most: MAX_DOCUMENTS,
  refusal: { code: 'LimitExceeded', message: `One call makes at most ${MAX_DOCUMENTS} documents.` },
};
export const newFiles = list(newFile, { least: 1, ...FEW_FILES }).describe(FILES);
/** Of one document that is made of several files. */
export const envelopeFiles = list(newFile, {
  least: 1,
  most: MAX_ENVELOPE_FILES,
  refusal: { code: 'LimitExceeded', message: `An envelope holds at most ${MAX_ENVELOPE_FILES} files.` },
}).describe(FILES);
export const newFlowActions = list(newFlowAction, { least: 1, ...FEW_ACTIONS }).describe(FLOW_ACTIONS);

/** A creation request that is kept, and may still lack files and flow actions. */
export const draftedDocuments = members({
  files: list(newFile, FEW_FILES).nullish().describe(FILES),
  flowActions: list(newFlowAction, FEW_ACTIONS).nullish().describe(FLOW_ACTIONS),
  ...creationMembers,
});

export const newDocuments = members({
  files: newFiles,
  flowActions: newFlowActions,
  ...creationMembers,
})
  .transform(
    ({
      participantsDataFile: _participants,
      securityContextId: _context,
      templateId: _template,
      templateFieldValues: _values,
      ...request
    }) => request,
  )
  .meta({ id: 'NewDocuments' });

export type NewDocuments = Value<typeof newDocuments>;

/** Members of the creation request that may travel in the query instead; the body wins. */
const creationQuery = members({
  isEnvelope: queryFlag.describe('Whether the files become one document. The member of the body wins.'),
  envelopeName: shown(
    queryText,
    'Name of the envelope. The member of the body wins.',
    'Contract and annexes',
  ),
});

export const createdDocument = entity('CreatedDocument', {
  uploadId: shown(
    z.string(),
    'Upload from which the document was created.',
    '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  ),
  documentId: id.describe('The document this is about.'),
  attachments: parts('Attachments of the document, each with its upload.', {
    uploadId: shown(
      z.string(),
      'File to which this belongs, where the request has several.',
      '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d',
    ),
    attachmentId: id.describe(
      'Id of the attachment, for `GET /api/documents/{id}/attachments/{attachmentId}/content`.',
    ),
  }),
});

export type CreatedDocument = Value<typeof createdDocument>;

/** Refusals of a creation request besides those of its files. */
export const CREATION_REFUSALS = [
  'EnvelopeNameRequired',
  'EnvelopeFileSigned',
  'FolderNotFound',
  'InvalidFieldValue',
  'InvalidFlowAction',
  'InvalidIdentifier',
  'InvalidTextTag',
  'TimestampNotAvailable',
] as const;

export const createDocuments = operation('POST /api/documents', {
  group: 'Documents',
  summary: 'Creates documents from uploads, with a flow of participants who sign or approve them.',
  description:
    'Each file becomes a document; with `isEnvelope` all files are merged into one document, which needs `envelopeName`. Participants act in the order of `step`; those of the same step act in parallel. The participants of the first step are notified by e-mail, unless `disablePendingActionNotifications` is true; webhooks receive `DocumentsCreated`. A refused request creates nothing. The same `Idempotency-Key` with the same request returns the same documents. Frequent refusals are `UploadNotFound` and `DocumentUnreadable` for files, `InvalidFlowAction` and `InvalidIdentifier` for participants, `FolderNotFound`, and `LimitExceeded` for more than 50 documents or 30 signers.',
  scope: 'Create',
  folderKeys: true,
  idempotent: true,
  query: creationQuery,
  body: newDocuments,
  largeBody: true,
  reply: z.array(createdDocument),
  examples: { request: CREATION },
  refusals: [...UNKNOWN_FILES, ...CREATION_REFUSALS, 'IdempotencyConflict'],
});
