/**
 * Reads JSON bodies in the forms that clients of the portal send.
 *
 * Source: docs/portal-values.md §1 row 1.
 */
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { readWhole } from '../../core/body/json-body.ts';
import { type JsonBounds, JsonScan } from '../../core/body/json-scan.ts';

/** Maximum nesting depth of lists and objects; requests need seven. */
const MAX_DEPTH = 64;

const JSON_TYPE = /^(?:application\/json|text\/json|application\/[^\s;/]+\+json)$/;

export interface BodyHead {
  readonly contentType: string;
  readonly contentLength: string;
}

/** Refusals: `UnsupportedMediaType` for a media type that is not JSON, or not in UTF-8. */
export function requireJsonType(contentType: string): void {
  if (contentType === '') return;
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (!JSON_TYPE.test(type)) throw new PortalRefusal('UnsupportedMediaType', 'The body must be JSON.');
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !/^"?(?:utf-?8|us-ascii)"?$/.test(charset)) {
    throw new PortalRefusal('UnsupportedMediaType', 'The body must be in UTF-8.');
  }
}

/**
 * Reads a body that may be JSON, within its limits; stops at the first exceeded limit.
 * Refusals: `UnsupportedMediaType`, `PayloadTooLarge`, `BadRequest`.
 */
export async function readJsonBytes(
  body: AsyncIterable<Buffer>,
  head: BodyHead,
  { maxBytes, maxValues }: { readonly maxBytes: number; readonly maxValues: number },
): Promise<Buffer> {
  const tooLarge = () => new PortalRefusal('PayloadTooLarge', `At most ${maxBytes} bytes are accepted.`);
  if (Number(head.contentLength) > maxBytes) throw tooLarge();
  const scan = new JsonScan({ depth: MAX_DEPTH, values: maxValues });
  const bytes = await readWhole(body, maxBytes, tooLarge, (chunk) => {
    const exceeded = scan.feed(chunk);
    if (exceeded !== undefined) throw new PortalRefusal('BadRequest', EXCEEDED[exceeded]);
  });
  if (bytes.length > 0) requireJsonType(head.contentType);
  return bytes;
}

const EXCEEDED: { readonly [bound in keyof JsonBounds]: string } = {
  depth: 'The JSON is nested too deeply.',
  values: 'The JSON holds too many values.',
};

/** Parses the object in a body; an empty body is an empty object. Refusals: `BadRequest`. */
export function parseJsonObject(bytes: Uint8Array): object {
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new PortalRefusal('BadRequest', 'The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PortalRefusal('BadRequest', 'The body must be a JSON object.');
  }
  return value;
}
