/** Reads ASiCManifest and ASiCArchiveManifest (EN 319 162-1 Annex A.4). */

import { CryptoError, type DigestName } from '../core/types.ts';
import type { SubIndication } from '../core/validation-report.ts';
import type { HashName } from '../x509/signature-algorithms.ts';
import { DIGEST_URI, DS } from '../xades/elements/identifiers.ts';
import { mimeTypeOf, mimeTypeText } from '../xades/elements/signature-text.ts';
import { hashOf } from '../xades/validation/algorithms.ts';
import {
  attributeNamed,
  decodeXml,
  type Name,
  readXml,
  type StartTag,
  UnreadXml,
  type XmlListener,
} from '../xml/index.ts';
import { nameOfUri, uriOfName } from '../zip/zip-names.ts';
import { type AsicKind, MIME_TYPE } from './container.ts';

/** Size limit of one manifest, in bytes. */
export const MAX_MANIFEST = 16 << 20;

/** One DataObjectReference. */
interface ManifestReference {
  readonly uri: string;
  /** Hash function; undefined for an unknown algorithm. */
  readonly hash: HashName | undefined;
  /** URI of the hash function. */
  readonly algorithm: string;
  readonly digest: Buffer;
  /** As the manifest states it. */
  readonly mimeType: string | undefined;
}

export interface Manifest {
  /** URI of the signature or time-stamp of the manifest. */
  readonly proof: string;
  readonly references: readonly ManifestReference[];
  /** True when a comment or an instruction cuts a digest. */
  readonly isCut: boolean;
}

/** Reason why a manifest is not accepted, as the end of a sentence. */
export interface ManifestRefusal {
  readonly reason: string;
  /** GENERIC for what is not read, FORMAT_FAILURE for what the format forbids. */
  readonly subIndication: SubIndication;
}

/**
 * Reads a manifest.
 *
 * ASiCManifest        = SigReference { @URI, @MimeType? }, DataObjectReference+, ASiCManifestExtensions?
 * DataObjectReference = ds:DigestMethod, ds:DigestValue, DataObjectReferenceExtensions?, @URI, @MimeType?, @Rootfile?
 */
export function readManifest(bytes: Buffer): Manifest | ManifestRefusal {
  try {
    const { utf8 } = decodeXml(bytes);
    const reader = new ManifestReader(utf8);
    readXml(utf8, reader);
    return reader.manifest();
  } catch (error) {
    const isUnread = error instanceof UnreadXml || error instanceof UnreadExtension;
    const subIndication = isUnread ? 'GENERIC' : 'FORMAT_FAILURE';
    if (error instanceof ManifestFault || error instanceof CryptoError)
      return { reason: error.message.replace(/\.$/, ''), subIndication };
    throw error;
  }
}

class ManifestFault extends Error {}

/** An extension that must be understood. */
class UnreadExtension extends ManifestFault {}

interface OpenReference {
  readonly uri: string;
  readonly mimeType: string | undefined;
  algorithm: string | undefined;
  digest: string | undefined;
}

/** Parent of each element; other elements are refused, except extensions. */
const PARENT: { readonly [local: string]: string } = {
  SigReference: 'ASiCManifest',
  DataObjectReference: 'ASiCManifest',
  ASiCManifestExtensions: 'ASiCManifest',
  DataObjectReferenceExtensions: 'DataObjectReference',
  DigestMethod: 'DataObjectReference',
  DigestValue: 'DataObjectReference',
};

class ManifestReader implements XmlListener {
  readonly #utf8: Buffer;
  readonly #path: string[] = [];
  readonly #references: ManifestReference[] = [];
  /** Names, or URIs that name no member. */
  readonly #listed = new Set<string>();
  #isCut = false;
  #proof: string | undefined;
  #open: OpenReference | undefined;
  #text: string | undefined;

  constructor(utf8: Buffer) {
    this.#utf8 = utf8;
  }

  manifest(): Manifest {
    if (this.#proof === undefined) throw new ManifestFault('it names no signature');
    if (this.#references.length === 0) throw new ManifestFault('it lists nothing');
    return { proof: this.#proof, references: this.#references, isCut: this.#isCut };
  }

  startElement(tag: StartTag): void {
    const { local } = tag.name;
    const parent = this.#path.at(-1);
    this.#path.push(local);
    if (this.#inExtension()) {
      // Extensions can change the meaning of their siblings; a critical one must be understood and is refused.
      if (!/^(false|0)?$/.test(attributeNamed(this.#utf8, tag, 'Critical') ?? ''))
        throw new UnreadExtension('it has a critical extension');
      return;
    }
    const namespace = local === 'DigestMethod' || local === 'DigestValue' ? DS : ASIC;
    if (tag.namespace.uri !== namespace || parent !== (this.#path.length === 1 ? undefined : PARENT[local])) {
      throw new ManifestFault(`${local} is not expected there`);
    }
    this.#start(local, tag);
  }

  endElement({ local }: Name): void {
    if (!this.#inExtension()) {
      if (local === 'DigestValue' && this.#open !== undefined) this.#open.digest = this.#text;
      if (local === 'DataObjectReference') this.#finish();
      this.#text = undefined;
    }
    this.#path.pop();
  }

  text(start: number, end: number): void {
    if (this.#text !== undefined) this.#text += this.#utf8.toString('latin1', start, end);
  }

  character(code: number): void {
    if (this.#text !== undefined) this.#text += String.fromCodePoint(code);
  }

  instruction(): void {
    if (this.#text !== undefined) this.#isCut = true;
  }

  comment(): void {
    this.instruction();
  }

  #inExtension(): boolean {
    return (
      this.#path.some((local, depth) => depth > 0 && local.endsWith('Extensions')) && this.#path.length > 1
    );
  }

  #start(local: string, tag: StartTag): void {
    const attribute = (name: string): string => {
      const value = attributeNamed(this.#utf8, tag, name);
      if (value === undefined) throw new ManifestFault(`${local} has no ${name}`);
      return value;
    };
    if (this.#path.length === 1 && local !== 'ASiCManifest')
      throw new ManifestFault('its root is another element');
    if (local === 'SigReference') {
      if (this.#proof !== undefined) throw new ManifestFault('it names two signatures');
      this.#proof = attribute('URI');
    } else if (local === 'DataObjectReference') {
      const mimeType = attributeNamed(this.#utf8, tag, 'MimeType');
      this.#open = { uri: attribute('URI'), mimeType, algorithm: undefined, digest: undefined };
    } else if (local === 'DigestMethod' && this.#open !== undefined) {
      if (this.#open.algorithm !== undefined) throw new ManifestFault('a reference has two digest methods');
      this.#open.algorithm = attribute('Algorithm');
    } else if (local === 'DigestValue') {
      if (this.#open?.digest !== undefined) throw new ManifestFault('a reference has two digests');
      this.#text = '';
    }
  }

  #finish(): void {
    const { uri = '', mimeType, algorithm, digest } = this.#open ?? {};
    const base64 = digest?.replace(/[ \t\r\n]+/g, '') ?? '';
    if (algorithm === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
      throw new ManifestFault('a reference has no digest');
    }
    const name = nameOfUri(uri) ?? uri;
    if (this.#listed.has(name)) throw new ManifestFault('it lists a member twice');
    this.#listed.add(name);
    this.#references.push({
      uri,
      mimeType,
      algorithm,
      hash: hashOf(algorithm),
      digest: Buffer.from(base64, 'base64'),
    });
    this.#open = undefined;
  }
}

/**
 * Writes the XML files of a container other than its signatures (EN 319 162-1 Annex A.4; OpenDocument 1.2 part 3 §4).
 */
const ASIC = 'http://uri.etsi.org/02918/v1.2.1#';
export const OPEN_DOCUMENT = 'urn:oasis:names:tc:opendocument:xmlns:manifest:1.0';

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

interface ManifestRequest {
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
