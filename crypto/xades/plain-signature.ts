/**
 * Plain XML signatures inside a document (XML Signature 1.1), without the properties of XAdES and without a prefix, as
 * national invoices demand them.
 */
import { createHash } from 'node:crypto';
import {
  CryptoError,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignerIdentity,
  type XadesFormat,
} from '../core/types.ts';
import {
  DIGEST_URI,
  DS,
  ENVELOPED,
  EXCLUSIVE_C14N,
  INCLUSIVE_C14N,
  signatureUriOf,
} from './elements/identifiers.ts';
import { prefixListText, type SignatureText } from './elements/signature-text.ts';
import type { SigningPlan } from './plan.ts';
import { assemble } from './signed-output.ts';
import { mapDocument } from './validation/document-map.ts';
import { digestData, findData, referenceContext, writeNode } from './validation/reference-data.ts';
import { readSignatureForm } from './validation/signed-info.ts';

interface PlainRequest extends Pick<SignatureParameters, 'includeChain' | 'policy' | 'claimedRole'> {
  readonly signer: SignerIdentity;
  readonly algorithm: SignatureAlgorithm;
  readonly form: XadesFormat;
}

/** @throws {CryptoError} `request.invalid` for what a plain signature cannot have */
export function assertPlain({
  form,
  policy,
  claimedRole,
  level = 'B',
}: Pick<PlainRequest, 'form' | 'policy' | 'claimedRole'> & { level?: string }): void {
  const odd =
    level !== 'B' ||
    policy !== undefined ||
    claimedRole !== undefined ||
    form.coSignable === true ||
    form.packaging === 'enveloping' ||
    form.packaging === 'detached';
  if (odd)
    throw new CryptoError(
      'request.invalid',
      'A plain XML signature stands in its document, at level B, without a policy or a role and beside no other.',
    );
}

/**
 * Builds the text of a planned signature. With inclusive canonicalization the signed bytes depend on the elements around the
 * signature, so they are read from the document with the unfinished signature, as a verifier reads them.
 */
export function plainText(
  document: Buffer,
  plan: SigningPlan,
  { signer, algorithm, form, includeChain = true }: PlainRequest,
): SignatureText {
  const uri = plan.references[0]?.uri ?? '';
  const method = form.canonicalization === 'inclusive' ? INCLUSIVE_C14N : EXCLUSIVE_C14N;
  const list = method === EXCLUSIVE_C14N ? prefixListText(plan.prefixes) : '';
  const certificates = [signer.certificate, ...(includeChain ? signer.chain : [])];
  const signedInfo = (digest: Buffer): string =>
    '<SignedInfo>' +
    `<CanonicalizationMethod Algorithm="${method}"></CanonicalizationMethod>` +
    `<SignatureMethod Algorithm="${signatureUriOf(algorithm)}"></SignatureMethod>` +
    `<Reference URI="${uri}"><Transforms><Transform Algorithm="${ENVELOPED}"></Transform><Transform Algorithm="${method}">${list}</Transform></Transforms>` +
    `<DigestMethod Algorithm="${DIGEST_URI[algorithm.digest]}"></DigestMethod>` +
    `<DigestValue>${digest.toString('base64')}</DigestValue></Reference></SignedInfo>`;
  const keyInfo = `<KeyInfo><X509Data>${certificates.map((der) => `<X509Certificate>${der.toString('base64')}</X509Certificate>`).join('')}</X509Data></KeyInfo>`;
  const textWith = (digest: Buffer, canonical = ''): SignatureText => ({
    id: plan.id,
    isPlain: true,
    signedInfo: canonical,
    signedProperties: '',
    keyInfo,
    written: { signedInfo: signedInfo(digest), signedProperties: '', keyInfo },
  });
  // No document has this digest, and no other signature of it this one.
  const unfinished = createHash(algorithm.digest).update(plan.id).digest();
  const digest = readAgain(document, plan, {
    text: textWith(unfinished),
    digest: unfinished,
    read: (context, signature, reference) =>
      digestData(context, findData(context, reference), signature, algorithm.digest),
  });
  const canonical = readAgain(document, plan, {
    text: textWith(digest),
    digest,
    read: (context, signature) => {
      const parts: Buffer[] = [];
      const read = readSignatureForm(signature);
      writeNode(context, read.signedInfo, read.canonicalization, {
        update: (bytes) => parts.push(Buffer.from(bytes)),
      });
      return Buffer.concat(parts);
    },
  });
  return textWith(digest, canonical.toString());
}

type Context = ReturnType<typeof referenceContext>;
type Form = ReturnType<typeof readSignatureForm>;

/** Reads the document with a signature that is not finished. @throws {CryptoError} `xml.existing-signature` */
function readAgain(
  document: Buffer,
  { frame }: SigningPlan,
  {
    text,
    digest,
    read,
  }: {
    readonly text: SignatureText;
    readonly digest: Buffer;
    readonly read: (
      context: Context,
      signature: Form['node'],
      reference: Form['references'][number],
    ) => Buffer;
  },
): Buffer {
  const { before, inserted, after } = assemble(document, frame, openPlain(text, digest));
  const map = mapDocument(Buffer.concat([before, inserted, after]));
  for (const signature of map.signatures) {
    const own = readSignatureForm(signature).references.find((reference) => reference.digest.equals(digest));
    if (own !== undefined)
      return read(
        referenceContext(map, () => undefined),
        signature,
        own,
      );
  }
  throw new CryptoError('xml.existing-signature', 'The signature cannot be found again where it was put.');
}

/** Builds the signature without its end tag. */
export function openPlain({ written }: SignatureText, value: Buffer): string {
  const signed = `${written.signedInfo}<SignatureValue>${value.toString('base64')}</SignatureValue>`;
  return `<Signature xmlns="${DS}">${signed}${written.keyInfo}`;
}
