/** Comparison of a signed document with the content that was to be signed. */
import { createHash } from 'node:crypto';
import { DS } from '../elements/identifiers.ts';
import { hashOf } from './algorithms.ts';
import { DataFault, digestData, findData, type ReferenceContext } from './reference-data.ts';
import { attributeOf, childrenNamed, FormFault, holds, type SignatureNode } from './signature-node.ts';
import { type ReferenceFormat, readReference, targetOf } from './signed-info.ts';

/** Expected content: lower-case hex SHA-256, and length in bytes. */
interface ExpectedContent {
  readonly sha256: string;
  readonly length: number;
}

/**
 * True when removing the signature gives the expected bytes.
 * @param document the file as it is
 * @throws {CryptoError} errors of reading detached content
 */
export function containsContent(
  document: Buffer,
  context: ReferenceContext,
  signature: SignatureNode,
  expected: ExpectedContent,
): boolean {
  const { decoded, root, utf8 } = context.map;
  const start = decoded.toOriginal(signature.start);
  const end = decoded.toOriginal(signature.end);
  if (signature.start !== root.start) {
    if (digestsTo(expected, [document.subarray(0, start), document.subarray(end)])) return true;
    const resume = openedFor(utf8, signature);
    return (
      resume !== undefined &&
      (resume === root.end || isSignedUpTo(context, signature, resume)) &&
      digestsTo(expected, [
        document.subarray(0, decoded.toOriginal(signature.start - 1)),
        decoded.encode('/>'),
        document.subarray(decoded.toOriginal(resume)),
      ])
    );
  }
  return (
    childrenNamed(signature, DS, 'Object').some((object) =>
      digestsTo(expected, [
        // The declaration of an embedded document stays at the start of the file.
        document.subarray(0, start),
        document.subarray(decoded.toOriginal(object.contentStart), decoded.toOriginal(object.contentEnd)),
      ]),
    ) || referencesTo(context, signature, expected)
  );
}

/**
 * Finds the end of an empty-element tag that was expanded for the signature (`/>` became `>`, and an end tag followed
 * the signature); undefined when the signature does not fill an element.
 */
function openedFor(utf8: Buffer, { start, end }: SignatureNode): number | undefined {
  if (utf8[start - 1] !== GREATER || !utf8.subarray(end, end + 2).equals(END_OPEN)) return undefined;
  const close = utf8.indexOf(GREATER, end);
  return close < 0 ? undefined : close + 1;
}

const GREATER = 0x3e;
const END_OPEN = Buffer.from('</');

/**
 * True when the tag was expanded by signing: only signed elements are expanded, so another position means that the
 * signature was moved.
 */
function isSignedUpTo(context: ReferenceContext, signature: SignatureNode, end: number): boolean {
  return referencesOf(signature).some((node) =>
    readable(() => {
      const data = findData(context, readReference(node));
      return data.kind === 'element' && data.place.end === end && holds(data.place, signature);
    }),
  );
}

function referencesOf(signature: SignatureNode): SignatureNode[] {
  return childrenNamed(signature, DS, 'SignedInfo').flatMap((info) => childrenNamed(info, DS, 'Reference'));
}

/** Returns false for a reference that can't be read. */
function readable(test: () => boolean): boolean {
  try {
    return test();
  } catch (error) {
    if (error instanceof DataFault || error instanceof FormFault) return false;
    throw error;
  }
}

/** True when a Base64 object or a detached file with the expected bytes is referenced. */
function referencesTo(
  context: ReferenceContext,
  signature: SignatureNode,
  expected: ExpectedContent,
): boolean {
  const sha256 = Buffer.from(expected.sha256, 'hex');
  const references = referencesOf(signature);
  const outside = references.filter((node) => targetOf(attributeOf(node, 'URI')).kind === 'outside');
  // Only one missing file can be identified by its digest; with several, the others would stay unchecked.
  return references.some((node) =>
    readable(() => coversBytes(context, signature, readReference(node), sha256, outside.length === 1)),
  );
}

function coversBytes(
  context: ReferenceContext,
  signature: SignatureNode,
  reference: ReferenceFormat,
  sha256: Buffer,
  byDigest: boolean,
): boolean {
  const target = targetOf(reference.uri);
  if (target.kind === 'outside' && context.content(target.uri) === undefined) {
    return (
      byDigest &&
      reference.transforms === undefined &&
      hashOf(reference.digestMethod) === 'sha256' &&
      reference.digest.equals(sha256)
    );
  }
  const data = findData(context, reference);
  const bytes =
    data.kind === 'outside' ? data.processing.output === undefined : data.processing.output === 'base64';
  return bytes && digestData(context, data, signature, 'sha256').equals(sha256);
}

function digestsTo(expected: ExpectedContent, parts: readonly Buffer[]): boolean {
  if (parts.reduce((length, part) => length + part.length, 0) !== expected.length) return false;
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex') === expected.sha256;
}
