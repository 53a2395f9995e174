/** XAdES baseline signatures at all levels in the four packagings (EN 319 132-1 §6.3). */
import { openSource, type Source } from '../core/files.ts';
import {
  CryptoError,
  type InputFile,
  type OutputFile,
  type RemoteSigner,
  type SignAtLevelRequest,
  type SignatureAlgorithm,
  type SignatureLevel,
  type SignatureParameters,
  type SignedFile,
  type Signer,
  type SignerIdentity,
  type SignFileRequest,
  type XadesFormat,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { signatureValue } from '../keys/stored-signer.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { concatenatedValue } from '../x509/signature-values.ts';
import { MAX_DOCUMENT_LENGTH } from '../xml/index.ts';
import { planInDocument } from './document-plan.ts';
import {
  CLOSE_SIGNATURE,
  openSignature,
  type SignatureText,
  signatureText,
  signatureValueText,
} from './elements/signature-text.ts';
import { mayBeXml, planEnveloping } from './enveloping-plan.ts';
import { assertPlain, openPlain, plainText } from './plain-signature.ts';
import { type DetachedContent, planDetached, type SigningPlan } from './plan.ts';
import { type RaisableSignature, raiseLevel } from './raise-level.ts';
import { readDocument } from './read-document.ts';
import { assemble, writeChunks, writeStreamed } from './signed-output.ts';

/**
 * Signs as `signXades` does, at `request.level` (default B). The input is read as often as for level B; the
 * authorities are called between signing and writing.
 * @throws {CryptoError} those of `signXades`; `request.invalid` when a service that the level needs is not
 *   configured; `authority.unreachable`, `authority.refused`, `revocation.missing`, `certificate.revoked`
 */
export async function signXadesAtLevel(
  request: SignAtLevelRequest<InputFile, OutputFile>,
  services: SigningServices,
): Promise<SignedFile> {
  const source = openSource(request.input);
  try {
    const planned = planSignature(source, request.signer, request);
    const value = await signedValue(request.signer, planned);
    return await writeAtLevel(source, planned, { value, request, services });
  } finally {
    source.close();
  }
}

/** The signature without its end tag. */
function opened(text: SignatureText, value: Buffer, unsigned: readonly string[] = []): string {
  return text.isPlain === true ? openPlain(text, value) : openSignature(text, value, unsigned);
}

/** Parameters of the steps that follow the signature value. */
interface LevelRequest
  extends Pick<SignFileRequest<InputFile, OutputFile>, 'output' | 'sync' | 'includeChain'> {
  readonly signer: SignerIdentity;
  readonly level?: SignatureLevel;
  readonly at: number;
}

/** Augments and writes a planned signature. @param value in the encoding of XML Signature (§6.4) */
export async function writeAtLevel(
  source: Source,
  planned: PlannedSignature,
  {
    value,
    request,
    services,
  }: { readonly value: Buffer; readonly request: LevelRequest; readonly services: SigningServices },
): Promise<SignedFile> {
  const { text } = planned;
  const { level = 'B', at } = request;
  const unsigned =
    level === 'B' ? [] : await raiseLevel(raisableNew(planned, value, request), level, at, services);
  return writePlanned(source, planned, opened(text, value, unsigned), request);
}

/** Describes a signature created in this process, so that none of its parts are parsed again for time-stamps. */
export function raisableNew(
  { plan, text, algorithm, completeReferences = false }: Omit<PlannedSignature, 'document'>,
  value: Buffer,
  { signer, includeChain = true }: Pick<LevelRequest, 'signer' | 'includeChain'>,
): RaisableSignature {
  const signatureValue = signatureValueText(text, value);
  return {
    id: text.id,
    digest: algorithm.digest,
    certificate: signer.certificate,
    certificates: includeChain ? [signer.certificate, ...signer.chain] : [signer.certificate],
    signatureValue,
    signatureTimestamps: [],
    archiveTimestamps: [],
    hasCertificateValues: false,
    hasRevocationValues: false,
    wantsReferences: completeReferences,
    lastArchiveIsProven: false,
    // EN 319 132-1 §5.5.2: the referenced data, then SignedInfo, SignatureValue and KeyInfo.
    archived: () => {
      if (plan.signed === undefined) {
        throw new CryptoError('request.invalid', 'The signature was not planned for an archive time-stamp.');
      }
      const hash = plan.signed.copy();
      for (const part of [text.signedProperties, text.signedInfo, signatureValue, text.keyInfo]) {
        hash.update(part);
      }
      return hash;
    },
    writeObjects: (sink) => plan.writeObjects?.(sink),
  };
}

/** One signature over several files of a container (EN 319 162-1 §4.4). */
interface DetachedSignatureRequest extends SignatureParameters {
  readonly signer: Signer | RemoteSigner;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  readonly contents: readonly DetachedContent[];
}

/**
 * Creates the ds:Signature element, in ASCII, for a document that has no other signature with the same identifiers:
 * they are derived from contents, signer and time. Each content is read once, in chunks.
 * @param services for the levels above B
 * @throws {CryptoError} `request.invalid` for no contents, a URI that names no file, or a missing service; errors of
 *   reading, of the key and of the services
 */
export async function detachedSignature(
  request: DetachedSignatureRequest,
  services: SigningServices = {},
): Promise<string> {
  const { signer, contents, at, level = 'B' } = request;
  if (contents.length === 0) throw new CryptoError('request.invalid', 'There is nothing to sign.');
  const algorithm = algorithmOf(signer, request);
  const plan = planDetached(contents, { signer, algorithm, at, archived: level === 'LTA' });
  const text = textOf(plan, signer, algorithm, request);
  const planned = { plan, text, algorithm };
  const value = await signedValue(signer, planned);
  const unsigned =
    level === 'B' ? [] : await raiseLevel(raisableNew(planned, value, request), level, at, services);
  return openSignature(text, value, unsigned) + CLOSE_SIGNATURE;
}

/** Signature parameters without input and output. */
type XadesParameters = SignatureParameters & { readonly xades?: XadesFormat };

/** A signature before its value is made. */
export interface PlannedSignature {
  readonly plan: SigningPlan;
  readonly text: SignatureText;
  readonly algorithm: SignatureAlgorithm;
  /** As `XadesFormat.completeReferences`. */
  readonly completeReferences?: boolean;
  /** The input, when the packaging needs it in memory. */
  readonly document: Buffer | undefined;
}

/**
 * Reads the input and prepares everything but the signature value.
 * @throws {CryptoError} errors of reading and of the packaging; `key.unsupported`
 */
export function planSignature(
  source: Source,
  signer: SignerIdentity,
  parameters: XadesParameters & { readonly level?: SignatureLevel },
): PlannedSignature {
  const form = parameters.xades ?? {};
  if (source.size === 0) throw new CryptoError('input.empty', `${source.path} is empty.`);
  const { completeReferences = false } = form;
  if (completeReferences && parameters.level !== 'LT' && parameters.level !== 'LTA') {
    throw new CryptoError(
      'request.invalid',
      'References to what validates a signature take level LT or LTA.',
    );
  }
  if (form.form === 'xmldsig') assertPlain({ ...parameters, form });
  const detached = form.packaging === 'detached';
  const streamed = detached || (form.packaging === 'enveloping' && !mayBeXml(source));
  const document = streamed ? undefined : readDocument(source, MAX_DOCUMENT_LENGTH);
  const algorithm = algorithmOf(signer, parameters);
  const request = { signer, algorithm, at: parameters.at, form, archived: parameters.level === 'LTA' };
  const plan = detached
    ? planDetached([{ ...form, source }], request)
    : form.packaging === 'enveloping'
      ? planEnveloping(source, document, request)
      : planInDocument(document ?? Buffer.alloc(0), request);
  const text =
    form.form === 'xmldsig'
      ? plainText(document ?? Buffer.alloc(0), plan, { ...parameters, signer, algorithm, form })
      : textOf(plan, signer, algorithm, parameters);
  return { plan, algorithm, completeReferences, document, text };
}

/** Builds the text of a planned signature. */
function textOf(
  { id, references }: SigningPlan,
  signer: SignerIdentity,
  algorithm: SignatureAlgorithm,
  parameters: SignatureParameters,
): SignatureText {
  return signatureText({ id, references, algorithm, ...parameters, signer });
}

/** Encodes a value of `SigningKey.sign` for XML Signature (1.1 §6.4.3: ECDSA as r and s concatenated). */
export function encodedValue({ keyType, keyBits }: SignerIdentity, made: Buffer): Buffer {
  return keyType === 'ec' ? concatenatedValue(made, keyBits) : made;
}

/** Signs with the key and encodes the value. */
export function signValue(
  signer: Signer,
  { signedInfo }: SignatureText,
  algorithm: SignatureAlgorithm,
): Buffer {
  return encodedValue(signer, signer.key.sign(Buffer.from(signedInfo), algorithm));
}

/** Signs with the key of the signer, wherever it is, and encodes the value. @throws as `signatureValue` */
async function signedValue(
  signer: Signer | RemoteSigner,
  { text, algorithm }: Pick<PlannedSignature, 'text' | 'algorithm'>,
): Promise<Buffer> {
  return encodedValue(signer, await signatureValue(signer, Buffer.from(text.signedInfo), algorithm));
}

/** Writes a planned signature, opened by `openSignature`, with its input. @throws {CryptoError} as `writeChunks` */
function writePlanned(
  source: Source,
  { plan: { frame }, document }: Pick<PlannedSignature, 'plan' | 'document'>,
  opened: string,
  request: Pick<SignFileRequest<InputFile, OutputFile>, 'output' | 'sync'>,
): SignedFile {
  if (document === undefined || frame.object?.content === 'base64') {
    return writeStreamed(source, frame, opened, request);
  }
  const { before, inserted, content, closing, after } = assemble(document, frame, opened);
  return writeChunks(source, document, [before, inserted, content, closing, after], request);
}

/**
 * Signs one file. An XML document is read once as a whole, other files in chunks; the output is hashed while it is
 * written, and synced.
 *
 * The identifiers in the signature derive from content, time and signer: with RSA, equal requests give equal bytes.
 * @throws {CryptoError} errors of the packaging (`xml.malformed`, `xml.dtd`, `xml.encoding`, `xml.too-deep`,
 *   `xml.existing-signature`, `request.invalid`), of the key (`key.unsupported`, `key.unavailable`), of reading
 *   (`input.unreadable`, `input.changed`, `input.empty`, `input.too-large`) and of writing (`output.exists`,
 *   `output.unwritable`). No output is left then.
 */
export function signXades(request: SignFileRequest<InputFile, OutputFile>): SignedFile {
  const source = openSource(request.input);
  try {
    const planned = planSignature(source, request.signer, request);
    const value = signValue(request.signer, planned.text, planned.algorithm);
    return writePlanned(source, planned, opened(planned.text, value), request);
  } finally {
    source.close();
  }
}
