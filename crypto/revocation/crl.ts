/** Certificate revocation lists (RFC 5280 §5): full lists of one issuer. Delta and indirect lists are not used. */
import { Asn1Error } from '../asn1/error.ts';
import { Cursor, childrenOf, contents, type Element, encoded, enter, readWhole } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { readFractionalTime, readTime } from '../asn1/time.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { splitExtensions } from '../certificates/extensions.ts';
import { httpUrls, readGeneralNames } from '../certificates/general-names.ts';
import { nameKey } from '../certificates/names.ts';
import { type SignedStructure, structureFault, takeSigned } from '../certificates/structure-signature.ts';
import { keepParsed } from './kept.ts';
import { type Revocation, readReason } from './reasons.ts';

export interface Crl {
  readonly der: Buffer;
  /** See `nameKey`. */
  readonly issuerKey: string;
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  readonly authorityKeyId: Buffer | undefined;
  /** Certificates that expired after this time are still listed (ISO/IEC 9594-8, expiredCertsOnCRL). */
  readonly expiredSince: number | undefined;
  readonly scope: CrlScope;
  /** Why the list can't be used for anything; undefined when it can. */
  readonly unusable: string | undefined;
  readonly signature: SignedStructure;
  /** Undefined when the key of this certificate signed the list; otherwise why not. */
  signatureFault(issuer: Certificate): string | undefined;
  /** @param serial DER of the serial number */
  find(serial: Buffer): Revocation | undefined;
}

/** From issuingDistributionPoint (RFC 5280 §5.2.5). */
export interface CrlScope {
  readonly certificates: 'all' | 'end' | 'ca';
  /** Addresses of the part of the issuer's certificates that the list is for; undefined when it is for all. */
  readonly urls: readonly string[] | undefined;
}

/** Certificates whose answers are remembered per list. */
const REMEMBERED = 1000;

/** Reads a CertificateList; the same bytes give the same object while remembered. @throws {Asn1Error} */
export const readCrl: (der: Buffer) => Crl = keepParsed(parse, { most: 64, mostBytes: 32 << 20 });

function parse(der: Buffer): Crl {
  const outer = enter(readWhole(der), TAG.sequence);
  const signature = takeSigned(outer);
  outer.end();
  const fields = enter(readWhole(signature.data), TAG.sequence);
  fields.takeIf(TAG.integer);
  fields.take(TAG.sequence);
  const issuer = encoded(fields.take(TAG.sequence));
  const thisUpdate = readTime(fields.take());
  const nextUpdate = isTime(fields.peek()) ? readTime(fields.take()) : undefined;
  const entries = fields.takeIf(TAG.sequence);
  const wrapped = fields.takeIf(TAG.context0Constructed);
  fields.end();
  const extensions = readListExtensions(wrapped === undefined ? undefined : new Cursor(wrapped).take());
  const found = new Map<string, Revocation | undefined>();
  const faults = new Map<string, string | undefined>();
  return {
    der,
    issuerKey: nameKey(issuer),
    thisUpdate,
    nextUpdate,
    ...extensions,
    signature,
    signatureFault(certificate) {
      if (!faults.has(certificate.fingerprint)) {
        if (faults.size >= 8) faults.clear();
        faults.set(certificate.fingerprint, structureFault(signature, certificate.publicKey));
      }
      return faults.get(certificate.fingerprint);
    },
    find(serial) {
      const key = serial.toString('latin1');
      if (!found.has(key)) {
        if (found.size >= REMEMBERED) found.clear();
        found.set(key, entries === undefined ? undefined : search(entries, serial));
      }
      return found.get(key);
    },
  };
}

function isTime(tag: number | undefined): boolean {
  return tag === TAG.utcTime || tag === TAG.generalizedTime;
}

/** Goes through the entries in order; no list of them is kept, since lists of a million entries exist. */
function search(entries: Element, serial: Buffer): Revocation | undefined {
  const cursor = new Cursor(entries);
  while (!cursor.done) {
    const entry = cursor.take(TAG.sequence);
    const { bytes, from } = entry;
    // Only the entry looked for is read further.
    if (
      from + serial.length > entry.to ||
      bytes.compare(serial, 0, serial.length, from, from + serial.length) !== 0
    ) {
      continue;
    }
    const fields = new Cursor(entry);
    fields.take();
    const at = readTime(fields.take());
    const extensions = fields.done ? [] : splitExtensions(childrenOf(fields.take(TAG.sequence)));
    const reason = extensions.find(({ id }) => id === '2.5.29.21');
    return { at, reason: reason === undefined ? 'unspecified' : readReason(readWhole(reason.value)) };
  }
  return undefined;
}

type ListExtensions = Pick<Crl, 'authorityKeyId' | 'expiredSince' | 'scope' | 'unusable'>;

const EVERYTHING: CrlScope = { certificates: 'all', urls: undefined };

function readListExtensions(element: Element | undefined): ListExtensions {
  let authorityKeyId: Buffer | undefined;
  let expiredSince: number | undefined;
  let point: Pick<ListExtensions, 'scope' | 'unusable'> = { scope: EVERYTHING, unusable: undefined };
  let unusable: string | undefined;
  for (const { id, critical, value } of splitExtensions(element === undefined ? [] : childrenOf(element))) {
    if (id === '2.5.29.35') {
      const keyId = enter(readWhole(value), TAG.sequence).takeIf(TAG.context0);
      authorityKeyId = keyId === undefined ? undefined : contents(keyId);
    } else if (id === '2.5.29.28') {
      point = readIssuingPoint(readWhole(value));
    } else if (id === '2.5.29.27') {
      unusable = 'it lists only what changed since another list';
    } else if (id === '2.5.29.60') {
      expiredSince = readFractionalTime(readWhole(value));
    } else if (critical && id !== '2.5.29.20') {
      unusable = `its critical extension ${id} is not understood`;
    }
  }
  return { authorityKeyId, expiredSince, scope: point.scope, unusable: unusable ?? point.unusable };
}

/** IssuingDistributionPoint: [0] name, [1] only end, [2] only CA, [3] some reasons, [4] indirect, [5] attributes. */
function readIssuingPoint(element: Element): Pick<ListExtensions, 'scope' | 'unusable'> {
  let urls: string[] | undefined;
  let unusable: string | undefined;
  const flags = new Set<number>();
  for (const field of childrenOf(element)) {
    if (field.tag === TAG.context0Constructed) {
      const full = new Cursor(field).takeIf(TAG.context0Constructed);
      if (full === undefined)
        throw new Asn1Error('a relative distribution point is not understood', field.start);
      urls = httpUrls(readGeneralNames(full));
    } else if (field.tag === 0x83) unusable = 'it lists only some reasons';
    else if (contents(field)[0] !== 0) flags.add(field.tag & 0x1f);
  }
  if (flags.has(4)) unusable = 'it lists certificates of other issuers';
  if (flags.has(5)) unusable = 'it lists attribute certificates';
  if (flags.has(1) && flags.has(2)) unusable = 'it is for nothing';
  const certificates = flags.has(1) ? 'end' : flags.has(2) ? 'ca' : 'all';
  return { scope: { certificates, urls }, unusable };
}
