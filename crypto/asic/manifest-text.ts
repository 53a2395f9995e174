/**
 * Writes the XML files of a container other than its signatures (EN 319 162-1 Annex A.4; OpenDocument 1.2 part 3 §4).
 */
import type { DigestName } from '../core/types.ts';
import { DIGEST_URI, DS } from '../xades/elements/identifiers.ts';
import { mimeTypeOf, mimeTypeText } from '../xades/elements/mime-type.ts';
import { uriOfName } from '../zip/zip-names.ts';
import { type AsicKind, MIME_TYPE } from './container-kinds.ts';

export const ASIC = 'http://uri.etsi.org/02918/v1.2.1#';
const OPEN_DOCUMENT = 'urn:oasis:names:tc:opendocument:xmlns:manifest:1.0';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** One member that a manifest lists. */
export interface ListedMember {
  readonly name: string;
  /** @default by the extension of the name */
  readonly mimeType?: string | undefined;
  readonly digest: Buffer;
  /** True for the preceding archive manifest (A.4, `Rootfile`). */
  readonly isRoot?: boolean;
}

export interface ManifestRequest {
  /** Member with the signature or time-stamp of this manifest. */
  readonly proof: { readonly name: string; readonly mimeType: string };
  /** Digest algorithm of the listed members. */
  readonly digest: DigestName;
  readonly members: readonly ListedMember[];
}

/**
 * Builds ASiCManifest or ASiCArchiveManifest.
 *
 * ASiCManifest        = SigReference { @URI, @MimeType? }, DataObjectReference+
 * DataObjectReference = ds:DigestMethod, ds:DigestValue, @URI, @MimeType?, @Rootfile?
 *
 * @throws {CryptoError} `request.invalid` for an invalid media type
 */
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

/** Builds the signature file: asic:XAdESSignatures = ds:Signature+ (Annex A.5). */
export function signaturesText(signature: string): string {
  return `${DECLARATION}<asic:XAdESSignatures xmlns:asic="${ASIC}">${signature}</asic:XAdESSignatures>`;
}

/** Builds META-INF/manifest.xml, from which readers of ASiC-E with XAdES take the media types. */
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
