/** Which names the members of a container may have: those that mean the same to every reader and stay inside their folder. */
import { isUtf8 } from 'node:buffer';
import { ZipFault } from './zip-fault.ts';

/** Bytes of one name. */
const MAX_NAME_LENGTH = 1024;

/**
 * A member's name; one that ends in `/` is a folder.
 * @throws {ZipFault} `unsafe-name`
 */
export function nameOf(bytes: Buffer): string {
  const name = bytes.toString('utf8');
  const fault = isUtf8(bytes) ? nameFault(name) : 'it is not UTF-8';
  if (fault === undefined) return name;
  throw new ZipFault('unsafe-name', `The name "${shownName(name)}" is not accepted: ${fault}.`);
}

/** Why a name is not accepted, as the end of a sentence. */
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

/** The same for names that some file system or reader takes for the same. */
export function foldedName(name: string): string {
  return name.normalize('NFKC').toLowerCase().toUpperCase().replace(/\/$/, '');
}

/** At most so much of a name from the file, for messages. */
export function shownName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?');
  return plain.length > 100 ? `${plain.slice(0, 100)}…` : plain;
}

/** A member's name as a reference of a signature writes it (RFC 3986 §3.3), relative to the container's root. */
export function uriOfName(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/');
}

/** The member that a reference names; undefined for anything that leads out of the container or into a part of a member. */
export function nameOfUri(uri: string | undefined): string | undefined {
  if (uri === undefined || /^[A-Za-z][A-Za-z0-9+.-]*:|^\/|[?#\\]/.test(uri)) return undefined;
  try {
    const name = decodeURIComponent(uri);
    return nameFault(name) === undefined ? name : undefined;
  } catch {
    return undefined;
  }
}
