/**
 * Small bodies, read whole.
 */
import { Refusal } from '../machines/refusals.ts';

/** Most bytes of a small body; the largest that means anything is a reason of 512 characters. */
const SMALL_BODY_BYTES = 16 * 1024;

/** All bytes of a body. Refusals: `validation.body-invalid` for more than 16 KiB. */
export function readSmall(body: AsyncIterable<Buffer>): Promise<Buffer> {
  return readWhole(body, SMALL_BODY_BYTES, () => {
    return new Refusal('validation.body-invalid', `The body exceeds ${SMALL_BODY_BYTES} bytes.`);
  });
}

/** All bytes of a body; throws what `tooLarge` gives for more than `maxBytes`. */
export async function readWhole(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

/**
 * The object in the body; an empty body is an empty object.
 * Refusals: `validation.body-invalid` for anything but a JSON object, or more than 16 KiB.
 */
export async function readJson(body: AsyncIterable<Buffer>, contentType: string): Promise<object> {
  const bytes = await readSmall(body);
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
