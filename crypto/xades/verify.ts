/**
 * Verification of a just-made XML signature: confirms an XAdES baseline signature over the expected content, with a
 * reason for every check (EN 319 132-1 §6.3). It uses the findings of full validation and reads the file again,
 * independent of signing.
 */

import { openSource, type Source } from '../core/source.ts';
import type { Check, VerificationReport, VerifyFileRequest } from '../core/types.ts';
import type { Finding } from '../core/validation-report.ts';
import { algorithmText, isBroken } from '../validation/algorithms.ts';
import type { SignatureInfo } from '../validation/signature-info.ts';
import { checkChain, checkKeyUsage, checkSigner, checkValidity } from '../x509/path-search.ts';
import { MAX_SIGNED_LENGTH, readDocument } from './read-document.ts';
import { signatureReport } from './report.ts';
import { finderOf, readable, topSignatures } from './validate.ts';
import { type ReferenceContext, referenceContext } from './validation/reference-data.ts';
import { containsContent } from './validation/same-content.ts';
import type { SignatureNode } from './validation/signature-node.ts';

/** Optional expectations on a signed document besides its integrity. */
type VerifyXmlOptions = Pick<VerifyFileRequest, 'signer' | 'content' | 'anchors' | 'at'>;

/**
 * Verifies the newest signature of one file. An invalid document is a failed check, not an exception.
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.empty`, `input.too-large`.
 */
export function verifyXades(request: VerifyFileRequest): VerificationReport {
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
  const { content } = options;
  const candidates = topSignatures(map).reverse();
  const made = content && candidates.find((node) => containsContent(document, context, node, content));
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
  { at, anchors, signer }: VerifyXmlOptions,
): Check[] {
  const facts = signatureReport(context, node);
  const findings = [...facts.findings, ...facts.timestamps.flatMap((stamp) => stamp.findings)];
  const checks = checksOf(findings.filter((finding) => !(sameContent && isAbsent(finding))));
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
