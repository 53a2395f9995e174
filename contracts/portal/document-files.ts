/**
 * Files of documents: as bytes, as Base64, by a ticket, and of several documents in one.
 *
 * Source: docs/portal-values.md §0, §13; docs/decisions/0128-files-of-several-documents.md.
 */

import { z } from 'zod';
import { list, members, shown, uuid, word } from '../fields.ts';
import { contentType, filename, ticketPath } from './entities.ts';
import { EXAMPLE_IDS } from './examples.ts';
import { documentParams } from './ids.ts';
import { queryFlag, queryText, queryWord } from './lists.ts';
import { FILE_HEADERS, operationsOf } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';
import { DOWNLOAD_TYPES } from './words.ts';

/** Documents of one file; as many as one creation call makes. */
const MAX_PACKED = 50;

const type = queryWord(DOWNLOAD_TYPES).describe('Which file; `Original` when absent.');

const REFUSALS = [...UNKNOWN_DOCUMENT, 'DocumentHasNoSignatures', 'DownloadTypeNotAvailable'] as const;

const operation = operationsOf({ group: 'Documents' });

export const getContent = operation('GET /api/documents/{id}/content', {
  summary: 'Sends a file of the document, whole or one range of it.',
  description:
    '`type` selects the file: the original, the signed file, the printer-friendly version with the signature manifest, and others. All but the original exist from the first signature on (`DocumentHasNoSignatures`); of a document that ended with approvals alone, the printer-friendly version and the manifest exist. A canceled, expired or refused document has only the original and the printer-friendly version (`DownloadTypeNotAvailable`). The `ETag` is the hash of the file; a request with `Range` is answered with 206.',
  scope: 'Read',
  folderKeys: true,
  headers: FILE_HEADERS,
  params: documentParams,
  query: members({ type }),
  reply: 'file',
  refusals: REFUSALS,
});

export const getAttachment = operation('GET /api/documents/{id}/attachments/{attachmentId}/content', {
  summary: 'Sends an attachment of the document, whole or one range of it.',
  description:
    'Includes private attachments, which participants do not see. A request with `Range` is answered with 206. An attachment of another document is `AttachmentNotFound`.',
  scope: 'Read',
  folderKeys: true,
  headers: FILE_HEADERS,
  params: documentParams.extend({
    attachmentId: z.string().meta({
      description: 'Id of the attachment, from the detail of the document.',
      openapi: { type: 'string', format: 'uuid' },
    }),
  }),
  reply: 'file',
  refusals: [...UNKNOWN_DOCUMENT, 'AttachmentNotFound'],
});

export const getContentAsBase64 = operation('GET /api/documents/{id}/content-b64', {
  summary: 'Sends a file of the document as Base64.',
  description:
    'For clients that can only read JSON; `GET /api/documents/{id}/content` sends the same file as bytes. `DocumentHasNoSignatures` and `DownloadTypeNotAvailable`: this kind of file does not exist in the status of the document.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  query: members({ type }),
  reply: z.strictObject({
    bytes: shown(z.string(), 'Content of the file, Base64.', 'JVBERi0xLjc='),
    name: filename,
    contentType,
  }),
  refusals: REFUSALS,
});

export const createContentTicket = operation('GET /api/documents/{id}/ticket', {
  summary: 'Returns a path from which a file of the document can be downloaded without a key for one hour.',
  description:
    'For a browser or another program that must not know the key. `location` is a path of this service, such as `/api/documents/…/download?ticket=…`. Anybody who has it can read the file.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  query: members({
    type,
    preview: queryFlag.describe('Whether browsers show the file instead of saving it. Default false.'),
  }),
  reply: z.strictObject({
    location: ticketPath,
  }),
  refusals: REFUSALS,
});

export const downloadByTicket = operation('GET /api/documents/{id}/download', {
  summary: 'Sends the file of a ticket.',
  description:
    'The path with its ticket comes from `GET /api/documents/{id}/ticket`. Needs no key. An unknown or expired ticket is answered with 404, a document that was deleted meanwhile with `DocumentIsDeleted`.',
  auth: 'anonymous',
  headers: [...FILE_HEADERS, 'user-agent'],
  params: documentParams,
  query: members({
    ticket: shown(queryText, 'Ticket of the link. Absent: the request needs a key.', EXAMPLE_IDS.ticket),
  }),
  reply: 'file',
  refusals: ['NotFound', ...REFUSALS],
});

const packageRequest = members({
  documents: list(uuid, { least: 1, most: MAX_PACKED }).describe('Ids of the documents, in order.'),
  type: word(DOWNLOAD_TYPES).nullish().describe('Which file of each document; `Original` when absent.'),
}).meta({ id: 'DocumentPackage' });

const PACKAGE_EXAMPLE = { documents: [EXAMPLE_IDS.document], type: 'Original' };

export const packDocuments = operation('POST /api/documents/archive', {
  summary: 'Sends a ZIP file with one file of each document.',
  description:
    'For at most 50 documents; `type` selects the file of each. Together the files have at most 1 GiB (`LimitExceeded`). The request is refused when one document has no such file (`DocumentHasNoSignatures`, `DownloadTypeNotAvailable`). The history of each document records the download. An organization has at most two of these downloads at a time (`TooManyRequests`).',
  scope: 'Read',
  folderKeys: true,
  body: packageRequest,
  reply: 'file',
  examples: { request: PACKAGE_EXAMPLE },
  refusals: [...REFUSALS, 'LimitExceeded'],
});

export const combineDocuments = operation('POST /api/documents/combined', {
  summary: 'Sends one PDF with the pages of several documents, without their signatures.',
  description:
    'For printing: at most 50 PDF documents, in the given order. The pages are copied without signatures, so the file proves nothing; `archive` sends the signed files. `EnvelopeRequiresPdf`: a file is not a PDF.',
  scope: 'Read',
  folderKeys: true,
  body: packageRequest,
  reply: 'file',
  examples: { request: PACKAGE_EXAMPLE },
  refusals: [...REFUSALS, 'LimitExceeded', 'DocumentUnreadable', 'EnvelopeRequiresPdf'],
});
