/** Certification paths (RFC 5280 §6), without revocation: from a certificate up to an anchor the caller trusts. */
import type { Check } from '../types.ts';
import { type Certificate, readableCertificates, readCertificate } from './certificate.ts';

export interface PathRequest {
  readonly certificate: Certificate;
  /** Certificates that may stand between; order and strangers don't matter, nothing is trusted for being here. */
  readonly others: readonly Certificate[];
  readonly anchors: readonly Certificate[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type PathResult =
  | { readonly ok: true; readonly path: readonly Certificate[] }
  | { readonly ok: false; readonly because: string };

/** Certificates in one path; real ones have three or four. */
const MAX_PATH = 8;

/** Issuer candidates looked at in one search, so that cross-signed sets can't make it explode. */
const MAX_LOOKS = 200;

/** Signature algorithms that no longer prove anything: MD2, MD5 and SHA-1 with RSA, SHA-1 with ECDSA and DSA. */
const BROKEN: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.2.840.10045.4.1',
  '1.2.840.10040.4.3',
]);

/** Finds a path, signer first and anchor last, or says why the best try ended. */
export function findPath(request: PathRequest): PathResult {
  const { certificate, anchors, at } = request;
  if (anchors.some((anchor) => anchor.fingerprint === certificate.fingerprint)) {
    return invalidAt(certificate, at) ?? { ok: true, path: [certificate] };
  }
  const search: Search = { request, looks: 0, because: 'no issuer of the certificate is at hand' };
  const path = extend(search, [certificate]);
  return path === undefined ? { ok: false, because: search.because } : { ok: true, path };
}

interface Search {
  readonly request: PathRequest;
  looks: number;
  because: string;
}

function extend(search: Search, path: readonly Certificate[]): readonly Certificate[] | undefined {
  const { anchors, others, at } = search.request;
  const last = path[path.length - 1];
  if (last === undefined) return undefined;
  const flaw = flawOf(last, at);
  if (flaw !== undefined) {
    search.because = flaw;
    return undefined;
  }
  for (const issuer of [...anchors, ...others]) {
    if (!issuer.subject.equals(last.issuer)) continue;
    if (path.some((member) => member.fingerprint === issuer.fingerprint)) continue;
    if (++search.looks > MAX_LOOKS) {
      search.because = 'too many certificates to try';
      return undefined;
    }
    const objection = objectionTo(issuer, path);
    if (objection !== undefined) {
      search.because = objection;
      continue;
    }
    const longer = [...path, issuer];
    if (anchors.includes(issuer)) {
      const expired = invalidAt(issuer, at);
      if (expired === undefined) return longer;
      search.because = expired.because;
      continue;
    }
    if (longer.length >= MAX_PATH) {
      search.because = 'the path is too long';
      continue;
    }
    const found = extend(search, longer);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Why this certificate can't be part of a path below an anchor. */
function flawOf(certificate: Certificate, at: number): string | undefined {
  const [unknown] = certificate.unknownCritical;
  if (unknown !== undefined) return `critical extension ${unknown} is not understood`;
  if (BROKEN.has(certificate.signatureAlgorithm)) {
    return `signature algorithm ${certificate.signatureAlgorithm} is broken`;
  }
  return invalidAt(certificate, at)?.because;
}

/** Why `issuer` can't have issued the last certificate of `path` (RFC 5280 §6.1.4 k to n). */
function objectionTo(issuer: Certificate, path: readonly Certificate[]): string | undefined {
  const last = path[path.length - 1];
  if (!issuer.ca) return 'an issuer is not a CA';
  if (issuer.keyUsage !== undefined && !issuer.keyUsage.keyCertSign) {
    return 'an issuer may not sign certificates';
  }
  const below = path.slice(1).filter((member) => !member.subject.equals(member.issuer)).length;
  if (issuer.pathLength !== undefined && below > issuer.pathLength) {
    return 'the path is longer than an issuer allows';
  }
  if (last === undefined || !last.signedBy(issuer)) return "an issuer's signature is wrong";
  return undefined;
}

function invalidAt(
  certificate: Certificate,
  at: number,
): { readonly ok: false; readonly because: string } | undefined {
  if (at < certificate.notBefore) return { ok: false, because: 'a certificate is not valid yet' };
  if (at > certificate.notAfter) return { ok: false, because: 'a certificate has expired' };
  return undefined;
}

/** Check `certificate-validity`: the certificate's own period holds `at`. */
export function checkValidity(certificate: Certificate, at: number): Check {
  const period = `${new Date(certificate.notBefore).toISOString()} to ${new Date(certificate.notAfter).toISOString()}`;
  return {
    name: 'certificate-validity',
    ok: invalidAt(certificate, at) === undefined,
    detail: `Valid ${period}, checked for ${new Date(at).toISOString()}.`,
  };
}

/** Check `key-usage`: the certificate may be used to sign documents (digitalSignature or nonRepudiation). */
export function checkKeyUsage({ keyUsage }: Certificate): Check {
  const ok = keyUsage === undefined || keyUsage.digitalSignature || keyUsage.nonRepudiation;
  return {
    name: 'key-usage',
    ok,
    detail: ok ? 'The key may sign documents.' : 'keyUsage allows neither signatures nor non-repudiation.',
  };
}

/** Check `signer`: the certificate is the one with this fingerprint (lower-case hex SHA-256). */
export function checkSigner(certificate: Certificate, expected: string): Check {
  const ok = certificate.fingerprint === expected;
  return {
    name: 'signer',
    ok,
    detail: ok ? `Signed by ${expected}.` : `Signed by ${certificate.fingerprint}, not by ${expected}.`,
  };
}

/**
 * Check `chain`: a path leads from the certificate to an anchor.
 * @param others DER; certificates among them that can't be read are passed over
 * @param anchors DER
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function checkChain(
  certificate: Certificate,
  others: readonly Buffer[],
  anchors: readonly Buffer[],
  at: number,
): Check {
  const result = findPath({
    certificate,
    others: others.flatMap(readableCertificates),
    anchors: anchors.map(readCertificate),
    at,
  });
  return {
    name: 'chain',
    ok: result.ok,
    detail: result.ok
      ? `A path of ${result.path.length} certificates ends in a trust anchor.`
      : `No path to a trust anchor: ${result.because}.`,
  };
}
