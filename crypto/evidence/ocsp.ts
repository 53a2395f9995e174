/** OCSP responses (RFC 6960 §4.2), parsed but not validated. */
import { createHash } from 'node:crypto';
import {
  Asn1Error,
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  octets,
  oidText,
  parseAlgorithm,
  readWhole,
  TAG,
} from '../asn1/read.ts';
import { readFractionalTime } from '../asn1/time.ts';
import { type Certificate, readableCertificates, serialOctets } from '../x509/certificate.ts';
import { type Extension, splitExtensions } from '../x509/extensions.ts';
import { nameKey } from '../x509/names.ts';
import { HASH_BY_OID, type HashName } from '../x509/signature-algorithms.ts';
import { readSignedStructure, type SignedStructure, structureFault } from '../x509/signed-structure.ts';
import { type Revocation, readReason, readRevocation } from './crl.ts';
import { memoizeParsed } from './lazy-value.ts';

export interface OcspAnswer {
  /** DER of the BasicOCSPResponse. */
  readonly der: Buffer;
  /** Milliseconds since the epoch. */
  readonly producedAt: number;
  readonly singles: readonly SingleAnswer[];
  /** Certificates in the response: candidates for the responder's. */
  readonly certificates: readonly Certificate[];
  /** Reason why the response is unusable; undefined when it is usable. */
  readonly unusable: string | undefined;
  readonly signature: SignedStructure;
  /** True when the ResponderID names this certificate. */
  names(responder: Certificate): boolean;
  /** Undefined when the key of this certificate signed the response; otherwise the reason. */
  signatureFault(responder: Certificate): string | undefined;
}

/** A SingleResponse: the status of one certificate. */
export interface SingleAnswer {
  readonly status: 'good' | 'revoked' | 'unknown';
  readonly revocation: Revocation | undefined;
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  /** Certificates that expired after this time are still covered (RFC 6960 §4.4.4). */
  readonly archiveCutoff: number | undefined;
  readonly unusable: string | undefined;
  /** True when it is about the certificate with this issuer; name and key digests may use any known hash function. */
  isAbout(certificate: Certificate, issuer: Certificate): boolean;
}

/** Limit of SingleResponses in one response. */
const MAX_SINGLES = 100;

/**
 * Returns the DER of the BasicOCSPResponse: the input itself, or the content of an OCSPResponse.
 *
 * OCSPResponse ::= SEQUENCE { responseStatus ENUMERATED, responseBytes [0] EXPLICIT SEQUENCE { responseType OBJECT
 *     IDENTIFIER, response OCTET STRING } OPTIONAL }
 *
 * @throws {Asn1Error} also for an error response (`try later`, `unauthorized`)
 */
export function basicOcspIn(der: Buffer): Buffer {
  const fields = enter(readWhole(der), TAG.sequence);
  if (fields.peek() !== ENUMERATED) return der;
  const status = contents(fields.next())[0] ?? -1;
  if (status !== 0) throw new Asn1Error(`the responder says ${STATUS[status] ?? `status ${status}`}`, 0);
  const bytes = enter(new Cursor(fields.next(TAG.context0Constructed)).next(), TAG.sequence);
  if (oidText(bytes.next()) !== BASIC) throw new Asn1Error('the answer is of another kind', 0);
  return octets(bytes.next());
}

const ENUMERATED = 0x0a;
const BASIC = '1.3.6.1.5.5.7.48.1.1';
const STATUS: readonly (string | undefined)[] = [
  'success',
  'malformed request',
  'internal error',
  'try later',
  undefined,
  'signature required',
  'unauthorized',
];

/**
 * Reads an OCSPResponse or BasicOCSPResponse; equal bytes give the same object while cached.
 *
 * BasicOCSPResponse ::= SEQUENCE { tbsResponseData ResponseData, signatureAlgorithm AlgorithmIdentifier,
 *     signature BIT STRING, certs [0] EXPLICIT SEQUENCE OF Certificate OPTIONAL }
 * ResponseData ::= SEQUENCE { version [0] EXPLICIT INTEGER DEFAULT v1, responderID ResponderID,
 *     producedAt GeneralizedTime, responses SEQUENCE OF SingleResponse, responseExtensions [1] EXPLICIT OPTIONAL }
 * SingleResponse ::= SEQUENCE { certID CertID, certStatus CertStatus, thisUpdate GeneralizedTime,
 *     nextUpdate [0] EXPLICIT OPTIONAL, singleExtensions [1] EXPLICIT OPTIONAL }
 *
 * @throws {Asn1Error}
 */
export const readOcsp: (der: Buffer) => OcspAnswer = memoizeParsed((der) => parse(basicOcspIn(der)), {
  most: 512,
  mostBytes: 8 << 20,
});

function parse(der: Buffer): OcspAnswer {
  const outer = enter(readWhole(der), TAG.sequence);
  const signature = readSignedStructure(outer);
  const wrapped = outer.nextIf(TAG.context0Constructed);
  outer.end();
  const data = enter(readWhole(signature.data), TAG.sequence);
  data.nextIf(TAG.context0Constructed);
  const responder = data.next();
  const producedAt = readFractionalTime(data.next());
  const singles = childrenOf(data.next(TAG.sequence));
  if (singles.length > MAX_SINGLES) throw new Asn1Error('too many answers', 0);
  const critical = extensionsIn(data.nextIf(TAG.context1Constructed)).find((extension) => extension.critical);
  const certificates = wrapped === undefined ? [] : childrenOf(new Cursor(wrapped).next(TAG.sequence));
  const faults = new WeakMap<Certificate, string | undefined>();
  return {
    der,
    producedAt,
    singles: singles.map(readSingle),
    certificates: certificates.slice(0, 20).flatMap((element) => readableCertificates(encoded(element))),
    unusable: critical === undefined ? undefined : `its critical extension ${critical.id} is not understood`,
    signature,
    names: responderTest(responder),
    signatureFault(certificate) {
      if (!faults.has(certificate)) faults.set(certificate, structureFault(signature, certificate.publicKey));
      return faults.get(certificate);
    },
  };
}

/** Reads ResponderID ::= CHOICE { byName [1] Name, byKey [2] KeyHash (SHA-1) }. @throws {Asn1Error} */
function responderTest(element: Element): (certificate: Certificate) => boolean {
  const inside = new Cursor(element).next();
  if (element.tag === TAG.context1Constructed) {
    const key = nameKey(encoded(inside));
    return (certificate) => certificate.subjectKey === key;
  }
  if (element.tag !== TAG.context2Constructed) throw new Asn1Error('responder malformed', element.start);
  const hash = octets(inside);
  return cachedDigest((certificate) => digest('sha1', certificate.publicKeyBits).equals(hash));
}

function readSingle(element: Element): SingleAnswer {
  const fields = enter(element, TAG.sequence);
  const isAbout = readCertId(fields.next());
  const state = fields.next();
  const thisUpdate = readFractionalTime(fields.next());
  const next = fields.nextIf(TAG.context0Constructed);
  const extensions = extensionsIn(fields.nextIf(TAG.context1Constructed));
  const cutoff = extensions.find(({ id }) => id === '1.3.6.1.5.5.7.48.1.6');
  const critical = extensions.find((extension) => extension.critical && extension !== cutoff);
  return {
    ...readState(state, extensions),
    thisUpdate,
    nextUpdate: next === undefined ? undefined : readFractionalTime(new Cursor(next).next()),
    archiveCutoff: cutoff === undefined ? undefined : readFractionalTime(readWhole(cutoff.value)),
    unusable: critical === undefined ? undefined : `its critical extension ${critical.id} is not understood`,
    isAbout,
  };
}

function readState(
  element: Element,
  extensions: readonly Extension[],
): Pick<SingleAnswer, 'status' | 'revocation'> {
  if (element.tag === TAG.context0) return { status: 'good', revocation: undefined };
  if (element.tag === UNKNOWN) return { status: 'unknown', revocation: undefined };
  const fields = enter(element, TAG.context1Constructed);
  const at = readFractionalTime(fields.next());
  const code = fields.nextIf(TAG.context0Constructed);
  const reason = code === undefined ? 'unspecified' : readReason(new Cursor(code).next());
  return { status: 'revoked', revocation: readRevocation(at, reason, extensions) };
}

const UNKNOWN = 0x82;

function extensionsIn(element: Element | undefined): Extension[] {
  return element === undefined ? [] : splitExtensions(childrenOf(new Cursor(element).next(TAG.sequence)));
}

function readCertId(element: Element): SingleAnswer['isAbout'] {
  const fields = enter(element, TAG.sequence);
  const hash = HASH_BY_OID.get(parseAlgorithm(fields.next()).id);
  const nameHash = octets(fields.next());
  const keyHash = octets(fields.next());
  const serial = serialOctets(encoded(fields.next(TAG.integer)));
  const isOf = cachedDigest(
    (issuer) => hash !== undefined && digest(hash, issuer.publicKeyBits).equals(keyHash),
  );
  // Hashes the name as the issuer writes it, or as the certificate does (RFC 6960 §4.1.1).
  const isNamed = cachedDigest(({ subject }) => hash !== undefined && digest(hash, subject).equals(nameHash));
  const names = cachedDigest(({ issuer }) => hash !== undefined && digest(hash, issuer).equals(nameHash));
  return (certificate, issuer) =>
    serialOctets(certificate.serial).equals(serial) &&
    isOf(issuer) &&
    (isNamed(issuer) || names(certificate));
}

/** Caches a test by certificate, since the same few certificates are tested repeatedly. */
function cachedDigest(test: (certificate: Certificate) => boolean): (certificate: Certificate) => boolean {
  const known = new WeakMap<Certificate, boolean>();
  return (certificate) => {
    let outcome = known.get(certificate);
    if (outcome === undefined) {
      outcome = test(certificate);
      known.set(certificate, outcome);
    }
    return outcome;
  };
}

function digest(hash: HashName, bytes: Buffer): Buffer {
  return createHash(hash).update(bytes).digest();
}

/** Responder authorized for an issuer (RFC 6960 §4.2.2.2). */
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';

/** Standing of a responder by a trusted list when it made an answer. `granted`: for the provider of the issuer. */
export type ResponderStanding = 'granted' | 'withdrawn' | 'unlisted';

/** @param issuers the issuer of what it answers about, and the certificates above it @param at when it did, milliseconds since the epoch */
export type StandingOf = (
  responder: Certificate,
  issuers: readonly [Certificate, ...(readonly Certificate[])],
  at: number,
) => ResponderStanding;

/**
 * Closed rule of the answers that count, by who let the responder answer and by its standing. A list lets a responder
 * answer whom the issuer did not name (a local authority, RFC 6960 §4.2.2.2), and stops one that it has withdrawn.
 */
export const COUNTED: {
  readonly [by in 'issuer' | 'delegated' | 'nobody']: {
    readonly [standing in ResponderStanding]: boolean;
  };
} = {
  issuer: { granted: true, withdrawn: true, unlisted: true },
  delegated: { granted: true, withdrawn: false, unlisted: true },
  nobody: { granted: true, withdrawn: false, unlisted: false },
};

interface ResponderRequest {
  readonly issuer: Certificate;
  /** Candidates for the responder's certificate outside the response. */
  readonly others: () => readonly Certificate[];
  /** Reason why a responder is not accepted because of its own revocation; undefined when it is. */
  readonly revocationOf: (responder: Certificate, standing: ResponderStanding) => string | undefined;
  /** @default no list says anything */
  readonly standingOf?: ((responder: Certificate) => ResponderStanding) | undefined;
}

/**
 * Returns the authorized signer of a response: the issuer, or a responder whose certificate the issuer signed for this purpose or
 * that a trusted list names; otherwise text without full stop why there is none.
 */
export function responderOf(
  answer: OcspAnswer,
  { issuer, others, revocationOf, standingOf = () => 'unlisted' }: ResponderRequest,
): Certificate | string {
  const isIssuers = answer.names(issuer) && answer.signatureFault(issuer) === undefined;
  if (isIssuers && COUNTED.issuer[standingOf(issuer)]) return issuer;
  let reason = 'the responder of an OCSP answer is not authorized by the issuer';
  for (const place of [() => answer.certificates, others]) {
    for (const candidate of place()) {
      if (!answer.names(candidate)) continue;
      const standing = standingOf(candidate);
      const objection =
        unnamed(candidate, issuer, standing) ??
        objectionTo(candidate, answer) ??
        revocationOf(candidate, standing);
      if (objection === undefined) return candidate;
      reason = `the responder of an OCSP answer ${objection}`;
    }
  }
  return reason;
}

function unnamed(
  responder: Certificate,
  issuer: Certificate,
  standing: ResponderStanding,
): string | undefined {
  const isDelegated = responder.issuerKey === issuer.subjectKey && responder.signedBy(issuer);
  if (COUNTED[isDelegated ? 'delegated' : 'nobody'][standing]) return undefined;
  return standing === 'withdrawn' ? 'was withdrawn on the trusted list' : 'has no certificate of the issuer';
}

function objectionTo(responder: Certificate, answer: OcspAnswer): string | undefined {
  const { extendedKeyUsage, keyUsage, unknownCritical } = responder;
  if (extendedKeyUsage?.includes(OCSP_SIGNING) !== true) return 'has a certificate for something else';
  if (keyUsage !== undefined && !keyUsage.digitalSignature && !keyUsage.nonRepudiation) return 'may not sign';
  if (unknownCritical.length > 0) return `has the critical extension ${unknownCritical[0]}`;
  const { producedAt } = answer;
  if (producedAt < responder.notBefore || producedAt > responder.notAfter)
    return 'was not valid at that time';
  const fault = answer.signatureFault(responder);
  return fault === undefined ? undefined : `did not sign it: ${fault}`;
}
