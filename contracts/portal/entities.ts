/**
 * Entities and members that several subjects have. Every member of a reply is always present: null when empty, lists `[]`.
 *
 * Source: docs/portal-values.md §7 and §12, §16 (folder).
 */

import { z } from 'zod';
import {
  anyObject,
  entity,
  id,
  maybeFlag,
  maybeText,
  maybeUuid,
  shown,
  text,
  time,
  uuid,
} from '../fields.ts';
import type { Value } from '../operation.ts';
import { CREATION, EXAMPLE_IDS } from './examples.ts';
import { LANGUAGES } from './words.ts';

export const identity = id.describe('Identifier, unique within the instance.');
export const entityName = shown(z.string(), 'Name that people read.', 'Lease agreement');
export const creationDate = time.describe('Time of the creation, UTC.');
export const updateDate = time.describe('Time of the last change, UTC.');
export const nationalNumber = shown(
  z.string().nullable(),
  'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
  '52998224725',
);

/** Id and name of what clients name. */
export const recordNames = {
  id: identity,
  name: entityName,
};

export const createdBy = z
  .strictObject({
    id: identity,
    name: shown(z.string(), 'Application that did it.', 'Billing'),
  })
  .meta({ id: 'CreatedBy', description: 'The application of the key, or the signed-in user, that did it.' });

export const principal = z
  .strictObject({
    id: identity,
    type: z.enum(['User', 'Application']).describe('Whether a person or a program acted.'),
    name: entityName,
  })
  .meta({ id: 'Principal', description: 'A participant or user, or an application by its key.' });

export const participant = entity('Participant', {
  id: identity,
  name: shown(z.string().nullable(), 'Full name of the person.', 'Ana Silva'),
  identifier: nationalNumber,
  email: shown(z.string().nullable(), 'E-mail address. Links and codes are sent to it.', 'ana@example.com'),
  phone: shown(
    z.string().nullable(),
    'Telephone number with country code. Kept; nothing is sent to it.',
    '+351 912 345 678',
  ),
  language: z
    .enum(LANGUAGES)
    .optional()
    .describe('Language of the mails, codes and pages of the person. Left out: none was given.'),
});

/** Characters of a name that clients give to folders, saved flows, drafts and templates. */
export const MAX_NAME_LENGTH = 255;

export const recordName = text.meta({
  description: 'Name that people read.',
  exampleValue: 'Lease agreement',
  openapi: { type: 'string', maxLength: MAX_NAME_LENGTH },
});

export const folder = entity('Folder', {
  id: identity,
  name: shown(z.string(), 'Title of the folder.', 'Contracts 2026'),
  parentId: id.nullable().describe('Folder that contains this one. Null: it is at the top.'),
});

export type ParticipantView = Value<typeof participant>;
/** An application with its key, or a participant or user. */
export type Principal = Value<typeof principal>;

// Members that several subjects have.

export const creator = createdBy.describe('Application or user that created it.');
export const filename = shown(z.string(), 'File name with its extension.', 'contract.pdf');
export const fileSize = shown(z.int(), 'Length of the file, bytes.', 184320);
export const mimeType = shown(z.string(), 'Media type of the file.', 'application/pdf');
export const contentType = shown(z.string(), 'Media type of the content.', 'application/pdf');
export const failureCode = shown(
  z.string(),
  'Error code, for programs. It is never renamed.',
  'InvalidDocumentStatus',
);
export const failureMessage = shown(
  z.string(),
  'What happened, for people. The text may change.',
  'The document is already concluded.',
);
export const documentType = shown(
  z.string().nullable(),
  'Kind of document, as given at creation. Null: none.',
  'Deed',
);
export const signatureLevel = shown(
  z.string().nullable(),
  'Lowest level that signatures must have, as given at creation. Null: none.',
  'Advanced',
);
export const isConcluded = z
  .boolean()
  .describe('Whether all actions are completed and the final file is made.');
export const isEnvelope = z.boolean().describe('Whether the document was merged from several files.');
export const expirationDay = shown(
  z.iso.date().nullable(),
  'Date of `expirationDate`. Null: never.',
  '2027-12-31',
);
export const embedUrl = shown(
  z.url(),
  'Address for the widget in the page of the client. Anybody with it can act for one participant.',
  'https://sign.example.com/document/key/K3M9Q7W2E5R8T1Y4U6I0/sign-embedded?ticket=0f8c1d2e',
);
export const ticketPath = shown(
  z.string(),
  'Path with a ticket, relative to the service. It needs no key.',
  `/api/documents/${EXAMPLE_IDS.document}/download?ticket=0f8c1d2e`,
);
export const savedRequest = shown(anyObject, 'The body of POST /api/documents, as it was sent.', CREATION);
export const actionId = shown(
  uuid,
  'Action of the participant. Absent: the first pending action of this person.',
  EXAMPLE_IDS.flowAction,
);
export const maybeActionId = shown(
  maybeUuid,
  'Action of the participant. Absent: the first pending action of this person.',
  EXAMPLE_IDS.flowAction,
);
export const folderId = maybeUuid.describe(
  'Folder of the document. Null or absent: none. It takes precedence over `newFolderName`.',
);
export const newFolderName = shown(
  maybeText,
  'Folder for the document, created at the top level when there is none with this name. Absent: no folder.',
  'Contracts 2026',
);
export const participantIdentifier = shown(
  maybeText,
  'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
  '52998224725',
);
export const disableNotifications = maybeFlag.describe(
  'Whether no e-mail at all is sent about this. Default false.',
);
export const newTitle = shown(text, 'Title of the document that is made of the file.', 'Lease agreement');
