/**
 * JSON bodies as clients of the portal send them.
 *
 * Source: portal-gaps §1 row 1.
 */
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { readWhole } from '../json-body.ts';

/** Most bytes of a JSON body; fifty documents with thirty participants and their marks need less than one MiB. */
const JSON_BYTES = 8 * 1024 * 1024;

/** Lists in lists; requests need seven. What is deeper makes every later step that descends into it recurse. */
const DEEPEST = 64;

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
 * The object in a body; an empty body is an empty object.
 * Refusals: `UnsupportedMediaType`, `PayloadTooLarge`, `BadRequest`.
 */
export async function readPortalJson(body: AsyncIterable<Buffer>, head: BodyHead): Promise<object> {
  const tooLarge = () => new PortalRefusal('PayloadTooLarge', `At most ${JSON_BYTES} bytes are accepted.`);
  if (Number(head.contentLength) > JSON_BYTES) throw tooLarge();
  const bytes = await readWhole(body, JSON_BYTES, tooLarge);
  if (bytes.length === 0) return {};
  requireJsonType(head.contentType);
  if (depthOf(bytes) > DEEPEST) throw new PortalRefusal('BadRequest', 'The JSON is nested too deeply.');
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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** How deep lists and objects stand in each other; of text that is not JSON, some number. */
function depthOf(bytes: Buffer): number {
  let depth = 0;
  let deepest = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) inText = !inText;
    else if (inText) {
      if (byte === BACKSLASH) at += 1;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return deepest;
}
