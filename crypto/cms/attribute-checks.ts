/** Checks the signed attributes of a SignerInfo (RFC 5652 §11, EN 319 122-1 §5). */
import { OID } from '../asn1/oids.ts';
import {
  Asn1Error,
  childrenOf,
  type Element,
  encoded,
  enter,
  octets,
  oidText,
  parseAlgorithm,
  TAG,
} from '../asn1/read.ts';
import { readTime } from '../asn1/time.ts';
import { setOf, tlv } from '../asn1/write.ts';
import { type AlgorithmUse, type Finding, failed, passed, warned } from '../core/validation-report.ts';
import type { Certificate } from '../x509/certificate.ts';
import { keyBits } from '../x509/key-types.ts';
import { attributeText } from '../x509/names.ts';
import { HASH_BY_OID, type HashName, signatureMethod } from '../x509/signature-algorithms.ts';
import { faultOf, foreignMask, type SignatureFault, type SignedBytes } from '../x509/signature-values.ts';
import { ATTRIBUTE_RULES } from './attribute-rules.ts';
import { CONTENT_IDENTIFIER } from './attributes-template.ts';
import type { Attributes, SignerInfo } from './parse.ts';

/** Returns the only value of an attribute. @throws {Asn1Error} when there are several */
export function singleValue(attributes: Attributes, type: string): Element | undefined {
  const values = attributes.values.get(type);
  if (values !== undefined && values.length !== 1)
    throw new Asn1Error(`attribute ${type} must have one value`, 0);
  return values?.[0];
}

/** Checks that each of these attributes appears as often as its rule allows; nothing limits those without a rule. */
export function checkUniqueness(attributes: Attributes): Finding {
  const seen = new Set<string>();
  for (const type of attributes.types) {
    const rule = ATTRIBUTE_RULES.get(type);
    const several = (attributes.values.get(type)?.length ?? 0) !== 1 && rule?.single === true;
    const isAgain = seen.has(type) && rule !== undefined && rule.repeats !== true;
    if (isAgain || several) return ambiguous(type);
    seen.add(type);
  }
  return passed('attributes.signed', 'The signed attributes are there, each as often as it may be.');
}

function ambiguous(type: string): Finding {
  return failed(
    'attributes.signed',
    'A signed attribute appears twice or with several values.',
    'FORMAT_FAILURE',
    type,
  );
}

/**
 * Checks that the content-type attribute names the type of the signed content.
 * @param expected dotted; undefined for a counter-signature, where the attribute says nothing (RFC 5652 §11.4)
 * @param actual type in the structure around it
 */
export function checkContentType(
  attributes: Attributes,
  expected: string | undefined,
  actual: string | undefined,
): Finding {
  const value = singleValue(attributes, OID.contentType);
  const named = value === undefined ? undefined : oidText(value);
  if (expected === undefined && actual === undefined && named !== undefined) {
    const message = 'A counter-signature names a type of content, which it must not have (RFC 5652 §11.4).';
    return warned('attributes.content-type', message, named);
  }
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

/**
 * Checks the message-digest attribute. @param actual digest of the content; undefined when the content is unavailable
 */
export function checkMessageDigest(
  attributes: Attributes,
  digest: HashName,
  actual: Buffer | undefined,
): Finding {
  const value = singleValue(attributes, OID.messageDigest);
  if (value === undefined) {
    return failed('digest.content', 'The signed digest of the content is missing.');
  }
  if (actual === undefined) {
    return failed('digest.content', 'The signed content is not at hand.', 'SIGNED_DATA_NOT_FOUND');
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

/**
 * Reads a CMSAlgorithmProtection; members are undefined where the encoding differs from RFC 6211 §2.
 *     CMSAlgorithmProtection ::= SEQUENCE {
 *      digestAlgorithm     AlgorithmIdentifier,
 *      signatureAlgorithm  [1] IMPLICIT AlgorithmIdentifier OPTIONAL,
 *      macAlgorithm        [2] IMPLICIT AlgorithmIdentifier OPTIONAL }
 */
function readProtection(value: Element): {
  readonly digest: string | undefined;
  readonly signature: string | undefined;
} {
  let digest: string | undefined;
  try {
    const fields = enter(value, TAG.sequence);
    digest = parseAlgorithm(fields.next()).id;
    const signature = fields.nextIf(TAG.context1Constructed);
    const inside = signature === undefined ? undefined : enter(signature, signature.tag).next();
    // Some writers encode [1] EXPLICIT where the module says IMPLICIT.
    const name = inside?.tag === TAG.sequence ? enter(inside, TAG.sequence).next() : inside;
    return { digest, signature: name === undefined ? undefined : oidText(name) };
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    return { digest, signature: undefined };
  }
}

/** True for the same algorithm, also when one identifier does not include the digest. */
function sameMethod(one: string, other: string): boolean {
  const first = signatureMethod(one);
  const second = signatureMethod(other);
  if (one === other) return true;
  if (first === undefined || second === undefined || first.scheme !== second.scheme) return false;
  return first.hash === undefined || second.hash === undefined || first.hash === second.hash;
}

/** Warns when the attributes are not in DER order (RFC 5652 §5.3); readers differ in the bytes they verify then. */
export function checkOrder(attributes: Attributes): Finding | undefined {
  if (setOf(attributes.encodings).equals(tlv(TAG.set, ...attributes.encodings))) return undefined;
  const message = 'The signed attributes are not in the order of DER, which they have to be.';
  return warned('attributes.order', message);
}

/** Checks the CMSAlgorithmProtection attribute (RFC 6211 §2); undefined when it is absent. */
export function checkProtection(attributes: Attributes, signer: SignerInfo): Finding | undefined {
  const value = singleValue(attributes, OID.algorithmProtection);
  if (value === undefined) return undefined;
  const found = readProtection(value);
  const { id } = signer.signatureAlgorithm;
  const sameDigest = found.digest === undefined || found.digest === signer.digestAlgorithm;
  const sameScheme = found.signature === undefined || sameMethod(found.signature, id);
  if (sameDigest && sameScheme && (found.digest === undefined || found.signature !== id)) {
    return warned(
      'algorithm.protection',
      'The signed names of the algorithms are written in an unusual way, so that they protect less.',
    );
  }
  const good = sameDigest && sameScheme;
  return {
    status: good ? 'passed' : 'failed',
    type: 'algorithm.protection',
    message: good
      ? 'The algorithms are the signed ones.'
      : 'The algorithms are others than those the signature was made for.',
    ...(good ? {} : { subIndication: 'SIG_CRYPTO_FAILURE' }),
  };
}

/**
 * Returns the claimed signing time, milliseconds since the epoch. @throws {Asn1Error}
 *     SigningTime ::= Time      -- RFC 5652 §11.3
 */
export function claimedTime(attributes: Attributes): number | undefined {
  const value = singleValue(attributes, OID.signingTime);
  return value === undefined ? undefined : readTime(value);
}

/**
 * Returns the content identifier (RFC 5035 §2.10) when it is printable text; undefined otherwise.
 *     ContentIdentifier ::= OCTET STRING
 */
export function contentIdentifierOf(attributes: Attributes): string | undefined {
  const [value] = attributes.values.get(OID.contentIdentifier) ?? [];
  if (value?.tag !== TAG.octetString) return undefined;
  const text = octets(value).toString('latin1');
  return CONTENT_IDENTIFIER.test(text) ? text : undefined;
}

/**
 * Returns the texts of the claimed attributes of the signer in both forms; none where they cannot be read.
 *     SignerAttributeV2 ::= SEQUENCE { claimedAttributes [0] SEQUENCE OF Attribute OPTIONAL, … }   -- EN 319 122-1 §5.2.6
 *     SignerAttribute ::= SEQUENCE OF CHOICE { claimedAttributes [0] SEQUENCE OF Attribute, … }    -- RFC 5126 §5.11.3
 */
export function claimedRolesOf({ values }: Attributes): string[] {
  const found = [OID.signerAttributesV2, OID.signerAttributes].flatMap((type) => values.get(type) ?? []);
  try {
    return found.flatMap((value) =>
      childrenOf(value)
        .filter(({ tag }) => tag === TAG.context0Constructed)
        .flatMap((claimed) => childrenOf(claimed).flatMap(childrenOf))
        .flatMap((one) => childrenOf(one)[1] ?? [])
        .flatMap((set) => childrenOf(set).map((text) => attributeText(encoded(text)))),
    );
  } catch (error) {
    if (error instanceof Asn1Error) return [];
    throw error;
  }
}

/**
 * Returns the explicit policy, dotted, with its digest; undefined for none or an implied one (EN 319 122-1 §5.2.9). @throws
 * {Asn1Error}
 *     SignaturePolicy ::= CHOICE { signaturePolicyId SignaturePolicyId, signaturePolicyImplied NULL }
 *     SignaturePolicyId ::= SEQUENCE {
 *      sigPolicyId    OBJECT IDENTIFIER,
 *      sigPolicyHash  SEQUENCE { hashAlgorithm AlgorithmIdentifier, hashValue OCTET STRING }, … }
 */
export function policyOf(
  attributes: Attributes,
): { readonly id: string; readonly digest: PolicyDigest | undefined } | undefined {
  const value = singleValue(attributes, OID.signaturePolicy);
  if (value === undefined || value.tag !== TAG.sequence) return undefined;
  const fields = enter(value, TAG.sequence);
  return { id: oidText(fields.next()), digest: policyDigest(fields.nextIf(TAG.sequence)) };
}

interface PolicyDigest {
  /** Undefined: it is not known here. */
  readonly hash: HashName | undefined;
  readonly value: Buffer;
}

/** Passes over what cannot be read: the policy is still named. */
function policyDigest(named: Element | undefined): PolicyDigest | undefined {
  if (named === undefined) return undefined;
  try {
    const fields = enter(named, TAG.sequence);
    const { id } = parseAlgorithm(fields.next());
    return { hash: HASH_BY_OID.get(id), value: octets(fields.next()) };
  } catch (error) {
    if (error instanceof Asn1Error) return undefined;
    throw error;
  }
}

// Checks the signature value of a SignerInfo and lists the algorithms it uses (RFC 5652 §5.4).

/** Reports the value of a signature and its algorithms. @throws {Asn1Error} for malformed parameters */
export function valueFindings(
  { signatureAlgorithm: algorithm, digestAlgorithm }: SignerInfo,
  fault: SignatureFault | undefined,
): Finding[] {
  switch (fault?.kind) {
    case 'unsupported':
      return [unsupportedFinding(fault)];
    case 'contradiction': {
      const message = `The algorithms contradict each other: ${fault.reason}.`;
      return [failed('algorithm.agreement', message, 'SIG_CRYPTO_FAILURE')];
    }
    case 'digests': {
      const message = `The algorithms contradict each other: ${fault.reason}.`;
      return [failed('algorithm.agreement', message, 'SIG_CONSTRAINTS_FAILURE'), GOOD_VALUE];
    }
    case 'value': {
      const message = `The signature value is wrong: ${fault.reason}.`;
      return [
        ...identifierFindings(algorithm),
        AGREEMENT,
        failed('signature.value', message, 'SIG_CRYPTO_FAILURE'),
      ];
    }
    default:
      return [
        ...identifierFindings(algorithm),
        ...maskFindings(algorithm),
        ...digestFindings(algorithm, digestAlgorithm),
        AGREEMENT,
        GOOD_VALUE,
      ];
  }
}

/** Names an algorithm that is not known here: nothing was computed, so nothing is known against the signature. */
export function unsupportedFinding({ reason }: SignatureFault): Finding {
  const message = `The signature was not checked: ${reason}.`;
  return failed('algorithm.unsupported', message, 'CRYPTO_CONSTRAINTS_FAILURE');
}

const AGREEMENT: Finding = passed('algorithm.agreement', 'The algorithms agree with each other and the key.');
const GOOD_VALUE: Finding = passed('signature.value', 'The key of the certificate made the signature.');

function identifierFindings({ id }: SignerInfo['signatureAlgorithm']): Finding[] {
  return id === OID.ecPublicKey ? [NAMED_BY_KEY] : [];
}

function maskFindings(algorithm: SignerInfo['signatureAlgorithm']): Finding[] {
  const mask = foreignMask(algorithm);
  if (mask === undefined) return [];
  return [
    warned(
      'algorithm.mask',
      `The mask of RSA-PSS uses ${mask}, another hash function than the signature.`,
      'Signers should use one for both (RFC 8017 §8.1).',
    ),
  ];
}

function digestFindings({ id }: SignerInfo['signatureAlgorithm'], digest: string): Finding[] {
  if (signatureMethod(id)?.scheme !== 'ed25519' || HASH_BY_OID.get(digest) === 'sha512') return [];
  const message =
    'An Ed25519 signature has another digest than SHA-512; some programs refuse it (RFC 8419 §3.1).';
  return [warned('digest.algorithm', message)];
}

const NAMED_BY_KEY: Finding = warned(
  'algorithm.identifier',
  'The signature algorithm is named by the key alone, which leaves its digest open.',
);

/** Lists the algorithms of the content digest and of the signature value. */
export function algorithmsOf(signer: SignerInfo, certificate: Certificate | undefined): AlgorithmUse[] {
  const { digestAlgorithm, signatureAlgorithm } = signer;
  const method = signatureMethod(signatureAlgorithm.id);
  const bits = certificate === undefined ? undefined : keyBits(certificate.publicKey);
  return [
    { name: HASH_BY_OID.get(digestAlgorithm) ?? digestAlgorithm, where: 'content digest' },
    {
      name: method?.scheme ?? signatureAlgorithm.id,
      where: 'signature value',
      ...(bits === undefined ? {} : { bits }),
    },
  ];
}

// The signature value over signed attributes (RFC 5652 §5.4).

/**
 * Checks the signature value over the signed attributes; returns undefined when it is right, otherwise the reason.
 * The signature covers the DER of a SET OF. Some signers leave the set unsorted and sign that; both forms are tried.
 * @throws {Asn1Error} for malformed parameters of the algorithm
 */
export function attributesFault(
  signer: SignerInfo,
  attributes: Attributes,
  digest: HashName,
  certificate: Certificate,
): SignatureFault | undefined {
  const asFound = tlv(TAG.set, ...attributes.encodings);
  const fault = signatureFault(signer, asFound, digest, certificate);
  if (fault?.kind !== 'value') return fault;
  const sorted = setOf(attributes.encodings);
  if (sorted.equals(asFound)) return fault;
  const other = signatureFault(signer, sorted, digest, certificate);
  return other?.kind === 'value' ? fault : other;
}

/**
 * Checks the signature value over bytes; for a signature without signed attributes, these are the content (RFC 5652
 * §5.4). @throws {Asn1Error} for malformed parameters of the algorithm
 */
export function signatureFault(
  { signatureAlgorithm: algorithm, signature: value }: SignerInfo,
  signed: SignedBytes,
  digest: HashName,
  { publicKey: key }: Certificate,
): SignatureFault | undefined {
  return faultOf({ algorithm, digest, value, key }, signed);
}
