/**
 * `/api/documents/keys/{key}/uploads`: files that participants attach to fields.
 *
 * Source: docs/fields.md.
 */
import { z } from 'zod';
import {
  FIELD_FILE_HEADER_BYTES,
  MAX_FIELD_FILE_BYTES,
  type PortalSigning,
  type PortalUploads,
} from '../../../actors/portal/api.ts';
import { id, members, textUpTo } from '../../../contracts/fields.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requireRole, requireTenant } from '../access-check.ts';
import { keyParams } from '../input/ids.ts';
import { FIELD_BYTES, readUploadForm } from '../input/upload-form.ts';
import { portalRoute } from '../route.ts';
import { storing } from '../routes/uploads.ts';

const fieldUploadShape = z
  .strictObject({
    id,
    name: z.string(),
    contentType: z.enum(['application/pdf', 'image/jpeg', 'image/png']),
    size: z.int(),
    sha256: z.string(),
  })
  .meta({ id: 'FieldUpload' });

/** Fields of the form; the handler parses the stream, so this schema only serves the description. */
const fieldUploadForm = z.object({
  file: z.file().describe('The file: the first part that has a file name, whatever it is called.'),
  name: z
    .string()
    .max(FIELD_BYTES)
    .optional()
    .describe('Its original name; otherwise the file name of the part.'),
});

const fieldUploadQuery = members({
  ticket: z.string().max(2000).optional().describe('Ticket of the link. A key does not replace it.'),
  field: textUpTo(100).describe('Name of the field, of the type `Attachment`.'),
});

export function fieldUploadRoutes(signing: PortalSigning, uploads: PortalUploads): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents/keys/{key}/uploads',
      group: 'Signing',
      summary: 'Takes a file that a participant attaches, with a ticket.',
      description: `A form with one file, PDF, PNG or JPEG, of at most ${MAX_FIELD_FILE_BYTES} bytes. Only this participant can name its id as the value of a field in \`fieldValues\`; an upload that is not used is kept for 24 hours, and at most until the document ends. Nothing is read without the ticket of the link. An application uploads with \`POST /api/uploads\`. \`InvalidFieldValue\`: the participant has no such field, or the file is of another type. \`LimitExceeded\`: the participant, or all participants of the document, have uploaded too many files. At most 30 requests in ten seconds from one client.`,
      scope: 'Sign',
      folderKeys: true,
      auth: 'known-or-ticket',
      rate: 'upload',
      bodyPolicy: 'stream',
      headers: ['content-type', 'content-length'],
      params: keyParams,
      query: fieldUploadQuery,
      body: fieldUploadForm,
      responses: { 200: fieldUploadShape },
      refusals: [
        'BadRequest',
        'DocumentIsDeleted',
        'Forbidden',
        'InvalidDocumentStatus',
        'InvalidFieldValue',
        'InvalidTicket',
        'LimitExceeded',
        'PayloadTooLarge',
        'Unauthorized',
        'UnsupportedMediaType',
      ],
      async handle({ params, query: { ticket, field }, header, stream, identity }) {
        if (stream === undefined) throw new Error('The route reads its body as a stream.');
        if (ticket === undefined) {
          requireRole(requireTenant(identity), 'application');
          throw new PortalRefusal('InvalidTicket');
        }
        const access = { by: 'ticket', key: params.key, ticket } as const;
        await signing.checkFieldUpload(access, field);
        const start = new FileStart();
        const { sink, name } = await readUploadForm(stream, {
          contentType: header('content-type'),
          contentLength: header('content-length'),
          maxBytes: MAX_FIELD_FILE_BYTES,
          open: () => uploads.open(),
          watch: start,
        });
        const file = { name, header: start.bytes };
        return json(200, await storing(sink, () => signing.acceptFieldUpload(access, field, sink, file)));
      },
    }),
  ];
}

/** Copies the first bytes of a file. */
class FileStart {
  bytes: Buffer = Buffer.alloc(0);

  update(bytes: Buffer): void {
    const missing = FIELD_FILE_HEADER_BYTES - this.bytes.length;
    if (missing > 0) this.bytes = Buffer.concat([this.bytes, bytes.subarray(0, missing)]);
  }

  restart(): void {
    this.bytes = Buffer.alloc(0);
  }
}
