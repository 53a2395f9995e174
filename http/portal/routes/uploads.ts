/**
 * `/api/uploads`.
 *
 * Source: docs/portal-values.md §0, §4.
 */

import { z } from 'zod';
import type {
  IdempotentRequests,
  PortalUploads,
  UploadSink,
  UploadView,
} from '../../../actors/portal/api.ts';
import { bytes, id, members } from '../../../contracts/fields.ts';
import { FILE_HEADERS } from '../../../contracts/portal/operation.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, StreamFingerprint, withIdempotency } from '../idempotency.ts';
import { readBytesBody } from '../input/bytes-body.ts';
import { idParams } from '../input/ids.ts';
import { FIELD_BYTES, readUploadForm } from '../input/upload-form.ts';
import { DONE, type PortalRequest, portalRoute } from '../route.ts';
import { storedFileReply } from '../stored-file.ts';

export const uploadShape = z
  .strictObject({
    id,
    name: z.string(),
    contentType: z.string(),
    location: z.string().describe('A path with a ticket that shows the file without a key.'),
  })
  .meta({ id: 'Upload' });

const uploadedBytesShape = z.strictObject({
  id,
  size: z.int(),
  digest: z.string().describe('MD5 of the bytes, Base64.'),
});

/** Fields of the form; the handler parses the stream, so this schema only serves the description. */
export const uploadForm = z.object({
  file: z.file().describe('The file: the first part that has a file name, whatever it is called.'),
  name: z
    .string()
    .max(FIELD_BYTES)
    .optional()
    .describe('Its original name; otherwise the file name of the part.'),
  contentType: z
    .string()
    .max(FIELD_BYTES)
    .optional()
    .describe('Its media type; otherwise the type of the part.'),
});

const CONTENT_RANGE = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/;

export function uploadRoutes(uploads: PortalUploads, requests: IdempotentRequests): readonly AnyRoute[] {
  const readForm = (
    { header, stream }: PortalRequest<unknown, unknown, unknown>,
    watch?: StreamFingerprint,
  ) => {
    if (stream === undefined) throw new Error('The route reads its body as a stream.');
    return readUploadForm(stream, {
      contentType: header('content-type'),
      contentLength: header('content-length'),
      maxBytes: uploads.maxBytes,
      open: () => uploads.open(),
      watch,
    });
  };

  const takePiece = async (request: PortalRequest<unknown, unknown, unknown>, ticket: string) => {
    // Checked before any byte of the segment is stored: without a valid ticket nothing is written to the disk.
    await uploads.checkSegmentTicket(ticket);
    const range = readContentRange(request.header('content-range'));
    const { sink, name, contentType } = await readForm(request);
    return storing(sink, () => uploads.acceptSegment(ticket, range, sink, { name, contentType }));
  };

  const takeWhole = async (request: PortalRequest<unknown, unknown, unknown>) => {
    const { tenant } = request;
    const key = idempotencyKeyOf(request.header(IDEMPOTENCY_HEADER));
    const watch = key === undefined ? undefined : new StreamFingerprint();
    const { sink, name, contentType } = await readForm(request, watch);
    const fingerprint = watch?.finish(name, contentType) ?? '';
    return acceptOnce(sink, (accept) =>
      withIdempotency(requests, tenant, { route: 'POST /api/uploads', key, fingerprint }, async () =>
        uploadBody(await accept(() => uploads.accept(tenant, sink, { name, contentType }))),
      ),
    );
  };

  return [
    portalRoute({
      method: 'POST',
      path: '/api/uploads',
      group: 'Uploads',
      summary: 'Stores one file, or with a ticket one segment of a file.',
      description:
        'The body is a form: the first part with a file name is the file; the text parts `name` and `contentType` replace its name and type. With the query parameter `ticket` no key is needed: the part is the segment that `Content-Range` names, and the reply is empty until the last segment has arrived. An unused upload is kept for 24 hours, a used one for seven days after its last use. The same `Idempotency-Key` with the same file returns the same upload, with another file `IdempotencyConflict`. A file above the limit is refused with `PayloadTooLarge`, an unknown ticket with 404.',
      scope: 'Create',
      folderKeys: true,
      auth: 'known-or-ticket',
      bodyPolicy: 'stream',
      headers: ['content-type', 'content-length', 'content-range', IDEMPOTENCY_HEADER],
      query: members({ ticket: z.string().optional() }),
      body: uploadForm,
      responses: { 200: [uploadShape, 'empty'] },
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
      async handle(request) {
        const { ticket } = request.query;
        if (ticket === undefined) return json(200, await takeWhole(request));
        const upload = await takePiece(request, ticket);
        return upload === undefined ? DONE : json(200, uploadBody(upload));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/uploads/bytes',
      group: 'Uploads',
      summary: 'Stores one file that is sent as Base64.',
      description:
        'For clients that cannot send forms. The reply has the MD5 digest of the content. The upload is kept as long as other uploads. A file above the limit is refused with `PayloadTooLarge`, the same `Idempotency-Key` with other content with `IdempotencyConflict`.',
      scope: 'Create',
      folderKeys: true,
      bodyPolicy: 'json-stream',
      headers: ['content-type', 'content-length', IDEMPOTENCY_HEADER],
      body: members({ bytes: bytes(uploads.maxBytes) }),
      responses: { 200: uploadedBytesShape },
      examples: { request: { bytes: 'JVBERi0xLjc=' } },
      refusals: ['BadRequest', 'IdempotencyConflict', 'PayloadTooLarge', 'UnsupportedMediaType'],
      async handle({ tenant, stream, header }) {
        if (stream === undefined) throw new Error('The route reads its body as a stream.');
        const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
        const watch = key === undefined ? undefined : new StreamFingerprint();
        const sink = await readBytesBody(stream, {
          contentType: header('content-type'),
          contentLength: header('content-length'),
          maxBytes: uploads.maxBytes,
          open: () => uploads.open(),
          watch,
        });
        const file = { name: 'file', contentType: 'application/octet-stream' };
        const fingerprint = watch?.finish() ?? '';
        const made = await acceptOnce(sink, (accept) =>
          withIdempotency(
            requests,
            tenant,
            { route: 'POST /api/uploads/bytes', key, fingerprint },
            async () => {
              const upload = await accept(() => uploads.accept(tenant, sink, file));
              return { id: upload.id, size: upload.size, digest: upload.md5 };
            },
          ),
        );
        return json(200, made);
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/uploads/segmented-upload-ticket',
      group: 'Uploads',
      summary: 'Returns a ticket for a file that is sent in segments.',
      description:
        'The segments are sent to `POST /api/uploads?ticket=…`, each with its `Content-Range`. They need no key, so a browser can send them. `LimitExceeded`: the organization has too many unfinished uploads in segments.',
      scope: 'Create',
      folderKeys: true,
      responses: { 200: z.string().describe('The ticket.') },
      refusals: ['LimitExceeded'],
      async handle({ tenant }) {
        return json(200, await uploads.openSegmented(tenant));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/uploads/{id}/preview',
      group: 'Uploads',
      summary: 'Sends an upload to a client with its ticket.',
      description:
        'The path with its ticket is the `location` of an upload, or of a file of a marks session. Needs no key. The ticket is valid for an hour; an unknown or expired ticket is answered with 404.',
      auth: 'anonymous',
      headers: FILE_HEADERS,
      params: idParams,
      query: members({ ticket: z.string().optional() }),
      responses: { 200: 'file', 206: 'file' },
      refusals: ['NotFound'],
      async handle({ query, header }) {
        if (query.ticket === undefined) throw new PortalRefusal('NotFound');
        return storedFileReply(await uploads.preview(query.ticket), header, true);
      },
    }),
  ];
}

export function uploadBody({
  id: upload,
  name,
  contentType,
  location,
}: UploadView): z.infer<typeof uploadShape> {
  return { id: upload, name, contentType, location };
}

/** Discards the bytes when `use` fails. */
export async function storing<Result>(sink: UploadSink, use: () => Promise<Result>): Promise<Result> {
  try {
    return await use();
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

/** Discards the bytes when `use` fails, and when it returns an earlier reply without accepting them. */
function acceptOnce<Result>(
  sink: UploadSink,
  use: (accept: (make: () => Promise<UploadView>) => Promise<UploadView>) => Promise<Result>,
): Promise<Result> {
  let accepted = false;
  return storing(sink, async () => {
    const result = await use(async (make) => {
      const upload = await make();
      accepted = true;
      return upload;
    });
    if (!accepted) await sink.abort();
    return result;
  });
}

/** `bytes 0-2097151/5000000`. Refusals: `BadRequest`. Source: docs/portal-values.md §4; RFC 9110 §14.4. */
function readContentRange(header: string): {
  readonly from: number;
  readonly to: number;
  readonly total: number;
} {
  const [, from, to, total] = CONTENT_RANGE.exec(header.trim()) ?? [];
  const range = { from: Number(from), to: Number(to), total: Number(total) };
  if (range.from <= range.to && range.to < range.total) return range;
  const sentence = 'The Content-Range header must be of the form "bytes 0-1/2".';
  throw new PortalRefusal('BadRequest', sentence, { errors: { 'Content-Range': [sentence] } });
}
