/** What the signed attributes of a SignerInfo say, and whether they may say it (RFC 5652 §11, EN 319 122-1 §5). */
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import { type Element, enter, octets, oidText } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { readTime } from '../asn1/time.ts';
import type { Finding } from '../validation/facts.ts';
import { CONTENT_IDENTIFIER } from './attributes-template.ts';
import type { HashName } from './hashes.ts';
import { type Attributes, parseAlgorithm, type SignerInfo } from './parse.ts';

/** Attributes that must not appear twice or with several values: each would leave open which one was meant. */
const SINGLE: readonly string[] = [
  OID.contentType,
  OID.messageDigest,
  OID.signingTime,
  OID.signingCertificate,
  OID.signingCertificateV2,
  OID.signaturePolicy,
  OID.algorithmProtection,
];

/** The only value of an attribute. @throws {Asn1Error} when there are several */
export function singleValue(attributes: Attributes, type: string): Element | undefined {
  const values = attributes.values.get(type);
  if (values !== undefined && values.length !== 1)
    throw new Asn1Error(`attribute ${type} must have one value`, 0);
  return values?.[0];
}

/** That every attribute stands once with one value, where that matters. */
export function checkUniqueness(attributes: Attributes): Finding {
  const seen = new Set<string>();
  for (const type of attributes.types) {
    const several = (attributes.values.get(type)?.length ?? 0) !== 1 && SINGLE.includes(type);
    if (seen.has(type) || several) return ambiguous(type);
    seen.add(type);
  }
  return {
    status: 'passed',
    type: 'attributes.signed',
    message: 'The signed attributes are there, each once.',
  };
}

function ambiguous(type: string): Finding {
  return {
    status: 'failed',
    type: 'attributes.signed',
    message: 'A signed attribute appears twice or with several values.',
    detail: type,
    subIndication: 'FORMAT_FAILURE',
  };
}

/**
 * The content-type attribute names the type of what is signed.
 * @param expected dotted; undefined for a counter-signature, which must have none (RFC 5652 §11.4)
 * @param actual what the structure around it says
 */
export function checkContentType(
  attributes: Attributes,
  expected: string | undefined,
  actual: string | undefined,
): Finding {
  const value = singleValue(attributes, OID.contentType);
  const named = value === undefined ? undefined : oidText(value);
  const good = named === expected && actual === expected;
  return {
    status: good ? 'passed' : 'failed',
    type: 'attributes.content-type',
    message: good
      ? 'The signed type of the content is the one it has.'
      : 'The signed type of the content is missing or another one.',
    detail: `attribute ${named ?? 'missing'}, content ${actual ?? 'none'}`,
    ...(good ? {} : { subIndication: 'FORMAT_FAILURE' }),
  };
}

/** @param actual digest of the content; undefined when the content is not at hand */
export function checkMessageDigest(
  attributes: Attributes,
  digest: HashName,
  actual: Buffer | undefined,
): Finding {
  const value = singleValue(attributes, OID.messageDigest);
  if (value === undefined) {
    return {
      status: 'failed',
      type: 'digest.content',
      message: 'The signed digest of the content is missing.',
      subIndication: 'FORMAT_FAILURE',
    };
  }
  if (actual === undefined) {
    return {
      status: 'failed',
      type: 'digest.content',
      message: 'The signed content is not at hand.',
      subIndication: 'SIGNED_DATA_NOT_FOUND',
    };
  }
  const good = octets(value).equals(actual);
  return {
    status: good ? 'passed' : 'failed',
    type: 'digest.content',
    message: good
      ? 'The content has the signed digest.'
      : 'The content has another digest than the signed one.',
    detail: digest,
    ...(good ? {} : { subIndication: 'HASH_FAILURE' }),
  };
}

/** CMSAlgorithmProtection (RFC 6211 §2) names the algorithms a second time, signed. Undefined when it isn't there. */
export function checkProtection(attributes: Attributes, signer: SignerInfo): Finding | undefined {
  const value = singleValue(attributes, OID.algorithmProtection);
  if (value === undefined) return undefined;
  const fields = enter(value, TAG.sequence);
  const digest = parseAlgorithm(fields.take()).id;
  const signature = fields.takeIf(TAG.context1Constructed);
  const signatureId = signature === undefined ? undefined : oidText(enter(signature, signature.tag).take());
  const good = digest === signer.digestAlgorithm && signatureId === signer.signatureAlgorithm.id;
  return {
    status: good ? 'passed' : 'failed',
    type: 'algorithm.protection',
    message: good
      ? 'The algorithms are the signed ones.'
      : 'The algorithms are others than those the signature was made for.',
    ...(good ? {} : { subIndication: 'SIG_CRYPTO_FAILURE' }),
  };
}

/** Claimed signing time, milliseconds since the epoch. @throws {Asn1Error} */
export function claimedTime(attributes: Attributes): number | undefined {
  const value = singleValue(attributes, OID.signingTime);
  return value === undefined ? undefined : readTime(value);
}

/** The content identifier (RFC 5035 §2.10), where it is text that names something to people; what else there is says nothing. */
export function contentIdentifierOf(attributes: Attributes): string | undefined {
  const [value] = attributes.values.get(OID.contentIdentifier) ?? [];
  if (value?.tag !== TAG.octetString) return undefined;
  const text = octets(value).toString('latin1');
  return CONTENT_IDENTIFIER.test(text) ? text : undefined;
}

/** The explicit policy, dotted; undefined for none or an implied one (EN 319 122-1 §5.2.9). @throws {Asn1Error} */
export function policyOf(attributes: Attributes): string | undefined {
  const value = singleValue(attributes, OID.signaturePolicy);
  if (value === undefined || value.tag !== TAG.sequence) return undefined;
  return oidText(enter(value, TAG.sequence).take());
}
