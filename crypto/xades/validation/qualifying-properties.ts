/** XAdES properties of a signature (EN 319 132-1 §4.3 and §5): signed properties are read strictly. */
import { ANY_XADES, DS, XADES } from '../elements/identifiers.ts';
import {
  assertChildren,
  attributeOf,
  base64Of,
  childrenNamed,
  FormFault,
  is,
  onlyChild,
  optionalChild,
  plainAlgorithm,
  requiredAttribute,
  type SignatureNode,
  textOf,
  UnsupportedFault,
} from './signature-node.ts';

export interface QualifyingProperties {
  readonly node: SignatureNode;
  readonly signed: SignedProperties | undefined;
  /** Unsigned properties of the signature, in document order. */
  readonly unsigned: readonly SignatureNode[];
  /** Version of XAdES, for an older one. */
  readonly older?: string | undefined;
  /** Target as written if it does not name the signature as a reference would: without `#`, empty or absent. */
  readonly looseTarget?: string;
}

interface SignedProperties {
  readonly node: SignatureNode;
  readonly id: string | undefined;
  /** SigningTime as written. */
  readonly signingTime: string | undefined;
  readonly signingCertificate: CertificateName | undefined;
  readonly policy: PolicyName | undefined;
  /** Texts of ClaimedRole in both versions (§5.2.6); of roles with elements the text between them. */
  readonly claimedRoles: readonly string[];
  /** Descriptions of the data types of references, by DataObjectFormat. */
  readonly formats: readonly DataFormat[];
  /** AllDataObjectsTimeStamp and IndividualDataObjectsTimeStamp. */
  readonly timestamps: readonly SignatureNode[];
}

interface DataFormat {
  /** ObjectReference. */
  readonly reference: string;
  readonly mimeType: string;
  readonly encoding: string | undefined;
}

/** Digest of a certificate, or of a policy. */
interface CertificateDigest {
  /** URI of the hash function. */
  readonly digestMethod: string;
  readonly digest: Buffer;
}

/** Identification of the signer's certificate in SigningCertificateV2 (§5.2.2) or its predecessor. */
export interface CertificateName extends CertificateDigest {
  readonly version: 1 | 2;
  /** Further certificates that are named, of the path. */
  readonly further: readonly CertificateDigest[];
  /** Version 2: DER of IssuerSerial (RFC 5035 §4). */
  readonly issuerSerial: Buffer | undefined;
  /** Version 1: name in the form of RFC 4514, and decimal serial number. */
  readonly issuerText: { readonly name: string; readonly serial: string } | undefined;
}

interface PolicyName {
  /** Dotted OID, or the URI when it is no object identifier; undefined when the policy is implied. */
  readonly identifier: string | undefined;
  /** Left out where none can be read. */
  readonly digest?: CertificateDigest | undefined;
}

/**
 * Reads the one QualifyingProperties of a signature; undefined for a signature without.
 *
 * QualifyingProperties = SignedProperties?, UnsignedProperties?, @Target, @Id?
 * SignedProperties     = SignedSignatureProperties?, SignedDataObjectProperties?, @Id?
 * UnsignedProperties   = UnsignedSignatureProperties?, UnsignedDataObjectProperties?, @Id?
 *
 * @throws {FormFault}
 */
export function readQualifyingProperties(signature: SignatureNode): QualifyingProperties | undefined {
  const [found, ...more] = childrenNamed(signature, DS, 'Object').flatMap((object) =>
    object.children.filter(
      ({ namespace, local }) => local === 'QualifyingProperties' && ANY_XADES.test(namespace),
    ),
  );
  if (found === undefined) return undefined;
  if (found.namespace !== XADES)
    throw new UnsupportedFault(`its properties are of another version of XAdES (${found.namespace})`);
  if (more.length > 0) throw new FormFault('there are several QualifyingProperties');
  try {
    return readFound(found, attributeOf(signature, 'Id'));
  } catch (error) {
    // The clauses that forbid a form are those of the current version.
    if (found.older !== undefined && error instanceof FormFault) throw new UnsupportedFault(error.message);
    throw error;
  }
}

function readFound(found: SignatureNode, id: string | undefined): QualifyingProperties {
  const target = attributeOf(found, 'Target') ?? '';
  const exact = id !== undefined && target === `#${id}`;
  if (!exact && target !== '' && target !== id) {
    throw new FormFault('QualifyingProperties names another signature as its target');
  }
  assertChildren(found, XADES, 'SignedProperties?', 'UnsignedProperties?');
  const signed = optionalChild(found, XADES, 'SignedProperties');
  const unsigned = optionalChild(found, XADES, 'UnsignedProperties');
  if (unsigned !== undefined) {
    assertChildren(unsigned, XADES, 'UnsignedSignatureProperties?', 'UnsignedDataObjectProperties?');
  }
  const ofSignature = unsigned && optionalChild(unsigned, XADES, 'UnsignedSignatureProperties');
  return {
    node: found,
    signed: signed === undefined ? undefined : readSigned(signed),
    unsigned: ofSignature?.children ?? [],
    older: found.older ?? signed?.older,
    ...(!exact && { looseTarget: target }),
  };
}

function readSigned(node: SignatureNode): SignedProperties {
  assertChildren(node, XADES, 'SignedSignatureProperties?', 'SignedDataObjectProperties?');
  const ofSignature = optionalChild(node, XADES, 'SignedSignatureProperties');
  const ofData = optionalChild(node, XADES, 'SignedDataObjectProperties');
  const time = ofSignature && optionalChild(ofSignature, XADES, 'SigningTime');
  const policy = ofSignature && optionalChild(ofSignature, XADES, 'SignaturePolicyIdentifier');
  const roles = ['SignerRoleV2', 'SignerRole'].flatMap((name) => childrenNamed(ofSignature, XADES, name));
  return {
    node,
    id: attributeOf(node, 'Id'),
    signingTime: time === undefined ? undefined : textOf(time).trim(),
    signingCertificate: ofSignature === undefined ? undefined : readSigningCertificate(ofSignature),
    policy: policy === undefined ? undefined : readPolicy(policy),
    claimedRoles: roles
      .flatMap((role) => childrenNamed(role, XADES, 'ClaimedRoles'))
      .flatMap((list) => childrenNamed(list, XADES, 'ClaimedRole').map(({ text }) => text)),
    formats: childrenNamed(ofData, XADES, 'DataObjectFormat').flatMap(dataFormat),
    timestamps:
      ofData?.children.filter(
        (child) =>
          is(child, XADES, 'AllDataObjectsTimeStamp') || is(child, XADES, 'IndividualDataObjectsTimeStamp'),
      ) ?? [],
  };
}

function dataFormat(format: SignatureNode): DataFormat[] {
  const text = (local: string): string | undefined => {
    const [node] = childrenNamed(format, XADES, local);
    return node?.text.trim() === '' ? undefined : node?.text.trim();
  };
  const mimeType = text('MimeType');
  if (mimeType === undefined) return [];
  return [{ reference: requiredAttribute(format, 'ObjectReference'), mimeType, encoding: text('Encoding') }];
}

function readSigningCertificate(properties: SignatureNode): CertificateName | undefined {
  const newer = optionalChild(properties, XADES, 'SigningCertificateV2');
  const older = optionalChild(properties, XADES, 'SigningCertificate');
  const list = newer ?? older;
  if (list === undefined) return undefined;
  // The first certificate is the signer's; the others belong to its path (EN 319 132-1 §5.2.2.3).
  const [certificate, ...more] = list.children;
  if (certificate === undefined || !is(certificate, XADES, 'Cert')) {
    throw new FormFault(`${list.local} does not begin with Cert`);
  }
  const version = newer === undefined ? 1 : 2;
  assertChildren(certificate, XADES, 'CertDigest', version === 2 ? 'IssuerSerialV2?' : 'IssuerSerial?');
  const second = optionalChild(certificate, XADES, 'IssuerSerialV2');
  const first = optionalChild(certificate, XADES, 'IssuerSerial');
  return {
    version,
    ...certificateDigest(certificate),
    further: more.flatMap(furtherDigest),
    issuerSerial: second === undefined ? undefined : base64Of(second),
    issuerText:
      first === undefined
        ? undefined
        : {
            name: textOf(onlyChild(first, DS, 'X509IssuerName')),
            serial: textOf(onlyChild(first, DS, 'X509SerialNumber')).trim(),
          },
  };
}

/** Reads Cert = CertDigest { ds:DigestMethod, ds:DigestValue }, … */
function certificateDigest(certificate: SignatureNode): CertificateDigest {
  return digestIn(onlyChild(certificate, XADES, 'CertDigest'));
}

function digestIn(digest: SignatureNode): CertificateDigest {
  assertChildren(digest, DS, 'DigestMethod', 'DigestValue');
  return {
    digestMethod: plainAlgorithm(onlyChild(digest, DS, 'DigestMethod')),
    digest: base64Of(onlyChild(digest, DS, 'DigestValue')),
  };
}

/** Passes over what cannot be read: it names no signer. */
function furtherDigest(certificate: SignatureNode): CertificateDigest[] {
  const digest = readable(() =>
    is(certificate, XADES, 'Cert') ? certificateDigest(certificate) : undefined,
  );
  return digest === undefined ? [] : [digest];
}

function readable<Value>(read: () => Value | undefined): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof FormFault) return undefined;
    throw error;
  }
}

/** Reads SignaturePolicyIdentifier = SignaturePolicyId | SignaturePolicyImplied (§5.2.9). */
function readPolicy(node: SignatureNode): PolicyName {
  const implied = optionalChild(node, XADES, 'SignaturePolicyImplied');
  const explicit = optionalChild(node, XADES, 'SignaturePolicyId');
  if (explicit === undefined) {
    if (implied === undefined) throw new FormFault('SignaturePolicyIdentifier names no policy');
    return { identifier: undefined };
  }
  const text = textOf(onlyChild(onlyChild(explicit, XADES, 'SigPolicyId'), XADES, 'Identifier')).trim();
  if (text === '') throw new FormFault('SignaturePolicyIdentifier names no policy');
  return {
    identifier: /^(?:urn:oid:)?([0-2](?:\.\d+)+)$/i.exec(text)?.[1] ?? text,
    digest: readable(() => digestIn(onlyChild(explicit, XADES, 'SigPolicyHash'))),
  };
}
