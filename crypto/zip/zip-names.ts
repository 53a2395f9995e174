/** Names that members of a container may have: unambiguous for every reader and inside the container's folder. */
import { isUtf8 } from 'node:buffer';
import { ZipError } from './zip-error.ts';

/** Length limit of a name, in bytes. */
const MAX_NAME_LENGTH = 1024;

/**
 * Decodes a member's name; a name with a trailing `/` is a folder.
 * @param saysUtf8 whether the member says that its name is UTF-8; others may have a code page (APPNOTE, D.1), which nothing names
 * @throws {ZipError} `unsafe-name`, `unsupported`
 */
export function nameOf(bytes: Buffer, saysUtf8: boolean): string {
  const name = bytes.toString('utf8');
  const isRead = isUtf8(bytes);
  if (!isRead && !saysUtf8) {
    const message = 'is written in a code page that it does not name: programs read other letters.';
    throw new ZipError('unsupported', `The name "${printableName(name)}" ${message}`);
  }
  const fault = isRead ? nameFault(name) : 'it is not UTF-8';
  if (fault === undefined) return name;
  throw new ZipError('unsafe-name', `The name "${printableName(name)}" is not accepted: ${fault}.`);
}

/** Reason why a name is refused, as the end of a sentence. */
export function nameFault(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (Buffer.byteLength(name) > MAX_NAME_LENGTH) return `it has more than ${MAX_NAME_LENGTH} bytes`;
  if (name.includes('\\')) return 'it has a backslash';
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/u.test(name)) return 'it has invisible characters';
  if (name.startsWith('/')) return 'it is absolute';
  if (/^[A-Za-z]:/.test(name)) return 'it names a drive';
  const segments = name.replace(/\/$/, '').split('/');
  if (segments.some((segment) => segment === '')) return 'it has an empty part';
  if (segments.some((segment) => segment === '.' || segment === '..')) return 'it leaves its folder';
  return undefined;
}

/** Normalises case and composition, so that names equal on some file system become equal. */
export function foldedName(name: string): string {
  return name.normalize('NFKC').toLowerCase().toUpperCase().replace(/\/$/, '');
}

/** Shortens a name from the file for messages. */
export function printableName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?');
  return plain.length > 100 ? `${plain.slice(0, 100)}…` : plain;
}

/** Encodes a member's name as a URI reference (RFC 3986 §3.3), relative to the container's root. */
export function uriOfName(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/');
}

/**
 * Resolves a reference to a member name (RFC 3986 §5.2.4: `./a` is `a`); undefined when it leaves the container or names
 * a part of a member.
 */
export function nameOfUri(uri: string | undefined): string | undefined {
  if (uri === undefined || /^[A-Za-z][A-Za-z0-9+.-]*:|^\/|[?#\\]/.test(uri)) return undefined;
  try {
    const name = decodeURIComponent(uri.replace(/(^|\/)(?:\.\/)+/g, '$1'));
    return nameFault(name) === undefined ? name : undefined;
  } catch {
    return undefined;
  }
}
