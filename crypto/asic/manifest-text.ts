/** The XML files of a container besides its signatures, written in one spelling (EN 319 162-1 Annex A.4; OpenDocument 1.2 part 3 §4). */
import type { DigestName } from '../types.ts';
import { DIGEST_URI, DS } from '../xades/identifiers.ts';
import { mimeTypeOf, mimeTypeText } from '../xades/mime-type.ts';
import { type AsicKind, MIME_TYPE } from './container-kinds.ts';
import { uriOfName } from './zip-names.ts';

export const ASIC = 'http://uri.etsi.org/02918/v1.2.1#';
const OPEN_DOCUMENT = 'urn:oasis:names:tc:opendocument:xmlns:manifest:1.0';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** One member that a manifest lists. */
export interface ListedMember {
  readonly name: string;
  /** @default by the extension of the name */
  readonly mimeType?: string | undefined;
  readonly digest: Buffer;
  /** The manifest before this one, which this one goes on from (A.4, `Rootfile`). */
  readonly isRoot?: boolean;
}

export interface ManifestRequest {
  /** The member that signs or time-stamps this manifest. */
  readonly proof: { readonly name: string; readonly mimeType: string };
  /** Of the listed digests. */
  readonly digest: DigestName;
  readonly members: readonly ListedMember[];
}

/** ASiCManifest and ASiCArchiveManifest. @throws {CryptoError} `request.invalid` for a media type that is none */
export function manifestText({ proof, digest, members }: ManifestRequest): string {
  const listed = members.map(
    ({ name, mimeType, digest: value, isRoot }) =>
      `<asic:DataObjectReference MimeType="${typeText(name, mimeType)}"${isRoot === true ? ' Rootfile="true"' : ''} ` +
      `URI="${attributeText(uriOfName(name))}">` +
      `<ds:DigestMethod Algorithm="${DIGEST_URI[digest]}"></ds:DigestMethod>` +
      `<ds:DigestValue>${value.toString('base64')}</ds:DigestValue></asic:DataObjectReference>`,
  );
  return (
    `${DECLARATION}<asic:ASiCManifest xmlns:asic="${ASIC}" xmlns:ds="${DS}">` +
    `<asic:SigReference MimeType="${proof.mimeType}" URI="${attributeText(uriOfName(proof.name))}">` +
    `</asic:SigReference>${listed.join('')}</asic:ASiCManifest>`
  );
}

/** What stands around the signatures of one file. */
export function signaturesText(signature: string): string {
  return `${DECLARATION}<asic:XAdESSignatures xmlns:asic="${ASIC}">${signature}</asic:XAdESSignatures>`;
}

/** META-INF/manifest.xml, which readers of ASiC-E with XAdES look the media types up in. */
export function openDocumentText(
  kind: AsicKind,
  members: readonly { readonly name: string; readonly mimeType?: string | undefined }[],
): string {
  const entry = (path: string, type: string): string =>
    `<manifest:file-entry manifest:full-path="${attributeText(path)}" manifest:media-type="${type}"></manifest:file-entry>`;
  const entries = members.map(({ name, mimeType }) => entry(name, typeText(name, mimeType)));
  return (
    `${DECLARATION}<manifest:manifest xmlns:manifest="${OPEN_DOCUMENT}" manifest:version="1.2">` +
    `${entry('/', MIME_TYPE[kind])}${entries.join('')}</manifest:manifest>`
  );
}

function typeText(name: string, mimeType: string | undefined): string {
  return mimeType === undefined ? mimeTypeOf(name) : mimeTypeText(mimeType);
}

function attributeText(text: string): string {
  return text.replace(/[&<"]/g, (found) => ESCAPED[found] ?? '');
}

const ESCAPED: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '"': '&quot;' };
