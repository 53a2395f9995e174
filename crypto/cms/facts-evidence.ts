/** Certificates and revocation values that a signature carries for those who check it later. */
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import { Cursor, childrenOf, type Element, encoded, enter } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { type Evidence, NO_EVIDENCE } from '../authorities.ts';
import { readCrl } from '../revocation/crl.ts';
import { basicOcspIn, readOcsp } from '../revocation/ocsp.ts';
import type { TimestampFacts } from '../validation/facts.ts';
import type { Attributes, SignedData } from './parse.ts';

/** Signed attribute in which PDF signers put revocation answers (1.2.840.113583.1.1.8). */
const REVOCATION_ARCHIVAL = '1.2.840.113583.1.1.8';

const PLACES: ReadonlySet<string> = new Set([
  OID.certificateValues,
  OID.revocationValues,
  REVOCATION_ARCHIVAL,
]);

/** Everything in the SignedData itself. */
export function evidenceInData(data: SignedData): Evidence {
  return {
    certificates: data.certificates,
    crls: data.crls.filter(isReadableCrl),
    ocsps: data.ocsps.flatMap(basicOcsp),
  };
}

/**
 * Everything in attributes: certificate-values and revocation-values (EN 319 122-1 annex A), and the older place of
 * PDF signers. What can't be read there is passed over, since it proves nothing.
 */
export function evidenceInAttributes(...all: readonly (Attributes | undefined)[]): Evidence {
  if (!all.some((attributes) => attributes?.types.some((type) => PLACES.has(type)))) return NO_EVIDENCE;
  const evidence: { certificates: Buffer[]; crls: Buffer[]; ocsps: Buffer[] } = {
    certificates: [],
    crls: [],
    ocsps: [],
  };
  for (const attributes of all) {
    for (const value of attributes?.values.get(OID.certificateValues) ?? []) {
      evidence.certificates.push(...passedOver(() => childrenOf(value).map(encoded)));
    }
    for (const type of [OID.revocationValues, REVOCATION_ARCHIVAL]) {
      for (const value of attributes?.values.get(type) ?? []) {
        const lists = passedOver(() => [readLists(value)]);
        for (const { crls, ocsps } of lists) {
          evidence.crls.push(...crls.filter(isReadableCrl));
          evidence.ocsps.push(...ocsps.flatMap(basicOcsp));
        }
      }
    }
  }
  return evidence;
}

/** `[0]` CRLs and `[1]` OCSP answers, each an explicitly tagged list: the start both attributes have in common. */
function readLists(value: Element): { readonly crls: Buffer[]; readonly ocsps: Buffer[] } {
  const fields = enter(value, TAG.sequence);
  const list = (tag: number): Buffer[] => {
    const wrapped = fields.takeIf(tag);
    return wrapped === undefined ? [] : childrenOf(new Cursor(wrapped).take(TAG.sequence)).map(encoded);
  };
  return { crls: list(TAG.context0Constructed), ocsps: list(TAG.context1Constructed) };
}

/** Whether it can be read at all: bytes that can't are no evidence. */
export function isReadableCrl(der: Buffer): boolean {
  return passedOver(() => [readCrl(der)]).length > 0;
}

/** The BasicOCSPResponse in an answer; none when it can't be read. */
export function basicOcsp(der: Buffer): Buffer[] {
  return passedOver(() => {
    const basic = basicOcspIn(der);
    readOcsp(basic);
    return [basic];
  });
}

/** What a time-stamp carries about its own authority. */
export function evidenceInTimestamp({ token }: TimestampFacts): Evidence {
  if (token === undefined) return NO_EVIDENCE;
  const [signer] = token.signedData.signers;
  return joinEvidence(evidenceInData(token.signedData), evidenceInAttributes(signer?.unsignedAttributes));
}

/** All of it together; most signatures have one place with evidence, which is then taken as it is. */
export function joinEvidence(...all: readonly Evidence[]): Evidence {
  const found = all.filter(
    ({ certificates, crls, ocsps }) => certificates.length + crls.length + ocsps.length > 0,
  );
  const [first = NO_EVIDENCE] = found;
  if (found.length < 2) return first;
  return {
    certificates: found.flatMap(({ certificates }) => certificates),
    crls: found.flatMap(({ crls }) => crls),
    ocsps: found.flatMap(({ ocsps }) => ocsps),
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
