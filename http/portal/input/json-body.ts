/**
 * Reads JSON bodies in the forms that clients of the portal send.
 *
 * Source: docs/portal-values.md §1 row 1.
 */
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { readWhole } from '../../core/body/json-body.ts';

/**
 * Limits of a JSON text, checked while it arrives and before it is parsed: the nesting depth (RFC 8259 §9 lets a
 * parser limit it) and the number of values.
 */
interface JsonBounds {
  /** Maximum nesting depth of lists and objects. */
  readonly depth: number;
  /** Maximum number of values, members and items on all levels. */
  readonly values: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Call with chunks of the text in order, split anywhere; for text that is not JSON the counts are arbitrary. */
class JsonScan {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 1;
  #inText = false;
  /** The last chunk ended with a backslash inside a text. */
  #escaped = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** The exceeded limit; undefined while there is none. */
  feed(bytes: Uint8Array): keyof JsonBounds | undefined {
    const { depth: deepest, values: most } = this.#bounds;
    let depth = this.#depth;
    let values = this.#values;
    let inText = this.#inText;
    let at = this.#escaped ? 1 : 0;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) inText = !inText;
      else if (inText) {
        if (byte === BACKSLASH) at += 1;
      } else if (byte === COMMA) values += 1;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        depth += 1;
        values += 1;
        if (depth > deepest) return 'depth';
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
      if (values > most) return 'values';
    }
    this.#escaped = at > bytes.length;
    this.#depth = depth;
    this.#values = values;
    this.#inText = inText;
    return undefined;
  }
}

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
  { maxBytes, maxValues }: { maxBytes: number; maxValues: number },
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
