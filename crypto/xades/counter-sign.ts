/** Counter-signatures: signatures over the value of another one, in its unsigned properties (EN 319 132-1 §5.2.7). */
import { createHash } from 'node:crypto';
import { openSource, type Source } from '../core/files.ts';
import { assertRequest } from '../core/request-checks.ts';
import { type ChangedFile, CryptoError, type SignedFile, type Signer } from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { EXCLUSIVE } from '../xml/index.ts';
import { changeableNodes } from './augment.ts';
import { COUNTERSIGNED_TYPE, DS, EXCLUSIVE_C14N } from './elements/identifiers.ts';
import { CLOSE_SIGNATURE, openSignature, signatureText, transformText } from './elements/signature-text.ts';
import { ALONE } from './plan.ts';
import { freeId, readExisting } from './present-signature.ts';
import { insertProperties } from './property-insertion.ts';
import { raiseLevel } from './raise-level.ts';
import { MAX_SIGNED_LENGTH, readDocument } from './read-document.ts';
import { raisableNew, signValue } from './sign.ts';
import { writeChunks } from './signed-output.ts';
import { counterSignatureText } from './unsigned-properties.ts';
import { mapDocument } from './validation/document-map.ts';
import { type ReferenceContext, referenceContext, writeNode } from './validation/reference-data.ts';
import { attributeOf, onlyChild, type SignatureNode } from './validation/signature-node.ts';

interface CounterSignXadesRequest extends ChangedFile {
  readonly signer: Signer;
  /** Id of the ds:Signature to counter-sign. @default every signature of the file */
  readonly of?: string;
}

/**
 * Counter-signs intact XAdES signatures of one file. Their SignatureValue needs an Id, because the reference names
 * it.
 * @param services for the levels above B
 * @throws {CryptoError} as `augmentXades`; `request.invalid` when there is no such signature, or none with an Id
 */
export async function counterSignXades(
  request: CounterSignXadesRequest,
  services: SigningServices = {},
): Promise<SignedFile> {
  assertRequest(undefined, request, ['at', 'signer']);
  const source = openSource(request.input);
  try {
    const { document, parts } = await counterSignedChunks(source, request, services);
    return writeChunks(source, document, parts, request);
  } finally {
    source.close();
  }
}

/** Parameters of `CounterSignXadesRequest` for a file that is open. */
type CounterSignedRequest = Omit<CounterSignXadesRequest, 'input' | 'output' | 'sync'>;

/** Returns a document with its counter-signatures, as chunks in order. @throws {CryptoError} as `counterSignXades` */
export async function counterSignedChunks(
  source: Source,
  request: CounterSignedRequest,
  services: SigningServices,
): Promise<{ readonly document: Buffer; readonly parts: [Buffer, ...Buffer[]] }> {
  const document = readDocument(source, MAX_SIGNED_LENGTH);
  const map = mapDocument(document);
  const context = referenceContext(map, () => undefined);
  const nodes = changeableNodes(context, source).filter(
    (node) => request.of === undefined || attributeOf(node, 'Id') === request.of,
  );
  if (nodes.length === 0) {
    throw new CryptoError(
      'request.invalid',
      `${source.path} has no signature "${request.of}" to counter-sign.`,
    );
  }
  const insertions = [];
  for (const node of nodes) {
    const properties = counterSignatureText(await counterSignature(context, node, request, services));
    insertions.push({ signature: node, properties });
  }
  return { document, parts: insertProperties(document, map, insertions) };
}

async function counterSignature(
  context: ReferenceContext,
  node: SignatureNode,
  request: CounterSignedRequest,
  services: SigningServices,
): Promise<string> {
  const { value: countersigned } = readExisting(context, node);
  const valueNode = onlyChild(node, DS, 'SignatureValue');
  const valueId = attributeOf(valueNode, 'Id') ?? '';
  if (!/^[\p{L}\p{N}\p{M}_.:·-]+$/u.test(valueId)) {
    throw new CryptoError('request.invalid', 'The value of a signature has no Id by which it can be named.');
  }
  const { signer, at, level = 'B' } = request;
  const algorithm = algorithmOf(signer, request);
  const signed = createHash(algorithm.digest);
  writeNode(context, valueNode, EXCLUSIVE, signed);
  const reference = {
    uri: `#${valueId}`,
    type: COUNTERSIGNED_TYPE,
    transforms: transformText(EXCLUSIVE_C14N),
    digest: signed.copy().digest(),
  };
  const seed = Buffer.concat([countersigned, Buffer.from(signer.fingerprint)]);
  const id = freeId(context.map, seed, at);
  const text = signatureText({ ...request, algorithm, id, references: [reference] });
  const value = signValue(signer, text, algorithm);
  const plan = { id, references: [reference], prefixes: [], signed, frame: { ...ALONE, cut: 0, resume: 0 } };
  const unsigned =
    level === 'B'
      ? []
      : await raiseLevel(raisableNew({ plan, text, algorithm }, value, request), level, at, services);
  return openSignature(text, value, unsigned) + CLOSE_SIGNATURE;
}
