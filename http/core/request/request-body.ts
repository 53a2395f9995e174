/** Opens and reads the body of a request. */
import { join } from 'node:path';
import { Refusal } from '../../../machines/refusals.ts';
import { BodyReader } from '../body/body.ts';
import { readWhole, SMALL_BODY_BYTES } from '../body/json-body.ts';
import { MultipartError, MultipartReader, multipartBoundary } from '../body/multipart.ts';
import type { CheckedBody, Conventions } from '../conventions.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { ResponseWriter } from '../transport/port.ts';
import type { ReceivedRequest } from './received-request.ts';
import type { RequestContextOptions } from './request-options.ts';

/**
 * Field name → value, the first of each name; parts with a file name are omitted. An empty body has no fields.
 * Refusals: `validation.body-invalid` for any other content type, a broken form, or more than `maxBytes`.
 */
async function readForm(
  body: AsyncIterable<Buffer>,
  contentType: string,
  maxBytes = SMALL_BODY_BYTES,
): Promise<Record<string, string>> {
  const bytes = await readWhole(
    body,
    maxBytes,
    () => new Refusal('validation.body-invalid', `The body exceeds ${maxBytes} bytes.`),
  );
  if (bytes.length === 0) return {};
  if (/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType.trim())) {
    return firstOfEach(new URLSearchParams(bytes.toString('utf8')));
  }
  try {
    const boundary = multipartBoundary(contentType);
    if (boundary === undefined) throw new Refusal('validation.body-invalid', 'The body must be a form.');
    return firstOfEach(multipartFields(bytes, boundary));
  } catch (error) {
    if (error instanceof MultipartError) throw new Refusal('validation.body-invalid', error.message);
    throw error;
  }
}

function multipartFields(bytes: Buffer, boundary: string): [name: string, value: string][] {
  const reader = new MultipartReader(boundary);
  const fields: [string, string][] = [];
  let current: { readonly name: string; readonly chunks: Buffer[] } | undefined;
  for (const event of reader.feed(bytes)) {
    if (event.type === 'part') {
      current = event.fileName === undefined ? { name: event.name, chunks: [] } : undefined;
    } else if (event.type === 'data') {
      current?.chunks.push(event.bytes);
    } else if (current !== undefined) {
      fields.push([current.name, Buffer.concat(current.chunks).toString('utf8')]);
    }
  }
  reader.finish();
  return fields;
}

function firstOfEach(fields: Iterable<readonly [name: string, value: string]>): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (const [name, value] of fields) found[name] ??= value;
  return found;
}

/** Fingerprint of a body that is not JSON. */
export const noFingerprint = (): string => '';

/** Listens to the body. Call before the handler of the library returns. */
export function openBody(
  exchange: Exchange,
  response: ResponseWriter,
  { clock, pool, spoolFolder }: RequestContextOptions,
  requestId: string,
): BodyReader {
  return new BodyReader(exchange, response, {
    clock,
    pool,
    spoolPath: () => join(spoolFolder, `sealwright-${requestId.replace(':', '-')}.spool`),
  });
}

/** Reads and checks a form or JSON. */
export function readBody(
  { route, contentType, contentLength }: ReceivedRequest,
  { params, identity }: { params: unknown; identity: unknown },
  stream: BodyReader,
  conventions: Conventions,
): Promise<CheckedBody> {
  if (route.bodyPolicy !== 'form')
    return conventions.readJson({ route, params, identity, stream, contentType, contentLength });
  return readForm(stream, contentType, route.maxBodyBytes).then((fields) => ({
    value: conventions.check(route.body, fields, route.invalidInput.body),
    fingerprint: noFingerprint,
  }));
}
