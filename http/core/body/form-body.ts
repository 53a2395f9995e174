/**
 * Small forms, read whole: requests of HTML forms and command-line clients.
 *
 * Source: docs/batch-values.md §3, `POST /api/auth/login`; URL Standard, "application/x-www-form-urlencoded"; RFC 7578.
 */
import { Refusal } from '../../../machines/refusals.ts';
import { readSmall } from './json-body.ts';
import { MultipartError, MultipartReader, multipartBoundary } from './multipart.ts';

/**
 * Field name → value, the first of each name; parts with a file name are omitted. An empty body has no fields.
 * Refusals: `validation.body-invalid` for any other content type, a broken form, or more than 16 KiB.
 */
export async function readForm(
  body: AsyncIterable<Buffer>,
  contentType: string,
): Promise<Record<string, string>> {
  const bytes = await readSmall(body);
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
