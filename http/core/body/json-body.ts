/** Small bodies, read whole. */
import { hash } from 'node:crypto';
import type { RefusalCode } from '../../../contracts/batch/refusals.ts';
import { Refusal } from '../../../machines/refusals.ts';

/** Maximum size of a small body, bytes; the largest useful one is a reason of 512 characters. */
export const SMALL_BODY_BYTES = 16 * 1024;

/** Reads a whole body. Refusals: `tooLarge` for more than 16 KiB. */
function readSmall(
  body: AsyncIterable<Buffer>,
  tooLarge: RefusalCode = 'validation.body-invalid',
): Promise<Buffer> {
  return readWhole(body, SMALL_BODY_BYTES, () => {
    return new Refusal(tooLarge, `The body exceeds ${SMALL_BODY_BYTES} bytes.`);
  });
}

/**
 * Reads a whole body; throws the result of `tooLarge` for more than `maxBytes`, and errors of `watch` for a chunk.
 */
export async function readWhole(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLarge: () => Error,
  watch?: (chunk: Buffer) => void,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    watch?.(chunk);
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

/**
 * Reads the JSON object in a body; an empty body is an empty object.
 * Refusals: `validation.body-invalid` for anything but a JSON object, `tooLarge` for more than 16 KiB.
 */
export async function readJson(
  body: AsyncIterable<Buffer>,
  contentType: string,
  tooLarge: RefusalCode = 'validation.body-invalid',
): Promise<object> {
  const bytes = await readSmall(body, tooLarge);
  if (bytes.length === 0) return {};
  if (contentType !== '' && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType.trim())) {
    throw new Refusal('validation.body-invalid', 'The body must be application/json.');
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal('validation.body-invalid', 'The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('validation.body-invalid', 'The body must be a JSON object.');
  }
  return value;
}

/** SHA-256 of a JSON value, hex; members count in the order in which they were sent. */
export function fingerprintOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value));
}
