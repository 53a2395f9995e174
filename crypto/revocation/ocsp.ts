/** OCSP answers (RFC 6960 §4.2), read but not judged. */
import { createHash } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import {
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  octets,
  oidText,
  readWhole,
} from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { readFractionalTime } from '../asn1/time.ts';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import { type Extension, splitExtensions } from '../certificates/extensions.ts';
import { nameKey } from '../certificates/names.ts';
import { type SignedStructure, structureFault, takeSigned } from '../certificates/structure-signature.ts';
import { HASH_BY_OID, type HashName } from '../cms/hashes.ts';
import { parseAlgorithm } from '../cms/parse.ts';
import { keepParsed } from './kept.ts';
import { type Revocation, readReason } from './reasons.ts';

export interface OcspAnswer {
  /** DER of the BasicOCSPResponse. */
  readonly der: Buffer;
  /** Milliseconds since the epoch. */
  readonly producedAt: number;
  readonly singles: readonly SingleAnswer[];
  /** Certificates inside, among which the responder's may be. */
  readonly certificates: readonly Certificate[];
  /** Why the answer can't be used for anything; undefined when it can. */
  readonly unusable: string | undefined;
  readonly signature: SignedStructure;
  /** True when the answer says that it is of this certificate's key. */
  names(responder: Certificate): boolean;
  /** Undefined when the key of this certificate signed the answer; otherwise why not. */
  signatureFault(responder: Certificate): string | undefined;
}

/** What an answer says about one certificate. */
export interface SingleAnswer {
  readonly status: 'good' | 'revoked' | 'unknown';
  readonly revocation: Revocation | undefined;
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  /** Certificates that expired after this time are still answered for (RFC 6960 §4.4.4). */
  readonly archiveCutoff: number | undefined;
  readonly unusable: string | undefined;
  /** True when it is about the certificate with this issuer; digests of the names in any known hash function. */
  isAbout(certificate: Certificate, issuer: Certificate): boolean;
}

/** Answers in one response; nobody asks about that many. */
const MAX_SINGLES = 100;

/**
 * DER of the BasicOCSPResponse: that itself, or what is inside an OCSPResponse.
 * @throws {Asn1Error} also for a response that is an error (`try later`, `unauthorized`)
 */
export function basicOcspIn(der: Buffer): Buffer {
  const fields = enter(readWhole(der), TAG.sequence);
  if (fields.peek() !== ENUMERATED) return der;
  const status = contents(fields.take())[0] ?? -1;
  if (status !== 0) throw new Asn1Error(`the responder says ${STATUS[status] ?? `status ${status}`}`, 0);
  const bytes = enter(new Cursor(fields.take(TAG.context0Constructed)).take(), TAG.sequence);
  if (oidText(bytes.take()) !== BASIC) throw new Asn1Error('the answer is of another kind', 0);
  return octets(bytes.take());
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
 * Reads an OCSPResponse or BasicOCSPResponse; the same bytes give the same object while remembered.
 * @throws {Asn1Error}
 */
export const readOcsp: (der: Buffer) => OcspAnswer = keepParsed((der) => parse(basicOcspIn(der)), {
  most: 512,
  mostBytes: 8 << 20,
});

function parse(der: Buffer): OcspAnswer {
  const outer = enter(readWhole(der), TAG.sequence);
  const signature = takeSigned(outer);
  const wrapped = outer.takeIf(TAG.context0Constructed);
  outer.end();
  const data = enter(readWhole(signature.data), TAG.sequence);
  data.takeIf(TAG.context0Constructed);
  const responder = data.take();
  const producedAt = readFractionalTime(data.take());
  const singles = childrenOf(data.take(TAG.sequence));
  if (singles.length > MAX_SINGLES) throw new Asn1Error('too many answers', 0);
  const critical = extensionsIn(data.takeIf(TAG.context1Constructed)).find((extension) => extension.critical);
  const certificates = wrapped === undefined ? [] : childrenOf(new Cursor(wrapped).take(TAG.sequence));
  const faults = new Map<string, string | undefined>();
  return {
    der,
    producedAt,
    singles: singles.map(readSingle),
    certificates: certificates.slice(0, 20).flatMap((element) => readableCertificates(encoded(element))),
    unusable: critical === undefined ? undefined : `its critical extension ${critical.id} is not understood`,
    signature,
    names: responderTest(responder),
    signatureFault(certificate) {
      if (!faults.has(certificate.fingerprint)) {
        if (faults.size >= 8) faults.clear();
        faults.set(certificate.fingerprint, structureFault(signature, certificate.publicKey));
      }
      return faults.get(certificate.fingerprint);
    },
  };
}

/** ResponderID: [1] the name, [2] the SHA-1 of the key. @throws {Asn1Error} */
function responderTest(element: Element): (certificate: Certificate) => boolean {
  const inside = new Cursor(element).take();
  if (element.tag === TAG.context1Constructed) {
    const key = nameKey(encoded(inside));
    return (certificate) => certificate.subjectKey === key;
  }
  if (element.tag !== TAG.context2Constructed) throw new Asn1Error('responder malformed', element.start);
  const hash = octets(inside);
  return remembered((certificate) => digest('sha1', certificate.publicKeyBits).equals(hash));
}

function readSingle(element: Element): SingleAnswer {
  const fields = enter(element, TAG.sequence);
  const isAbout = readCertId(fields.take());
  const state = fields.take();
  const thisUpdate = readFractionalTime(fields.take());
  const next = fields.takeIf(TAG.context0Constructed);
  const extensions = extensionsIn(fields.takeIf(TAG.context1Constructed));
  const cutoff = extensions.find(({ id }) => id === '1.3.6.1.5.5.7.48.1.6');
  const critical = extensions.find((extension) => extension.critical && extension !== cutoff);
  return {
    ...readState(state),
    thisUpdate,
    nextUpdate: next === undefined ? undefined : readFractionalTime(new Cursor(next).take()),
    archiveCutoff: cutoff === undefined ? undefined : readFractionalTime(readWhole(cutoff.value)),
    unusable: critical === undefined ? undefined : `its critical extension ${critical.id} is not understood`,
    isAbout,
  };
}

function readState(element: Element): Pick<SingleAnswer, 'status' | 'revocation'> {
  if (element.tag === TAG.context0) return { status: 'good', revocation: undefined };
  if (element.tag === UNKNOWN) return { status: 'unknown', revocation: undefined };
  const fields = enter(element, TAG.context1Constructed);
  const at = readFractionalTime(fields.take());
  const reason = fields.takeIf(TAG.context0Constructed);
  return {
    status: 'revoked',
    revocation: { at, reason: reason === undefined ? 'unspecified' : readReason(new Cursor(reason).take()) },
  };
}

const UNKNOWN = 0x82;

function extensionsIn(element: Element | undefined): Extension[] {
  return element === undefined ? [] : splitExtensions(childrenOf(new Cursor(element).take(TAG.sequence)));
}

function readCertId(element: Element): SingleAnswer['isAbout'] {
  const fields = enter(element, TAG.sequence);
  const hash = HASH_BY_OID.get(parseAlgorithm(fields.take()).id);
  const nameHash = octets(fields.take());
  const keyHash = octets(fields.take());
  const serial = encoded(fields.take(TAG.integer));
  const isOf = remembered(
    (issuer) => hash !== undefined && digest(hash, issuer.publicKeyBits).equals(keyHash),
  );
  // The name is hashed as the issuer writes it, or as the certificate does (RFC 6960 §4.1.1).
  const isNamed = remembered(({ subject }) => hash !== undefined && digest(hash, subject).equals(nameHash));
  const names = remembered(({ issuer }) => hash !== undefined && digest(hash, issuer).equals(nameHash));
  return (certificate, issuer) =>
    certificate.serial.equals(serial) && isOf(issuer) && (isNamed(issuer) || names(certificate));
}

/** Facts about two byte strings, asked of the same few certificates again and again. */
function remembered(test: (certificate: Certificate) => boolean): (certificate: Certificate) => boolean {
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
