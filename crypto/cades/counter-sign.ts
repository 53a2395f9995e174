/** Counter-signatures: signatures over another signature value (RFC 5652 §11.4, EN 319 122-1 §5.2.7). */
import { createHash } from 'node:crypto';
import { OID } from '../asn1/oids.ts';
import { unsignedAttribute } from '../cms/attributes-template.ts';
import { completeSignerInfo, prepareSignedData } from '../cms/build.ts';
import type { Source } from '../core/files.ts';
import { assertRequest } from '../core/request-checks.ts';
import {
  CryptoError,
  type InputFile,
  type OutputFile,
  type SignatureParameters,
  type SignedFile,
  type Signer,
} from '../core/types.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import {
  amended,
  assertExtensible,
  assertIntact,
  type ExistingSignature,
  readExisting,
} from './existing-signature.ts';
import { type FileNames, withFiles } from './signature-files.ts';

export interface CounterSignCadesRequest<Input extends InputFile = string, Output extends OutputFile = string>
  extends SignatureParameters,
    FileNames<Input, Output> {
  readonly signer: Signer;
  /** Index of the signature to counter-sign, from 0; all signatures when left out. */
  readonly of?: number;
}

/**
 * Counter-signs signatures of a CAdES file at level B, as unsigned attributes. The file keeps its encoding.
 * Source: RFC 5652 §11.4; EN 319 122-1 §5.2.7.
 * @throws {CryptoError} as `addCadesSigner`; `request.invalid` when there is no such signature
 */
export function counterSignCades(request: CounterSignCadesRequest<InputFile, OutputFile>): SignedFile {
  assertRequest(undefined, request, ['at', 'signer']);
  return withFiles(request, 'as-input', (source, output) => {
    const { existing, der } = counterSigned(source, request);
    existing.write(der, output);
    return { sha256: existing.sha256 };
  });
}

/** `CounterSignCadesRequest` for an open file. */
type CounterSignedRequest = Omit<
  CounterSignCadesRequest<InputFile, OutputFile>,
  keyof FileNames<InputFile, OutputFile>
>;

/**
 * Returns a signature file with its counter-signatures, as DER without the content. @throws {CryptoError} as
 * `counterSignCades`
 */
export function counterSigned(
  source: Source,
  request: CounterSignedRequest,
): { readonly existing: ExistingSignature; readonly der: Buffer } {
  const { signer, of, includeChain = true } = request;
  const existing = readExisting(source, undefined);
  assertIntact(existing, source);
  assertExtensible(existing, source);
  const { signers } = existing.data;
  if (of !== undefined && signers[of] === undefined) {
    throw new CryptoError('request.invalid', `${source.path} has no signature number ${of}.`);
  }
  const unsigned = new Map<number, readonly Buffer[]>();
  for (const [place, { signature, unsignedAttributes }] of signers.entries()) {
    if (of !== undefined && of !== place) continue;
    const attribute = unsignedAttribute(OID.counterSignature, counterSignature(request, signature));
    unsigned.set(place, [...(unsignedAttributes?.encodings ?? []), attribute]);
  }
  const certificates = includeChain ? [signer.certificate, ...signer.chain] : [signer.certificate];
  return { existing, der: amended(source, existing.der, { certificates, unsigned }) };
}

/**
 * Builds a SignerInfo over the octets of a signature value; it has no content-type attribute (RFC 5652 §11.4).
 *     Countersignature ::= SignerInfo
 */
function counterSignature(request: CounterSignedRequest, signature: Buffer): Buffer {
  const { signer, at } = request;
  const messageDigest = createHash(algorithmOf(signer, request).digest).update(signature).digest();
  const signedData = { ...request, messageDigest, signingTime: at, contentType: 'none' };
  const { toBeSigned, algorithm } = prepareSignedData(signedData);
  return completeSignerInfo(signedData, toBeSigned, signer.key.sign(toBeSigned, algorithm));
}
