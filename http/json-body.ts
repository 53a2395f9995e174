/**
 * Small JSON bodies, read whole.
 */
import { Refusal } from '../machines/refusals.ts';

/** Most bytes of a JSON body; the largest that means anything is a reason of 512 characters. */
const JSON_BYTES = 16 * 1024;

/**
 * The object in the body; an empty body is an empty object.
 * Refusals: `validation.body-invalid` for anything but a JSON object, or more than 16 KiB.
 */
export async function readJson(body: AsyncIterable<Buffer>, contentType: string): Promise<object> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > JSON_BYTES) {
      throw new Refusal('validation.body-invalid', `The body exceeds ${JSON_BYTES} bytes.`);
    }
    chunks.push(Buffer.from(chunk));
  }
  if (length === 0) return {};
  if (contentType !== '' && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType.trim())) {
    throw new Refusal('validation.body-invalid', 'The body must be application/json.');
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new Refusal('validation.body-invalid', 'The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('validation.body-invalid', 'The body must be a JSON object.');
  }
  return value;
}
