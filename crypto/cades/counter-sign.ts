/** Counter-signatures: signatures over the value of another one (RFC 5652 §11.4, EN 319 122-1 §5.2.7). */
import { createHash } from 'node:crypto';
import { OID } from '../asn1/oids.ts';
import { completeSignerInfo, prepareSignedData } from '../cms/build.ts';
import { unsignedAttribute } from '../cms/unsigned-attributes.ts';
import type { Source } from '../files/source.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import { CryptoError, type SignatureParameters, type SignedFile, type Signer } from '../types.ts';
import { amended, type ExistingSignature, readExisting } from './existing-signature.ts';
import { type FileNames, withFiles } from './signature-files.ts';
import { assertOpen, assertSound } from './soundness.ts';

export interface CounterSignCadesRequest extends SignatureParameters, FileNames {
  readonly signer: Signer;
  /** Place of the signature that is counter-signed, from 0; left out, each one in the file is. */
  readonly of?: number;
}

/**
 * Counter-signs signatures of a CAdES file at level B, as an unsigned attribute of theirs. The file keeps its form.
 * @throws {CryptoError} as `addCadesSigner`; `request.invalid` when there is no such signature
 */
export function counterSignCades(request: CounterSignCadesRequest): SignedFile {
  return withFiles(request, 'as-input', (source, output) => {
    const { existing, der } = counterSigned(source, request);
    existing.write(der, output);
    return { sha256: existing.sha256 };
  });
}

/** As `CounterSignCadesRequest`, for a file that is open. */
export type CounterSignedRequest = Omit<CounterSignCadesRequest, keyof FileNames>;

/** A signature file with its counter-signatures, as DER without the content. @throws {CryptoError} as `counterSignCades` */
export function counterSigned(
  source: Source,
  request: CounterSignedRequest,
): { readonly existing: ExistingSignature; readonly der: Buffer } {
  const { signer, of, includeChain = true } = request;
  const existing = readExisting(source, undefined);
  assertSound(existing, source);
  assertOpen(existing, source);
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

/** DER of a SignerInfo over the octets of a signature value; it has no content-type attribute. */
function counterSignature(request: CounterSignedRequest, signature: Buffer): Buffer {
  const { signer, at } = request;
  const messageDigest = createHash(algorithmOf(signer, request).digest).update(signature).digest();
  const signedData = { ...request, messageDigest, signingTime: at, contentType: 'none' };
  const { toBeSigned, algorithm } = prepareSignedData(signedData);
  return completeSignerInfo(signedData, toBeSigned, signer.key.sign(toBeSigned, algorithm));
}
