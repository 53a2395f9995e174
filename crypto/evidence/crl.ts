/** Certificate revocation lists (RFC 5280 §5): complete, delta and indirect ones, for all or some reasons. */
import {
  Asn1Error,
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  readWhole,
  TAG,
} from '../asn1/read.ts';
import { readFractionalTime, readTime } from '../asn1/time.ts';
import { type Certificate, leadingZeros, serialOctets } from '../x509/certificate.ts';
import {
  comparableNames,
  type Extension,
  pointUrls,
  readCrlPoints,
  readPointName,
  readReasonFlags,
  splitExtensions,
} from '../x509/extensions.ts';
import { nameKey, readGeneralNames } from '../x509/names.ts';
import { readSignedStructure, type SignedStructure, structureFault } from '../x509/signed-structure.ts';
import { memoizeParsed } from './lazy-value.ts';

/** CRLReason (RFC 5280 §5.3.1) by number. */
const REASONS = [
  'unspecified',
  'keyCompromise',
  'cACompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'certificateHold',
  undefined,
  'removeFromCRL',
  'privilegeWithdrawn',
  'aACompromise',
] as const;

type RevocationReason = NonNullable<(typeof REASONS)[number]>;

/** Time and reason of a revocation. */
export interface Revocation {
  /** Time since which the certificate does not count, milliseconds since the epoch: see `readRevocation`. */
  readonly at: number;
  readonly reason: RevocationReason;
}

const ENUMERATED = 0x0a;

/** Reads CRLReason ::= ENUMERATED (RFC 5280 §5.3.1). @throws {Asn1Error} */
export function readReason(element: Element): RevocationReason {
  const [number = -1] = contents(element);
  if (element.tag !== ENUMERATED) throw new Asn1Error('revocation reason malformed', element.start);
  return REASONS[number] ?? 'unspecified';
}

const INVALIDITY_DATE = '2.5.29.24';

/**
 * Reads time and reason of a revocation. The invalidity date (§5.3.2) counts where it is earlier: the authority says that
 * since then the key was compromised, so a proof that a signature is older than the revocation proves nothing. A hold is
 * no such statement. Source: docs/decisions/0530-revocation-entries.md.
 * @param extensions of the entry of a CRL or of the SingleResponse (RFC 6960 §4.4.5)
 * @throws {Asn1Error}
 */
export function readRevocation(
  at: number,
  reason: RevocationReason,
  extensions: readonly Extension[],
): Revocation {
  const invalid = extensions.find(({ id }) => id === INVALIDITY_DATE);
  if (invalid === undefined || reason === 'certificateHold') return { at, reason };
  try {
    return { at: Math.min(at, readFractionalTime(readWhole(invalid.value))), reason };
  } catch (error) {
    // A date that cannot be read makes no revocation disappear.
    if (error instanceof Asn1Error) return { at, reason };
    throw error;
  }
}

/**
 * Combines two entries about one certificate: it is revoked since the earlier time, for the reason that lasts.
 * An entry that only lifts a hold says nothing beside another one.
 */
function bothRevocations(one: Revocation | undefined, other: Revocation): Revocation {
  if (one === undefined || one.reason === 'removeFromCRL') return other;
  if (other.reason === 'removeFromCRL') return one;
  const { reason } = one.reason === 'certificateHold' ? other : one;
  return { at: Math.min(one.at, other.at), reason };
}

export interface Crl {
  readonly der: Buffer;
  /** Issuer name as a key; see `nameKey`. */
  readonly issuerKey: string;
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  readonly authorityKeyId: Buffer | undefined;
  /** Certificates that expired after this time are still included (ISO/IEC 9594-8, expiredCertsOnCRL). */
  readonly expiredSince: number | undefined;
  readonly scope: CrlScope;
  /** Reason why the CRL is unusable; undefined when it is usable. */
  readonly unusable: string | undefined;
  readonly signature: SignedStructure;
  /** Undefined when the key of this certificate signed the CRL; otherwise the reason. */
  signatureFault(issuer: Certificate): string | undefined;
  /** cRLNumber (§5.2.3); undefined when absent. */
  readonly number: bigint | undefined;
  /** Base number of a delta CRL (§5.2.4): number of the complete CRL it extends. */
  readonly baseNumber: bigint | undefined;
  /** http and https addresses of delta CRLs to this one, from freshestCRL (§5.2.6). */
  readonly freshestUrls: readonly string[];
  /**
   * Finds the entry of a certificate.
   * @param serial DER of the serial number
   * @param issuerKey `nameKey` of the certificate's issuer, which an indirect CRL names in its entries
   */
  find(serial: Buffer, issuerKey: string): Revocation | undefined;
}

/** From issuingDistributionPoint (RFC 5280 §5.2.5). */
interface CrlScope {
  readonly certificates: 'all' | 'end' | 'ca';
  /** Names of the distribution point that the CRL is limited to (`comparableNames`); undefined: no limit. */
  readonly names: readonly string[] | undefined;
  /** Bits of ReasonFlags; undefined: all reasons. */
  readonly reasons: number | undefined;
  /** True when the CRL can have entries for certificates of other issuers. */
  readonly indirect: boolean;
  /** Key that is equal for CRLs of the same scope. */
  readonly key: string;
}

/** Cache size per CRL, in certificates. */
const CACHE_SIZE = 1000;

/**
 * Reads a CertificateList; equal bytes give the same object while cached.
 *
 * CertificateList ::= SEQUENCE { tbsCertList TBSCertList, signatureAlgorithm AlgorithmIdentifier, signature BIT STRING }
 * TBSCertList ::= SEQUENCE { version INTEGER OPTIONAL, signature AlgorithmIdentifier, issuer Name, thisUpdate Time,
 *     nextUpdate Time OPTIONAL, revokedCertificates SEQUENCE OF SEQUENCE { userCertificate INTEGER,
 *     revocationDate Time, crlEntryExtensions Extensions OPTIONAL } OPTIONAL,
 *     crlExtensions [0] EXPLICIT Extensions OPTIONAL }
 *
 * @throws {Asn1Error}
 */
export const readCrl: (der: Buffer) => Crl = memoizeParsed(parse, { most: 64, mostBytes: 32 << 20 });

function parse(der: Buffer): Crl {
  const outer = enter(readWhole(der), TAG.sequence);
  const signature = readSignedStructure(outer);
  outer.end();
  const fields = enter(readWhole(signature.data), TAG.sequence);
  fields.nextIf(TAG.integer);
  fields.next(TAG.sequence);
  const issuer = encoded(fields.next(TAG.sequence));
  const thisUpdate = readTime(fields.next());
  const nextUpdate = isTime(fields.peek()) ? readTime(fields.next()) : undefined;
  const entries = fields.nextIf(TAG.sequence);
  const wrapped = fields.nextIf(TAG.context0Constructed);
  fields.end();
  const extensions = readListExtensions(
    wrapped === undefined ? undefined : new Cursor(wrapped).next(),
    issuer,
  );
  const found = new Map<string, Revocation | undefined>();
  const faults = new WeakMap<Certificate, string | undefined>();
  return {
    der,
    issuerKey: nameKey(issuer),
    thisUpdate,
    nextUpdate,
    ...extensions,
    signature,
    signatureFault(certificate) {
      if (!faults.has(certificate)) faults.set(certificate, structureFault(signature, certificate.publicKey));
      return faults.get(certificate);
    },
    find(serial, issuerKey) {
      const { indirect } = extensions.scope;
      const key = `${serial.toString('latin1')}${indirect ? issuerKey : ''}`;
      if (!found.has(key)) {
        if (found.size === CACHE_SIZE) found.clear();
        const octets = serialOctets(serial);
        const search = (list: Element) =>
          indirect ? searchIndirect(list, octets, issuerKey, nameKey(issuer)) : searchDirect(list, octets);
        found.set(key, entries === undefined ? undefined : search(entries));
      }
      return found.get(key);
    },
  };
}

function isTime(tag: number | undefined): boolean {
  return tag === TAG.utcTime || tag === TAG.generalizedTime;
}

/** Searches all entries in order without keeping them, since CRLs can have a million entries. */
function searchDirect(entries: Element, serial: Buffer): Revocation | undefined {
  const cursor = new Cursor(entries);
  let found: Revocation | undefined;
  while (!cursor.done) {
    const entry = cursor.next(TAG.sequence);
    // Only the matching entry is parsed further.
    if (hasSerial(entry, serial)) found = bothRevocations(found, readEntry(entry).revocation);
  }
  return found;
}

/** Searches an indirect CRL: an entry without certificateIssuer has the issuer of the entry before it (§5.3.3). */
function searchIndirect(
  entries: Element,
  serial: Buffer,
  issuerKey: string,
  listIssuer: string,
): Revocation | undefined {
  const cursor = new Cursor(entries);
  let issuers: readonly string[] = [listIssuer];
  let found: Revocation | undefined;
  while (!cursor.done) {
    const entry = cursor.next(TAG.sequence);
    const { revocation, certificateIssuers } = readEntry(entry);
    issuers = certificateIssuers ?? issuers;
    if (issuers.includes(issuerKey) && hasSerial(entry, serial)) found = bothRevocations(found, revocation);
  }
  return found;
}

/** @param serial result of `serialOctets` */
function hasSerial(entry: Element, serial: Buffer): boolean {
  const { bytes, from, to } = entry;
  const length = bytes[from + 1] ?? 0;
  const end = from + 2 + length;
  // A serial number has at most 20 octets; a few authorities write longer ones.
  if (length > 127) return serialOctets(encoded(new Cursor(entry).next())).equals(serial);
  if (bytes[from] !== TAG.integer || length === 0 || end > to) return false;
  const start = end - serial.length;
  if (start < from + 2 || bytes.compare(serial, 0, serial.length, start, end) !== 0) return false;
  return leadingZeros(bytes, from + 2, end) === start - from - 2;
}

function readEntry(entry: Element): {
  readonly revocation: Revocation;
  readonly certificateIssuers: readonly string[] | undefined;
} {
  const fields = new Cursor(entry);
  fields.next();
  const at = readTime(fields.next());
  const extensions = fields.done ? [] : splitExtensions(childrenOf(fields.next(TAG.sequence)));
  const code = extensions.find(({ id }) => id === '2.5.29.21');
  const reason = code === undefined ? 'unspecified' : readReason(readWhole(code.value));
  const issuers = extensions.find(({ id }) => id === '2.5.29.29');
  return {
    revocation: readRevocation(at, reason, extensions),
    certificateIssuers:
      issuers === undefined
        ? undefined
        : readGeneralNames(readWhole(issuers.value)).flatMap((name) =>
            name.kind === 'directory' ? [nameKey(name.name)] : [],
          ),
  };
}

type ListExtensions = Pick<
  Crl,
  'authorityKeyId' | 'expiredSince' | 'scope' | 'unusable' | 'number' | 'baseNumber' | 'freshestUrls'
>;

const EVERYTHING: CrlScope = {
  certificates: 'all',
  names: undefined,
  reasons: undefined,
  indirect: false,
  key: '',
};

function readListExtensions(element: Element | undefined, issuer: Buffer): ListExtensions {
  let authorityKeyId: Buffer | undefined;
  let expiredSince: number | undefined;
  let point: Pick<ListExtensions, 'scope' | 'unusable'> = { scope: EVERYTHING, unusable: undefined };
  let unusable: string | undefined;
  let number: bigint | undefined;
  let baseNumber: bigint | undefined;
  let freshestUrls: readonly string[] = [];
  for (const { id, critical, value } of splitExtensions(element === undefined ? [] : childrenOf(element))) {
    if (id === '2.5.29.35') {
      const keyId = enter(readWhole(value), TAG.sequence).nextIf(TAG.context0);
      authorityKeyId = keyId === undefined ? undefined : contents(keyId);
    } else if (id === '2.5.29.28') {
      point = readIssuingPoint(readWhole(value), issuer);
    } else if (id === '2.5.29.27') {
      baseNumber = readNumber(readWhole(value));
    } else if (id === '2.5.29.20') {
      number = readNumber(readWhole(value));
    } else if (id === '2.5.29.46') {
      freshestUrls = pointUrls(readCrlPoints(readWhole(value)));
    } else if (id === '2.5.29.60') {
      expiredSince = readFractionalTime(readWhole(value));
    } else if (critical) {
      unusable = `its critical extension ${id} is not understood`;
    }
  }
  const { scope } = point;
  return {
    authorityKeyId,
    expiredSince,
    scope,
    unusable: unusable ?? point.unusable,
    number,
    baseNumber,
    freshestUrls,
  };
}

/** Reads CRLNumber ::= INTEGER, up to 20 octets (§5.2.3). */
function readNumber(element: Element): bigint {
  const octets = contents(element);
  if (element.tag !== TAG.integer || octets.length === 0 || octets.length > 20) {
    throw new Asn1Error('the number of the list is malformed', element.start);
  }
  return BigInt(`0x${octets.toString('hex')}`);
}

/**
 * Reads the scope (RFC 5280 §5.2.5).
 *
 * IssuingDistributionPoint ::= SEQUENCE { distributionPoint [0] DistributionPointName OPTIONAL,
 *     onlyContainsUserCerts [1] BOOLEAN, onlyContainsCACerts [2] BOOLEAN, onlySomeReasons [3] ReasonFlags OPTIONAL,
 *     indirectCRL [4] BOOLEAN, onlyContainsAttributeCerts [5] BOOLEAN }
 */
function readIssuingPoint(element: Element, issuer: Buffer): Pick<ListExtensions, 'scope' | 'unusable'> {
  let names: string[] | undefined;
  let reasons: number | undefined;
  let unusable: string | undefined;
  const flags = new Set<number>();
  for (const field of childrenOf(element)) {
    if (field.tag === TAG.context0Constructed) names = comparableNames(readPointName(field), issuer);
    else if (field.tag === 0x83) reasons = readReasonFlags(field);
    else if (contents(field)[0] !== 0) flags.add(field.tag & 0x1f);
  }
  if (flags.has(5)) unusable = 'it lists attribute certificates';
  if (flags.has(1) && flags.has(2)) unusable = 'it is for nothing';
  const certificates = flags.has(1) ? 'end' : flags.has(2) ? 'ca' : 'all';
  const key = encoded(element).toString('latin1');
  return { scope: { certificates, names, reasons, indirect: flags.has(4), key }, unusable };
}
