/** Certificates and revocation values embedded in a signature for later validation. */

import { OID } from '../asn1/oids.ts';
import { Asn1Error, Cursor, childrenOf, type Element, encoded, enter, TAG } from '../asn1/read.ts';
import type { Attributes, SignedData } from '../cms/parse.ts';
import { type Evidence, NO_EVIDENCE } from './authorities.ts';
import { readCrl } from './crl.ts';
import { basicOcspIn, readOcsp } from './ocsp.ts';

const PLACES: ReadonlySet<string> = new Set([
  OID.certificateValues,
  OID.revocationValues,
  OID.revocationArchival,
]);

/** Collects the evidence of the SignedData itself. */
export function evidenceInData(data: SignedData): Evidence {
  return { certificates: data.certificates, ...readableAnswers(data) };
}

/**
 * Collects the evidence of attributes: certificate-values and revocation-values (EN 319 122-1 annex A), and the older
 * attribute of PDF signers. Unreadable content is ignored, since it proves nothing.
 */
export function evidenceInAttributes(...all: readonly (Attributes | undefined)[]): Evidence {
  if (!all.some((attributes) => attributes?.types.some((type) => PLACES.has(type)))) return NO_EVIDENCE;
  const certificates: Buffer[] = [];
  const answers: Evidence[] = [];
  for (const attributes of all) {
    for (const value of attributes?.values.get(OID.certificateValues) ?? []) {
      certificates.push(...passedOver(() => childrenOf(value).map(encoded)));
    }
    for (const type of [OID.revocationValues, OID.revocationArchival]) {
      for (const value of attributes?.values.get(type) ?? []) {
        const [lists] = passedOver(() => [readLists(value)]);
        answers.push({ certificates: [], ...(lists === undefined ? NOTHING_READ : readableAnswers(lists)) });
      }
    }
  }
  return joinEvidence({ ...NO_EVIDENCE, certificates }, ...answers);
}

/** A value that is no list of answers at all. */
const NOTHING_READ = { crls: [], ocsps: [], unread: 1 } as const;

/** Keeps the answers that can be read, and counts the others. */
export function readableAnswers(all: {
  readonly crls: readonly Buffer[];
  readonly ocsps: readonly Buffer[];
}): Pick<Evidence, 'crls' | 'ocsps' | 'unread'> {
  const crls = all.crls.filter(isReadableCrl);
  const ocsps = all.ocsps.flatMap(basicOcsp);
  const unread = all.crls.length + all.ocsps.length - crls.length - ocsps.length;
  return { crls, ocsps, ...(unread > 0 && { unread }) };
}

/**
 * Reads the common start of both attributes.
 *
 * SEQUENCE { crlVals [0] EXPLICIT SEQUENCE OF CertificateList OPTIONAL,
 *     ocspVals [1] EXPLICIT SEQUENCE OF BasicOCSPResponse OPTIONAL, … }
 */
function readLists(value: Element): { readonly crls: Buffer[]; readonly ocsps: Buffer[] } {
  const fields = enter(value, TAG.sequence);
  const list = (tag: number): Buffer[] => {
    const wrapped = fields.nextIf(tag);
    return wrapped === undefined ? [] : childrenOf(new Cursor(wrapped).next(TAG.sequence)).map(encoded);
  };
  return { crls: list(TAG.context0Constructed), ocsps: list(TAG.context1Constructed) };
}

/** True when the bytes can be parsed as a CRL. */
export function isReadableCrl(der: Buffer): boolean {
  return passedOver(() => [readCrl(der)]).length > 0;
}

/** Extracts the BasicOCSPResponse of a response; empty when it is unreadable. */
export function basicOcsp(der: Buffer): Buffer[] {
  return passedOver(() => {
    const basic = basicOcspIn(der);
    readOcsp(basic);
    return [basic];
  });
}

/** Joins evidence; a single source, the usual case, is returned unchanged. */
export function joinEvidence(...all: readonly Evidence[]): Evidence {
  const found = all.filter(
    ({ certificates, crls, ocsps, unread = 0 }) =>
      certificates.length + crls.length + ocsps.length + unread > 0,
  );
  const [first = NO_EVIDENCE] = found;
  if (found.length < 2) return first;
  const unread = found.reduce((sum, one) => sum + (one.unread ?? 0), 0);
  return {
    certificates: found.flatMap(({ certificates }) => certificates),
    crls: found.flatMap(({ crls }) => crls),
    ocsps: found.flatMap(({ ocsps }) => ocsps),
    ...(unread > 0 && { unread }),
  };
}

function passedOver<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof Asn1Error) return [];
    throw error;
  }
}
