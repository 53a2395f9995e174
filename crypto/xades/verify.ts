/**
 * Verification of a just-made XML signature: confirms an XAdES baseline signature over the expected content, with a
 * reason for every check (EN 319 132-1 §6.3). It uses the findings of full validation and reads the file again,
 * independent of signing.
 *
 * Comparison of a signed document with the content that was to be signed.
 */

import { createHash } from 'node:crypto';
import { openSource, type Source } from '../core/files.ts';
import type { Check, InputFile, VerificationReport, VerifyFileRequest } from '../core/types.ts';
import type { Finding } from '../core/validation-report.ts';
import { algorithmText, isBroken } from '../validation/algorithms.ts';
import type { SignatureInfo } from '../validation/signature-info.ts';
import { checkChain, checkKeyUsage, checkSigner, checkValidity } from '../x509/certificate-checks.ts';
import { DS } from './elements/identifiers.ts';
import { MAX_SIGNED_LENGTH, readDocument } from './read-document.ts';
import { signatureReport } from './signature-report.ts';
import { finderOf, readable, topSignatures } from './validate.ts';
import { hashOf } from './validation/algorithms.ts';
import {
  DataFault,
  digestData,
  findData,
  type ReferenceContext,
  referenceContext,
} from './validation/reference-data.ts';
import {
  attributeOf,
  childrenNamed,
  FormFault,
  holds,
  type SignatureNode,
} from './validation/signature-node.ts';
import { type ReferenceFormat, readReference, targetOf } from './validation/signed-info.ts';

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
function containsContent(
  document: Buffer,
  context: ReferenceContext,
  signature: SignatureNode,
  { content: expected, isPlaced = false }: { content: ExpectedContent; isPlaced?: boolean },
): boolean {
  const { decoded, root, utf8 } = context.map;
  const start = decoded.toOriginal(signature.start);
  const end = decoded.toOriginal(signature.end);
  if (signature.start !== root.start) {
    if (digestsTo(expected, [document.subarray(0, start), document.subarray(end)])) return true;
    const resume = openedFor(utf8, signature);
    return (
      resume !== undefined &&
      (isPlaced || resume === root.end || isSignedUpTo(context, signature, resume)) &&
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
    reads(() => {
      const data = findData(context, readReference(node));
      return data.kind === 'element' && data.place.end === end && holds(data.place, signature);
    }),
  );
}

function referencesOf(signature: SignatureNode): SignatureNode[] {
  return childrenNamed(signature, DS, 'SignedInfo').flatMap((info) => childrenNamed(info, DS, 'Reference'));
}

/** Returns false for a reference that can't be read. */
function reads(test: () => boolean): boolean {
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
    reads(() =>
      coversBytes(context, signature, {
        reference: readReference(node),
        sha256,
        byDigest: outside.length === 1,
      }),
    ),
  );
}

function coversBytes(
  context: ReferenceContext,
  signature: SignatureNode,
  {
    reference,
    sha256,
    byDigest,
  }: { readonly reference: ReferenceFormat; readonly sha256: Buffer; readonly byDigest: boolean },
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

/** Optional expectations on a signed document besides its integrity. */
type VerifyXmlOptions = Pick<
  VerifyFileRequest<InputFile>,
  'signer' | 'content' | 'isPlaced' | 'isPlain' | 'anchors' | 'at'
>;

/**
 * Verifies the newest signature of one file. An invalid document is a failed check, not an exception.
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.empty`, `input.too-large`.
 */
export function verifyXades(request: VerifyFileRequest<InputFile>): VerificationReport {
  const source = openSource(request.path);
  try {
    const beside = request.contentPath === undefined ? undefined : openSource(request.contentPath);
    try {
      const report = verifyXml(readDocument(source, MAX_SIGNED_LENGTH), request, beside);
      source.assertUnchanged();
      beside?.assertUnchanged();
      return report;
    } finally {
      beside?.close();
    }
  } finally {
    source.close();
  }
}

/**
 * Verifies the signature that turns `options.content` into the signed document, or the last one without
 * `options.content`.
 *
 * Checks: structure, algorithms, unique-ids, document-digest, properties-digest, signing-time, signing-certificate,
 * signature-value, coverage, timestamps (when there are any), certificate-validity, key-usage, and when asked for
 * signer, chain, content. Other signatures in the document are counted but not judged.
 * @param beside content of a detached signature; without it, its digest is compared with that of `options.content`
 */
export function verifyXml(document: Buffer, options: VerifyXmlOptions, beside?: Source): VerificationReport {
  const map = readable(document);
  if (!('utf8' in map)) return unreadable(`${map.detail}: ${map.message}`);
  const context = referenceContext(map, finderOf(beside, map));
  const { content, isPlaced = false } = options;
  const candidates = topSignatures(map).reverse();
  const made =
    content && candidates.find((node) => containsContent(document, context, node, { content, isPlaced }));
  const node = made ?? candidates[0];
  if (node === undefined) return unreadable('The document has no signature.');
  const checks = checkSignature(context, node, made !== undefined, options);
  if (content !== undefined) checks.push(contentCheck(made !== undefined));
  return { ok: checks.every(({ ok }) => ok), signatures: map.signatures.length + map.unseen, checks };
}

function unreadable(detail: string): VerificationReport {
  return { ok: false, signatures: 0, checks: [{ name: 'structure', ok: false, detail }] };
}

/** Check names by finding type; a trailing dot matches all types with that prefix. */
const CHECK_NAMES: readonly (readonly [type: string, name: string])[] = [
  ['structure.', 'structure'],
  ['reference.', 'structure'],
  ['scope.detour', 'structure'],
  ['attributes.xades', 'structure'],
  ['attributes.target', 'structure'],
  ['ids.unique', 'unique-ids'],
  ['digest.properties', 'properties-digest'],
  ['digest.', 'document-digest'],
  ['algorithm.', 'algorithms'],
  ['attributes.signing-time', 'signing-time'],
  ['certificate.', 'signing-certificate'],
  ['signature.value', 'signature-value'],
  ['timestamp.', 'timestamps'],
];

function checkSignature(
  context: ReferenceContext,
  node: SignatureNode,
  sameContent: boolean,
  { at, anchors, signer, isPlain = false }: VerifyXmlOptions,
): Check[] {
  const facts = signatureReport(context, node);
  const findings = [...facts.findings, ...facts.timestamps.flatMap((stamp) => stamp.findings)];
  const isExpected = (finding: Finding): boolean =>
    (sameContent && isAbsent(finding)) || (isPlain && isOfPlainForm(finding));
  const checks = checksOf(findings.filter((finding) => !isExpected(finding)));
  if (findings[0]?.status === 'failed') return checks;
  checks.push(algorithmsCheck(facts, checks), coverageCheck(facts, sameContent));
  const { certificate } = facts;
  if (certificate === undefined) return checks;
  checks.push(checkValidity(certificate, at), checkKeyUsage(certificate));
  if (signer !== undefined) checks.push(checkSigner(certificate, signer));
  if (anchors !== undefined) {
    const others = facts.certificates.map(({ der }) => der);
    checks.push(checkChain(certificate, others, anchors, at));
  }
  return checks;
}

/** True when the signed content is outside the file; its digest is compared with the expected content. */
function isAbsent({ type }: Finding): boolean {
  return type === 'reference.outside';
}

/** True for what a plain XML signature says by properties that it has not, and for its place beside the signed element. */
function isOfPlainForm({ type, status }: Finding): boolean {
  return status === 'warning' && PLAIN.includes(type);
}

const PLAIN: readonly string[] = ['attributes.xades', 'certificate.binding', 'reference.position'];

/** Builds one check per name; it fails when one of its findings fails. */
function checksOf(findings: readonly Finding[]): Check[] {
  const checks = new Map<string, Check>();
  for (const { type, status, message, detail } of findings) {
    const name = CHECK_NAMES.find(([start]) =>
      start.endsWith('.') ? type.startsWith(start) : type === start,
    )?.[1];
    if (name === undefined) continue;
    // A warning in general validation is a failure for a baseline signature just made.
    const ok = status === 'passed';
    if (ok && checks.has(name)) continue;
    if (checks.get(name)?.ok === false) continue;
    checks.set(name, { name, ok, detail: detail === undefined ? message : `${message} ${detail}` });
  }
  return [...checks.values()];
}

function algorithmsCheck({ algorithms }: SignatureInfo, checks: Check[]): Check {
  const name = 'algorithms';
  const found = checks.findIndex((check) => check.name === name);
  const [failed] = found < 0 ? [] : checks.splice(found, 1);
  if (failed !== undefined && !failed.ok) return failed;
  const weak = algorithms.find(isBroken);
  if (weak !== undefined) return { name, ok: false, detail: `${algorithmText(weak)} is too weak.` };
  return { name, ok: true, detail: `${[...new Set(algorithms.map(algorithmText))].join(', ')}.` };
}

/** Checks coverage: a part of a document suffices only when the rest is known to be unchanged. */
function coverageCheck({ scope }: SignatureInfo, sameContent: boolean): Check {
  return {
    name: 'coverage',
    ok: scope.kind !== 'element' || sameContent,
    detail: `The signature covers ${scope.description}.`,
  };
}

function contentCheck(ok: boolean): Check {
  return {
    name: 'content',
    ok,
    detail: ok
      ? 'Without the signature, the file is what was to be signed.'
      : 'Without the signature, the file is not what was to be signed.',
  };
}
