/** The certificate that a signature is bound to (EN 319 132-1 §5.2.2, EN 319 102-1 §5.2.3). */
import { createHash } from 'node:crypto';
import { Asn1Error, childrenOf, encoded, enter, readWhole, TAG } from '../../asn1/read.ts';
import { type AlgorithmUse, type Finding, failed, passed, warned } from '../../core/validation-report.ts';
import { type Certificate, serialOctets } from '../../x509/certificate.ts';
import { attributeText, nameKey, nameKeyOf, readGeneralNames } from '../../x509/names.ts';
import type { HashName } from '../../x509/signature-algorithms.ts';
import { issuerSerialOf, serialText } from '../elements/signature-text.ts';
import { hashOf } from './algorithms.ts';
import type { CertificateName } from './qualifying-properties.ts';
import { printable } from './reference-data.ts';
import type { KeyInfo } from './signed-info.ts';

/** Most given certificates whose keys are tried for a signature that names none. */
const MAX_TRIED = 32;

interface BoundSigner {
  readonly certificate: Certificate | undefined;
  readonly findings: readonly Finding[];
  readonly algorithms: readonly AlgorithmUse[];
  /** A signed property names the certificate. */
  readonly bound: boolean;
}

/**
 * Selects the certificate of the signer. Where KeyInfo lacks the named one, searches `others`, further certificates of
 * the signature, and `given` ones.
 * @param name identification in the signed properties; undefined when no signed property names the certificate
 * @param fits true when a certificate's key made the signature value: selects when no signed property does
 */
export function bindSigner(
  name: CertificateName | undefined,
  keyInfo: KeyInfo,
  { others, given }: { readonly others: readonly Certificate[]; readonly given: readonly Certificate[] },
  fits: (certificate: Certificate) => boolean,
): BoundSigner {
  const candidates = [...keyInfo.certificates, ...others, ...given];
  if (name === undefined) {
    const tried = [...keyInfo.certificates, ...given.slice(0, MAX_TRIED)];
    const certificate = tried.find(fits) ?? keyInfo.certificates[0];
    if (certificate === undefined) return missing(keyInfo);
    const message =
      'No signed property names the certificate, so another one of the same key could take its place.';
    const warning: Finding = warned('certificate.binding', message);
    return { certificate, findings: [found(certificate), warning], algorithms: [], bound: false };
  }
  const hash = hashOf(name.digestMethod);
  if (hash === undefined) {
    const message = `The certificate is named with the hash function ${printable(name.digestMethod)}, which is not known.`;
    const finding = binding('failed', message, 'CRYPTO_CONSTRAINTS_FAILURE');
    return { certificate: undefined, findings: [finding], algorithms: [], bound: false };
  }
  const algorithms = [{ name: hash, where: 'digest of the signing certificate', preimage: true }];
  const certificate = candidates.find((candidate) =>
    digestOfCertificate(candidate, hash).equals(name.digest),
  );
  if (certificate === undefined || !fits(certificate)) {
    const further = candidates.find((candidate) => isFurther(candidate, name) && fits(candidate));
    if (further !== undefined)
      return { certificate: further, findings: [found(further), NOT_FIRST], algorithms, bound: true };
  }
  if (certificate === undefined) {
    const first = keyInfo.certificates[0];
    if (first === undefined) return { ...missing(keyInfo), algorithms };
    const message = 'The signed properties name a certificate that is not at hand.';
    return {
      certificate: undefined,
      findings: [binding('failed', message, 'NO_SIGNING_CERTIFICATE_FOUND')],
      algorithms,
      bound: false,
    };
  }
  return {
    certificate,
    findings: [found(certificate), ...issuerFindings(name, certificate)],
    algorithms,
    bound: true,
  };
}

/** Some programs name the certificates of the path first; all of them are signed. */
const NOT_FIRST: Finding = warned(
  'certificate.binding',
  'The certificate of the signer is not the first that the signed properties name.',
);

function isFurther(candidate: Certificate, { further }: CertificateName): boolean {
  return further.some(({ digestMethod, digest }) => {
    const hash = hashOf(digestMethod);
    return hash !== undefined && digestOfCertificate(candidate, hash).equals(digest);
  });
}

function found(certificate: Certificate): Finding {
  return passed('certificate.signer', "The signer's certificate was found.", certificate.fingerprint);
}

function missing({ keyValue, unreadable }: KeyInfo): BoundSigner {
  const why = unreadable
    ? 'The certificate in KeyInfo cannot be read.'
    : keyValue
      ? 'KeyInfo holds a bare key, which says nothing about who signed.'
      : "The signer's certificate is not at hand.";
  const finding: Finding = failed('certificate.signer', why, 'NO_SIGNING_CERTIFICATE_FOUND');
  return { certificate: undefined, findings: [finding], algorithms: [], bound: false };
}

/** Checks issuer and serial number, which must not contradict the digest. */
function issuerFindings(name: CertificateName, certificate: Certificate): Finding[] {
  const named = binding('passed', 'A signed property names the certificate.');
  const other = 'Issuer and serial in the signed properties are those of another certificate.';
  if (name.issuerSerial !== undefined) {
    const written = issuerSerialForm(name.issuerSerial, certificate);
    if (written === 'other') return [binding('failed', other, 'SIG_CONSTRAINTS_FAILURE')];
    if (written === 'same') return [named];
    return [named, warned('certificate.issuer-name', FORM_MESSAGES[written])];
  }
  if (name.issuerText === undefined) return [named];
  const serial = serialText(certificate);
  if (serial !== name.issuerText.serial.replace(/^0+(?=\d)/, '')) {
    if (!isHexadecimal(name.issuerText.serial, serial))
      return [binding('failed', other, 'SIG_CONSTRAINTS_FAILURE')];
    const message = 'The serial number in the signed properties is written in hexadecimal form.';
    return [named, warned('certificate.issuer-name', message)];
  }
  const keys = issuerKeysOfText(name.issuerText.name);
  if (keys.includes(nameKey(certificate.issuer))) return [named];
  // Not a failure: the digest identifies the certificate, and programs differ in how they write names.
  const message =
    keys.length === 0
      ? 'The name of the issuer is written so that it cannot be compared with the certificate.'
      : 'The name of the issuer in the signed properties is another one than in the certificate.';
  const detail = printable(name.issuerText.name);
  return [named, warned('certificate.issuer-name', message, detail)];
}

const FORM_MESSAGES = {
  bare: 'Issuer and serial number in the signed properties lack the wrapping that EN 319 132-1 requires.',
  unreadable:
    'Issuer and serial number in the signed properties are written so that they cannot be compared with the certificate.',
} as const;

/**
 * Compares IssuerSerialV2 with the certificate. The digest identifies the certificate, so only a contradiction fails:
 * programs write the name anew with other string types, or leave out the GeneralNames around it.
 * @param der IssuerSerial (RFC 5035 §4)
 */
function issuerSerialForm(
  der: Buffer,
  certificate: Certificate,
): 'same' | 'other' | keyof typeof FORM_MESSAGES {
  if (der.equals(issuerSerialOf(certificate.der))) return 'same';
  try {
    const fields = enter(readWhole(der), TAG.sequence);
    const names = fields.next(TAG.sequence);
    const serial = encoded(fields.next(TAG.integer));
    fields.end();
    const [first] = childrenOf(names);
    const isBare = first?.tag === TAG.set;
    const keys = isBare
      ? [nameKey(encoded(names))]
      : readGeneralNames(names).flatMap((one) => (one.kind === 'directory' ? [nameKey(one.name)] : []));
    if (!serialOctets(serial).equals(serialOctets(certificate.serial))) return 'other';
    if (keys.length === 0) return 'unreadable';
    if (!keys.includes(certificate.issuerKey)) return 'other';
    return isBare ? 'bare' : 'same';
  } catch (error) {
    if (error instanceof Asn1Error) return 'unreadable';
    throw error;
  }
}

function binding(
  status: Finding['status'],
  message: string,
  subIndication?: NonNullable<Finding['subIndication']>,
): Finding {
  return { status, type: 'certificate.binding', message, ...(subIndication && { subIndication }) };
}

/** True when the text is the number in hexadecimal form, which some programs write. */
function isHexadecimal(text: string, number: string): boolean {
  const digits = /^(?:0x)?([0-9a-f]{1,64})$/i.exec(text)?.[1];
  return digits !== undefined && BigInt(`0x${digits}`).toString() === number;
}

function digestOfCertificate({ der, fingerprint }: Certificate, hash: HashName): Buffer {
  return hash === 'sha256' ? Buffer.from(fingerprint, 'hex') : createHash(hash).update(der).digest();
}

/** Issuer names as the older SigningCertificate writes them (RFC 4514 and its dialects), for comparison only. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['cn', '2.5.4.3'],
  ['sn', '2.5.4.4'],
  ['surname', '2.5.4.4'],
  ['serialnumber', '2.5.4.5'],
  ['c', '2.5.4.6'],
  ['l', '2.5.4.7'],
  ['st', '2.5.4.8'],
  ['s', '2.5.4.8'],
  ['street', '2.5.4.9'],
  ['o', '2.5.4.10'],
  ['ou', '2.5.4.11'],
  ['t', '2.5.4.12'],
  ['title', '2.5.4.12'],
  ['postalcode', '2.5.4.17'],
  ['gn', '2.5.4.42'],
  ['g', '2.5.4.42'],
  ['givenname', '2.5.4.42'],
  ['organizationidentifier', '2.5.4.97'],
  ['e', '1.2.840.113549.1.9.1'],
  ['emailaddress', '1.2.840.113549.1.9.1'],
  ['dc', '0.9.2342.19200300.100.1.25'],
  ['uid', '0.9.2342.19200300.100.1.1'],
]);
const MAX_LENGTH = 4096;

/** True for the text of a name in DER, in either order. */
export function isNameText(text: string, name: Buffer): boolean {
  return issuerKeysOfText(text).includes(nameKey(name));
}

/**
 * Returns keys for comparison with `nameKey` of a certificate's name: the order of RFC 4514 (most specific RDN
 * first), and the reverse order that some software writes. Empty when the text is not readable.
 */
function issuerKeysOfText(text: string): string[] {
  if (text.length > MAX_LENGTH) return [];
  const relatives: { readonly type: string; readonly value: string }[][] = [];
  for (const part of split(text, ',;')) {
    const attributes: { readonly type: string; readonly value: string }[] = [];
    for (const pair of split(part, '+')) {
      const [, name = '', value = ''] = /^\s*([A-Za-z0-9.-]+)\s*=(.*)$/s.exec(pair) ?? [];
      const bare = name.replace(/^oid\./i, '');
      const type = /^\d+(\.\d+)+$/.test(bare) ? bare : TYPES.get(bare.toLowerCase());
      const text = valueText(value.trim());
      if (type === undefined || text === undefined) return [];
      attributes.push({ type, value: text });
    }
    relatives.push(attributes);
  }
  return [nameKeyOf([...relatives].reverse()), nameKeyOf(relatives)];
}

/** Splits at separators that are neither escaped nor quoted. */
function split(text: string, separators: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') part += character + text.charAt(++at);
    else if (!quoted && separators.includes(character)) {
      parts.push(part);
      part = '';
    } else {
      if (character === '"') quoted = !quoted;
      part += character;
    }
  }
  return [...parts, part];
}

/** Decodes a value; one that begins with `#` is its DER in hexadecimal (RFC 4514 §2.4). Undefined when not readable. */
function valueText(value: string): string | undefined {
  if (!value.startsWith('#')) return unescaped(value);
  if (!/^#([0-9A-Fa-f]{2})+$/.test(value)) return undefined;
  try {
    return attributeText(Buffer.from(value.slice(1), 'hex'));
  } catch (error) {
    if (error instanceof Asn1Error) return undefined;
    throw error;
  }
}

function unescaped(value: string): string {
  const inner = /^"(.*)"$/s.exec(value)?.[1] ?? value;
  const bytes: Buffer[] = [];
  for (const [found] of inner.matchAll(/\\[0-9A-Fa-f]{2}|\\.|[^\\]+|\\/gs)) {
    if (/^\\[0-9A-Fa-f]{2}$/.test(found)) bytes.push(Buffer.from(found.slice(1), 'hex'));
    else bytes.push(Buffer.from(found.startsWith('\\') ? found.slice(1) : found));
  }
  return Buffer.concat(bytes).toString();
}
