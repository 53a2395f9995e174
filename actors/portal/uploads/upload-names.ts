/** Sanitizes file names and content types of callers for storage and response headers. Source: docs/portal-values.md §4. */

import { plainLine, withoutControls } from '../../../contracts/plain-text.ts';

/** Longest file name kept, UTF-16 units. */
const MAX_NAME = 255;
const MAX_TYPE = 127;
const UNKNOWN_TYPE = 'application/octet-stream';

/** `type/subtype` of RFC 6838 §4.2. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/;

/** The last segment of a file name, in NFC, as plain text; `file` for nothing. */
export function cleanName(given: string): string {
  const name = cleanTitle(given.split(/[/\\]/).at(-1) ?? '');
  return name === '.' || name === '..' ? 'file' : name;
}

/** A name for people, which is no path: `Invoice 03/2026` keeps its slash. */
export function cleanTitle(given: string): string {
  const title = plainLine(plainLine(withoutControls(given)).slice(0, MAX_NAME));
  return title === '' ? 'file' : title;
}

/** A MIME type without its parameters, in lower case; what is none becomes `application/octet-stream`. */
export function cleanContentType(given: string): string {
  const type = (given.split(';')[0] ?? '').trim().toLowerCase();
  return type.length <= MAX_TYPE && MEDIA_TYPE.test(type) ? type : UNKNOWN_TYPE;
}
