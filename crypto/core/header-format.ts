/**
 * Detects the format of a file from the structure of its first bytes: the one place for the command line, both APIs,
 * uploads and pages.
 */
import type { ValidationReport } from './validation-report.ts';

/** Bytes of a file that `formatOfHeader` needs. Source: PDF reference, Annex H: the header is in the first 1024 bytes. */
export const HEADER_BYTES = 1024;

const PDF_HEADER = Buffer.from('%PDF-', 'latin1');

/**
 * Undefined for a file without a signature format. Forms that are recognised at the first byte come before the header
 * of a PDF, which may stand anywhere in the first kilobyte, and so in the content of a signature.
 * @param head first bytes of the file
 */
export function formatOfHeader(head: Buffer): ValidationReport['format'] | undefined {
  if (head.subarray(0, PDF_HEADER.length).equals(PDF_HEADER)) return 'Pades';
  if (head.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return 'Asic';
  if (isCmsHeader(head)) return 'Cades';
  if (isXmlHeader(head)) return 'Xades';
  if (head.includes(PDF_HEADER)) return 'Pades';
  return head[0] === 0x30 || head.includes('-----BEGIN') ? 'Cades' : undefined;
}

/** Starts of structures that sign no file, within their outermost SEQUENCE, in hexadecimal. */
const DER_FORMS: readonly (readonly [start: RegExp, name: string])[] = [
  // EvidenceRecord ::= SEQUENCE { version INTEGER { v1(1) }, digestAlgorithms SEQUENCE OF … } (RFC 4998 §3.1).
  [/^02010130/, 'an evidence record'],
  // RFC 7292 §4, RFC 6960 §4.2.1, RFC 5958 §2, RFC 8017 §A.1.2, RFC 5915 §3, RFC 2986 §4.
  [/^02010330/, 'a store of keys (PKCS #12)'],
  [/^0a01/, 'an OCSP response'],
  [/^(?:020100(?:30|02)|02010104)/, 'a private key'],
  [/^30(?:[0-7].|8(?:1..|2.{4}|3.{6}))02010030/, 'a request for a certificate'],
];

/** Returns the name of a form of signature, proof or key that is recognised and not evaluated; for people. */
export function unsupportedForm(head: Buffer): string | undefined {
  const text = head.toString('latin1');
  const json = text.slice(startOfText(text));
  // JWS in compact form, and in JSON with one or several signatures (RFC 7515 §7; ETSI TS 119 182-1).
  if (/^eyJ[\w-]*\.[\w-]*\.[\w-]+/.test(json)) return 'a JSON signature';
  if (/^\{/.test(json) && /"(?:signatures|protected|payload)"\s*:/.test(json)) return 'a JSON signature';
  const [mail = ''] = MIME_HEAD.exec(text) ?? [];
  if (SIGNED_MAIL.test(mail)) return 'a signed mail, whose part smime.p7s is the signature';
  const label = PEM_LABEL.test(text) ? undefined : OTHER_PEM.exec(text)?.[1];
  if (label !== undefined && !label.endsWith('CERTIFICATE')) return `a file of the type ${label}`;
  if (head[0] !== 0x30) return undefined;
  const start = (head[1] ?? 0) < 0x80 ? 2 : 2 + ((head[1] ?? 0) & 0x7f);
  const inside = head.toString('hex', start, start + 10);
  return DER_FORMS.find(([form]) => form.test(inside))?.[1];
}

/** Most layers of Base64 around a signature. */
export const MAX_ENCODINGS = 3;

/** PEM labels of CMS: the one of RFC 7468 §8, and the older ones in wide use. Other text may stand before (§2). */
const PEM_LABEL =
  /(?:^(?:\u00ef\u00bb\u00bf)?|\n)[ \t]*-----BEGIN (PKCS7|CMS|PKCS #7 SIGNED DATA)-----[ \t]*\r?\n/;

/** PEM and the text forms that follow it, such as those of OpenPGP. */
const OTHER_PEM = /(?:^|\n)-----BEGIN ([A-Z][A-Z0-9 ]{2,40})-----/;
const SIGNED_MAIL = /^content-type:[ \t]*multipart\/signed\b/im;

/** The head of a MIME entity whose body is a signature in Base64 (RFC 8551 §3.5.2), up to the empty line. */
const MIME_HEAD = /^(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t]+\S[^\n]*\n)*)+\r?\n/;
const MIME_TYPE = /^content-type:[ \t]*application\/(?:x-)?pkcs7-mime\b/im;
const MIME_ENCODING = /^content-transfer-encoding:[ \t]*base64[ \t\r]*$/im;

/** Encoding of a signature as text: what stands before the Base64, and what ends it. */
export interface TextEncoding {
  readonly form: 'pem' | 'base64' | 'mime';
  /** Offset of the first character of Base64. */
  readonly start: number;
  /** Other text stands before the label of PEM. */
  readonly hasTextBefore: boolean;
}

/** Undefined for other files. @param head first `HEADER_BYTES` of the file */
export function textEncodingOf(head: Buffer, layers = MAX_ENCODINGS): TextEncoding | undefined {
  if (isDerHeader(head)) return undefined;
  const text = head.toString('latin1');
  const pem = PEM_LABEL.exec(text);
  if (pem !== null) {
    const hasTextBefore = startOfText(text) < pem.index;
    return { form: 'pem', start: pem.index + pem[0].length, hasTextBefore };
  }
  const [mime] = MIME_HEAD.exec(text) ?? [];
  if (mime !== undefined && MIME_TYPE.test(mime) && MIME_ENCODING.test(mime)) {
    return { form: 'mime', start: mime.length, hasTextBefore: false };
  }
  const start = startOfText(text);
  return isBase64Cms(text.slice(start), layers) ? { form: 'base64', start, hasTextBefore: false } : undefined;
}

function isBase64Cms(text: string, layers: number): boolean {
  const characters = text.replace(/\s+/g, '');
  if (layers === 0 || !/^[A-Za-z0-9+/]{20,}={0,2}$/.test(characters)) return false;
  const decoded = Buffer.from(characters.slice(0, characters.length & ~3), 'base64');
  return isDerHeader(decoded) || textEncodingOf(decoded, layers - 1) !== undefined;
}

/** True for the first bytes of a CMS structure, in DER or BER, or as text without other text before it. */
export function isCmsHeader(head: Buffer): boolean {
  if (isDerHeader(head)) return true;
  const encoding = textEncodingOf(head);
  if (encoding?.form !== 'pem') return encoding !== undefined;
  const text = head.toString('latin1');
  return text.startsWith('-----BEGIN', startOfText(text));
}

/** Arcs of content types, with tag and length: `1.2.840.113549.1.7.x` (PKCS #7), `1.2.840.113549.1.9.16.1.x` (S/MIME). */
const CONTENT_TYPES = ['06092a864886f70d0107', '060b2a864886f70d01091001'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

/** ContentInfo ::= SEQUENCE { contentType OBJECT IDENTIFIER, … }, with a length of any form (RFC 5652 §3). */
function isDerHeader(head: Buffer): boolean {
  const [tag, length = 0] = head;
  if (tag !== 0x30) return false;
  const start = length < 0x80 ? 2 : 2 + (length & 0x7f);
  return CONTENT_TYPES.some((type) => head.subarray(start, start + type.length).equals(type));
}

function isXmlHeader(head: Buffer): boolean {
  // UTF-16 in either byte order.
  if (/^\xfe\xff(?:\0\s)*\0</.test(head.toString('latin1'))) return true;
  if (/^\xff\xfe(?:\s\0)*<\0/.test(head.toString('latin1'))) return true;
  const text = head.toString('latin1');
  return text[startOfText(text)] === '<';
}

/** Offset behind a byte order mark of UTF-8 and white space. */
function startOfText(text: string): number {
  return /^(?:\u00ef\u00bb\u00bf)?\s*/.exec(text)?.[0].length ?? 0;
}
