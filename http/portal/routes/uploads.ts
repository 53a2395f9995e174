/** `/api/uploads`. */
import type { BlobSink, IdempotentRequests, Uploads, UploadView } from '../../../actors/portal/api.ts';
import { nameOf } from '../../../contracts/portal/operation.ts';
import {
  openSegmentedUpload,
  previewUpload,
  storeBytes,
  storeUpload,
} from '../../../contracts/portal/uploads.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, StreamFingerprint, withIdempotency } from '../idempotency.ts';
import { readBytesBody } from '../input/bytes-body.ts';
import { readUploadForm, type UploadedFile, type UploadRules } from '../input/upload-form.ts';
import type { PortalRequest } from '../route.ts';
import { storedFileReply } from '../stored-file.ts';

const CONTENT_RANGE = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/;

type Streaming = PortalRequest<unknown, unknown, unknown>;

export function uploadRoutes(uploads: Uploads, requests: IdempotentRequests): readonly AnyRoute[] {
  const rulesOf = ({ header }: Streaming, watch?: StreamFingerprint): UploadRules => ({
    contentType: header('content-type'),
    contentLength: header('content-length'),
    maxBytes: uploads.maxBytes,
    open: () => uploads.open(),
    watch,
  });

  const takePiece = async (request: Streaming, ticket: string) => {
    // Checked before any byte of the segment is stored: without a valid ticket nothing is written to the disk.
    await uploads.checkSegmentTicket(ticket);
    const range = readContentRange(request.header('content-range'));
    const { sink, name, contentType } = await readUploadForm(streamOf(request), rulesOf(request));
    return storing(sink, () => uploads.acceptSegment(ticket, range, sink, { name, contentType }));
  };

  /** Stores a file, once for an `Idempotency-Key`; the answer is kept as `view` gives it. */
  const takeWhole = async <View>(
    request: Streaming,
    route: string,
    read: (rules: UploadRules) => Promise<Pick<UploadedFile, 'sink'> & Partial<UploadedFile>>,
    view: (upload: UploadView) => View,
  ): Promise<View> => {
    const { tenant } = request;
    const key = idempotencyKeyOf(request.header(IDEMPOTENCY_HEADER));
    const watch = key === undefined ? undefined : new StreamFingerprint();
    const { sink, name, contentType } = await read(rulesOf(request, watch));
    const given = name === undefined || contentType === undefined ? [] : [name, contentType];
    const fingerprint = watch?.finish(...given) ?? '';
    const file = { name: name ?? 'file', contentType: contentType ?? 'application/octet-stream' };
    return acceptOnce(sink, (accept) =>
      withIdempotency(requests, tenant, { route, key, fingerprint }, async () =>
        view(await accept(() => uploads.accept(tenant, sink, file))),
      ),
    );
  };

  const bytesOperation = storeBytes(uploads.maxBytes);
  return [
    handle(storeUpload, (request) => {
      const { ticket } = request.query;
      if (ticket !== undefined) return takePiece(request, ticket);
      const read = (rules: UploadRules) => readUploadForm(streamOf(request), rules);
      return takeWhole(request, nameOf(storeUpload), read, ({ id, name, contentType, location }) => {
        return { id, name, contentType, location };
      });
    }),
    handle(bytesOperation, (request) =>
      takeWhole(
        request,
        nameOf(bytesOperation),
        async (rules) => ({ sink: await readBytesBody(streamOf(request), rules) }),
        ({ id, size, md5 }) => ({ id, size, digest: md5 }),
      ),
    ),
    handle(openSegmentedUpload, ({ tenant }) => uploads.openSegmented(tenant)),
    handle(previewUpload, async ({ query, header }) => {
      if (query.ticket === undefined) throw new PortalRefusal('NotFound');
      return storedFileReply(await uploads.preview(query.ticket), header, true);
    }),
  ];
}

export function streamOf({ stream }: Pick<Streaming, 'stream'>): AsyncIterable<Buffer> {
  if (stream === undefined) throw new Error('The route reads its body as a stream.');
  return stream;
}

/** Discards the bytes when `use` fails. */
export async function storing<Result>(sink: BlobSink, use: () => Promise<Result>): Promise<Result> {
  try {
    return await use();
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

/** Discards the bytes when `use` fails, and when it returns an earlier reply without accepting them. */
function acceptOnce<Result>(
  sink: BlobSink,
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
  throw badMember('Content-Range', 'The Content-Range header must be of the form "bytes 0-1/2".');
}
