/**
 * Uploads: whole files, files in segments, and previews.
 *
 * Source: docs/portal-values.md §0, §4.
 */

import { z } from 'zod';
import { bytes, entity, members, shown } from '../fields.ts';
import { contentType, filename, fileSize, identity } from './entities.ts';
import { EXAMPLE_IDS } from './examples.ts';
import { idIn } from './ids.ts';
import { FILE_HEADERS, operationsOf } from './operation.ts';

/** Bytes of a text part of a form. */
export const MAX_FORM_TEXT = 4096;

const ticket = shown(
  z.string().optional(),
  'Ticket of the link. Absent: the request needs a key.',
  EXAMPLE_IDS.ticket,
);

export const upload = entity('Upload', {
  id: identity,
  name: filename,
  contentType,
  location: shown(
    z.string(),
    'A path with a ticket that shows the file without a key.',
    `/api/uploads/${EXAMPLE_IDS.upload}/preview?ticket=${EXAMPLE_IDS.ticket}`,
  ),
});

/** Parts of a form; handlers parse the stream, so this schema only serves the description. */
export const fileForm = z.object({
  file: z.file().describe('The file: the first part that has a file name, whatever it is called.'),
  name: shown(
    z.string().max(MAX_FORM_TEXT).optional(),
    'Its original name; otherwise the file name of the part.',
    'Lease agreement',
  ),
});

export const uploadForm = fileForm.extend({
  contentType: shown(
    z.string().max(MAX_FORM_TEXT).optional(),
    'Its media type; otherwise the type of the part.',
    'application/pdf',
  ),
});

const uploadedBytes = z.strictObject({
  id: identity,
  size: fileSize,
  digest: shown(z.string(), 'MD5 of the bytes, Base64.', 'CY9rzUYh03PK3k6DJie09g=='),
});

const operation = operationsOf({ group: 'Uploads' });

export const storeUpload = operation('POST /api/uploads', {
  summary: 'Stores one file, or with a ticket one segment of a file.',
  description:
    'The body is a form: the first part with a file name is the file; the text parts `name` and `contentType` replace its name and type. With the query parameter `ticket` no key is needed: the part is the segment that `Content-Range` names, and the reply is empty until the last segment has arrived. An unused upload is kept for 24 hours, a used one for seven days after its last use. The same `Idempotency-Key` with the same file returns the same upload, with another file `IdempotencyConflict`. A file above the limit is refused with `PayloadTooLarge`, an unknown ticket with 404.',
  scope: 'Create',
  folderKeys: true,
  auth: 'known-or-ticket',
  bodyPolicy: 'stream',
  headers: ['content-type', 'content-length', 'content-range'],
  idempotent: true,
  query: members({ ticket }),
  body: uploadForm,
  reply: upload.optional(),
  refusals: [
    'BadRequest',
    'Forbidden',
    'IdempotencyConflict',
    'LimitExceeded',
    'NotFound',
    'PayloadTooLarge',
    'Unauthorized',
    'UnsupportedMediaType',
  ],
});

/** @param most maximum size of an upload, bytes */
export function storeBytes(most: number) {
  return operation('POST /api/uploads/bytes', {
    summary: 'Stores one file that is sent as Base64.',
    description:
      'For clients that cannot send forms. The reply has the MD5 digest of the content. The upload is kept as long as other uploads. A file above the limit is refused with `PayloadTooLarge`, the same `Idempotency-Key` with other content with `IdempotencyConflict`.',
    scope: 'Create',
    folderKeys: true,
    bodyPolicy: 'json-stream',
    headers: ['content-type', 'content-length'],
    idempotent: true,
    body: members({
      bytes: shown(
        bytes(most),
        `Content of the file, Base64. At least one byte; the limit of an upload is ${most.toLocaleString('en')} bytes.`,
        'JVBERi0xLjc=',
      ),
    }).meta({ id: 'NewBytes' }),
    reply: uploadedBytes,
    examples: { request: { bytes: 'JVBERi0xLjc=' } },
    refusals: ['BadRequest', 'IdempotencyConflict', 'PayloadTooLarge', 'UnsupportedMediaType'],
  });
}

export const openSegmentedUpload = operation('POST /api/uploads/segmented-upload-ticket', {
  summary: 'Returns a ticket for a file that is sent in segments.',
  description:
    'The segments are sent to `POST /api/uploads?ticket=…`, each with its `Content-Range`. They need no key, so a browser can send them. `LimitExceeded`: the organization has too many unfinished uploads in segments.',
  scope: 'Create',
  folderKeys: true,
  reply: z.string().describe('The ticket.'),
  refusals: ['LimitExceeded'],
});

export const previewUpload = operation('GET /api/uploads/{id}/preview', {
  summary: 'Sends an upload to a client with its ticket.',
  description:
    'The path with its ticket is the `location` of an upload, or of a file of a marks session. Needs no key. The ticket is valid for an hour; an unknown or expired ticket is answered with 404.',
  auth: 'anonymous',
  headers: FILE_HEADERS,
  params: z.object({ id: idIn('Id of the upload.') }),
  query: members({ ticket }),
  reply: 'file',
  refusals: ['NotFound'],
});
