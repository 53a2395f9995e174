/**
 * Builds certification paths from a certificate to an anchor (RFC 4158), by names and signatures only.
 *
 * Checks the names of a certificate against name constraints (RFC 5280 §4.2.1.10).
 *
 * Certificate policies on a path (RFC 5280 §6.1) with user-initial-policy-set any-policy: a path is rejected only when
 * its own certificates require an explicit policy and none is valid on the whole path.
 *
 * Keeps the set of policies that the next certificate may have, in place of the policy tree: the set is empty exactly
 * when the tree is, and the qualifiers and parents in the tree are not needed here.
 */
import type { Check } from '../core/types.ts';
import type { WorkBudget } from '../core/work-budget.ts';
import { type Certificate, readableCertificates, readCertificate } from './certificate.ts';
import type { NameConstraints } from './extensions.ts';
import { holderText } from './holder.ts';
import { type GeneralName, nameFields, readName, relativeKeys } from './names.ts';

const ANY = '2.5.29.32.0';

/** Most policies in one certificate, and mappings; real ones have fewer than twenty. */
const MAX_POLICIES = 200;

interface PolicyFault {
  readonly certificate: Certificate;
  readonly reason: string;
}

/** Returns the policy defect of a path. @param path end certificate first, anchor last; the anchor is not processed */
function policyFault(path: readonly Certificate[]): PolicyFault | undefined {
  const certificates = path.slice(0, -1).reverse();
  if (certificates.every((certificate) => certificate.requireExplicitPolicy === undefined)) {
    return mappingFault(certificates);
  }
  // Certificates that may still follow before the rule applies; 0: it applies.
  const start = certificates.length + 1;
  const left = { explicit: start, mapping: start, any: start };
  let valid = new Set([ANY]);
  for (const [index, certificate] of certificates.entries()) {
    const last = index === certificates.length - 1;
    if ((certificate.policies?.length ?? 0) > MAX_POLICIES) {
      return { certificate, reason: 'has too many policies' };
    }
    const selfIssued = certificate.subjectKey === certificate.issuerKey;
    valid = narrowed(valid, certificate, left.any > 0 || (!last && selfIssued));
    if (last) break;
    if (left.explicit === 0 && valid.size === 0) return NO_POLICY(certificate);
    const fault = mappingFault([certificate]);
    if (fault !== undefined) return fault;
    valid = mapped(valid, certificate, left.mapping > 0);
    if (!selfIssued) {
      left.explicit = Math.max(0, left.explicit - 1);
      left.mapping = Math.max(0, left.mapping - 1);
      left.any = Math.max(0, left.any - 1);
    }
    left.explicit = Math.min(left.explicit, certificate.requireExplicitPolicy ?? left.explicit);
    left.mapping = Math.min(left.mapping, certificate.inhibitPolicyMapping ?? left.mapping);
    left.any = Math.min(left.any, certificate.inhibitAnyPolicy ?? left.any);
  }
  const [end] = path;
  const explicit = left.explicit <= 1 || end?.requireExplicitPolicy === 0;
  return explicit && valid.size === 0 && end !== undefined ? NO_POLICY(end) : undefined;
}

const NO_POLICY = (certificate: Certificate): PolicyFault => ({
  certificate,
  reason: 'has no policy that is valid on the whole path, and one is required',
});

/** Returns the valid policies that this certificate has too (§6.1.3 d, e). */
function narrowed(valid: ReadonlySet<string>, { policies }: Certificate, anyCounts: boolean): Set<string> {
  const next = new Set<string>();
  for (const policy of policies ?? []) {
    if (policy !== ANY && (valid.has(policy) || valid.has(ANY))) next.add(policy);
    if (policy === ANY && anyCounts) for (const each of valid) next.add(each);
  }
  return next;
}

/** Applies the policy mappings for the certificates below (§6.1.4 b). */
function mapped(valid: ReadonlySet<string>, { policyMappings }: Certificate, allowed: boolean): Set<string> {
  const next = new Set(valid);
  for (const { issuer } of policyMappings) next.delete(issuer);
  if (!allowed) return next;
  for (const { issuer, subject } of policyMappings) {
    if (valid.has(issuer) || valid.has(ANY)) next.add(subject);
  }
  return next;
}

/** Rejects a mapping from or to anyPolicy (§6.1.4 a). */
function mappingFault(certificates: readonly Certificate[]): PolicyFault | undefined {
  for (const certificate of certificates) {
    const { policyMappings } = certificate;
    if (policyMappings.length > MAX_POLICIES) return { certificate, reason: 'has too many policy mappings' };
    if (policyMappings.some(({ issuer, subject }) => issuer === ANY || subject === ANY)) {
      return { certificate, reason: 'maps the policy that stands for all' };
    }
  }
  return undefined;
}

/** Most comparisons for one certificate and one set of constraints; real ones need fewer than a hundred. */
const MAX_COMPARISONS = 10_000;

/** Returns the name that the constraints forbid, as a reason; undefined when all names are permitted. */
function constraintFault(certificate: Certificate, constraints: NameConstraints): string | undefined {
  const { permitted, excluded } = constraints;
  const names = namesOf(certificate);
  if (names.length * (permitted.length + excluded.length) > MAX_COMPARISONS) {
    return 'has too many names to compare with the constraints';
  }
  for (const name of names) {
    if (excluded.some((subtree) => isWithin(name, subtree))) return `has the excluded name ${describe(name)}`;
    const sameKind = permitted.filter((subtree) => isSameKind(name, subtree));
    if (sameKind.length > 0 && !sameKind.some((subtree) => isWithin(name, subtree))) {
      return `has a name that is not permitted, ${describe(name)}`;
    }
    // A name that can't be compared is treated as excluded.
    if (isUnclear(name) && excluded.some((subtree) => isSameKind(name, subtree))) {
      return `has a constrained name that can't be compared, ${describe(name)}`;
    }
  }
  return undefined;
}

/** Returns the subject, the alternative names, and e-mail addresses in the subject of older certificates. */
function namesOf(certificate: Certificate): GeneralName[] {
  const names: GeneralName[] = [...certificate.alternativeNames];
  const attributes = readName(certificate.subject).flat();
  if (attributes.length > 0) names.push({ kind: 'directory', name: certificate.subject });
  for (const { type, value } of attributes) {
    if (type === '1.2.840.113549.1.9.1') names.push({ kind: 'email', text: value });
  }
  return names;
}

function isSameKind(name: GeneralName, subtree: GeneralName): boolean {
  if (name.kind === 'other') return subtree.kind === 'other' && subtree.tag === name.tag;
  return name.kind === subtree.kind;
}

function isWithin(name: GeneralName, subtree: GeneralName): boolean {
  if (name.kind === 'email' && subtree.kind === 'email') return isEmailWithin(name.text, subtree.text);
  if (name.kind === 'dns' && subtree.kind === 'dns') return isDnsWithin(name.text, subtree.text);
  if (name.kind === 'uri' && subtree.kind === 'uri') return isUriWithin(name.text, subtree.text);
  if (name.kind === 'ip' && subtree.kind === 'ip') return isAddressWithin(name.octets, subtree.octets);
  if (name.kind === 'directory' && subtree.kind === 'directory') {
    const keys = relativeKeys(name.name);
    const wanted = relativeKeys(subtree.name);
    return wanted.length <= keys.length && wanted.every((key, index) => key === keys[index]);
  }
  return false;
}

function isEmailWithin(address: string, subtree: string): boolean {
  const at = address.lastIndexOf('@');
  const host = hostOf(address.slice(at + 1));
  const subtreeAt = subtree.lastIndexOf('@');
  if (subtreeAt >= 0) {
    return (
      address.slice(0, Math.max(at, 0)) === subtree.slice(0, subtreeAt) &&
      host === hostOf(subtree.slice(subtreeAt + 1))
    );
  }
  return isHostWithin(host, subtree);
}

function isDnsWithin(name: string, subtree: string): boolean {
  const host = hostOf(name);
  const wanted = hostOf(subtree);
  if (wanted === '' || host === wanted) return true;
  return host.endsWith(wanted.startsWith('.') ? wanted : `.${wanted}`);
}

function isUriWithin(text: string, subtree: string): boolean {
  const host = uriHost(text);
  return host !== undefined && isHostWithin(host, subtree);
}

/** Returns the host of a URI; undefined when there is none, or an IP address in its place. */
function uriHost(text: string): string | undefined {
  const [, authority = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(text) ?? [];
  const host = hostOf(authority.replace(/^.*@/, '').replace(/:\d*$/, ''));
  return host === '' || /^[\d.]+$|^\[/.test(host) ? undefined : host;
}

/** True for a name that can't be compared with a constraint of its kind. */
function isUnclear(name: GeneralName): boolean {
  return name.kind === 'other' || (name.kind === 'uri' && uriHost(name.text) === undefined);
}

/** `.example.com`: every subdomain; `example.com`: that host only. */
function isHostWithin(host: string, subtree: string): boolean {
  const wanted = hostOf(subtree);
  if (wanted === '') return true;
  return wanted.startsWith('.') ? host.endsWith(wanted) && host.length > wanted.length : host === wanted;
}

function hostOf(text: string): string {
  return text.toLowerCase().replace(/\.$/, '');
}

/** @param subtree address and mask, concatenated */
function isAddressWithin(address: Buffer, subtree: Buffer): boolean {
  if (subtree.length !== address.length * 2) return false;
  return address.every((octet, index) => {
    const mask = subtree[address.length + index] ?? 0xff;
    return (octet & mask) === ((subtree[index] ?? 0) & mask);
  });
}

function describe(name: GeneralName): string {
  if (name.kind === 'directory') return nameFields(name.name).text;
  if (name.kind === 'ip') return `address ${name.octets.toString('hex')}`;
  return name.kind === 'other' ? 'of another kind' : JSON.stringify(name.text);
}

/** Checks a path whose signatures are valid (RFC 5280 §6.1), without revocation. */
export type PathDefectKind =
  | 'not-yet-valid'
  | 'expired'
  | 'algorithm'
  | 'critical-extension'
  | 'not-a-ca'
  | 'key-usage'
  | 'path-length'
  | 'name-constraints'
  | 'policy';

interface PathDefect {
  readonly kind: PathDefectKind;
  /** Certificate with the defect. */
  readonly certificate: Certificate;
  /** Names the certificate and the reason: `the certificate of CN=… expired at …`, no full stop. */
  readonly reason: string;
}

/** Broken signature algorithms: MD2, MD5 and SHA-1 with RSA, SHA-1 with ECDSA and DSA. */
const BROKEN: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.2.840.10045.4.1',
  '1.2.840.10040.4.3',
]);

/**
 * Returns every defect of a path, from its end certificate up; none when the path is valid at that time.
 * @param path end certificate first, anchor last
 * @param at milliseconds since the epoch
 */
export function pathDefects(path: readonly Certificate[], at: number): PathDefect[] {
  return [...timelessDefects(path), ...path.flatMap((certificate) => timeDefect(certificate, at) ?? [])];
}

/** Returns the defects that do not depend on time. */
function timelessDefects(path: readonly Certificate[]): PathDefect[] {
  const flaws: PathDefect[] = [];
  let below = 0;
  for (const [index, certificate] of path.entries()) {
    const isAnchor = index === path.length - 1;
    if (!isAnchor) flaws.push(...certificateDefects(certificate));
    // An anchor counts by its name and key (RFC 5280 §6.1.1 d); one of version 1 can't say that it is an authority's.
    const isOld = isAnchor && !certificate.hasExtensions;
    if (index > 0 && !certificate.ca && !isOld)
      flaws.push(defectOf('not-a-ca', certificate, 'is not that of a CA'));
    if (index > 0) flaws.push(...issuerDefects(certificate, path.slice(0, index), below));
    if (index > 0 && certificate.subjectKey !== certificate.issuerKey) below++;
  }
  const policy = policyFault(path);
  if (policy !== undefined) flaws.push(defectOf('policy', policy.certificate, policy.reason));
  return flaws;
}

/** Returns the defect of a certificate outside of its validity period at that time. */
function timeDefect(certificate: Certificate, at: number): PathDefect | undefined {
  const { notBefore, notAfter } = certificate;
  if (at < notBefore)
    return defectOf('not-yet-valid', certificate, `is not valid yet, but from ${day(notBefore)}`);
  if (at > notAfter) return defectOf('expired', certificate, `has expired at ${day(notAfter)}`);
  return undefined;
}

function certificateDefects(certificate: Certificate): PathDefect[] {
  const flaws: PathDefect[] = [];
  const [unknown] = certificate.unknownCritical;
  if (unknown !== undefined) {
    flaws.push(
      defectOf(
        'critical-extension',
        certificate,
        `has the critical extension ${unknown}, which is not understood`,
      ),
    );
  }
  if (BROKEN.has(certificate.signatureAlgorithm)) {
    const reason = `is signed with ${certificate.signatureAlgorithm}, which is broken`;
    flaws.push(defectOf('algorithm', certificate, reason));
  }
  return flaws;
}

/** @param below CA certificates between this issuer and the end certificate that count towards pathLenConstraint */
function issuerDefects(issuer: Certificate, lower: readonly Certificate[], below: number): PathDefect[] {
  const flaws: PathDefect[] = [];
  if (issuer.keyUsage !== undefined && !issuer.keyUsage.keyCertSign) {
    flaws.push(defectOf('key-usage', issuer, 'does not allow signing certificates'));
  }
  if (issuer.pathLength !== undefined && below > issuer.pathLength) {
    const reason = `allows ${issuer.pathLength} CAs below it, and there are ${below}`;
    flaws.push(defectOf('path-length', issuer, reason));
  }
  const { nameConstraints } = issuer;
  if (nameConstraints === undefined) return flaws;
  for (const [index, certificate] of lower.entries()) {
    // Self-issued certificates are exempt (RFC 5280 §6.1.3 b): a CA's new key under its old name.
    if (index > 0 && certificate.subjectKey === certificate.issuerKey) continue;
    const fault = constraintFault(certificate, nameConstraints);
    if (fault !== undefined) flaws.push(defectOf('name-constraints', certificate, fault));
  }
  return flaws;
}

function defectOf(kind: PathDefectKind, certificate: Certificate, reason: string): PathDefect {
  return {
    kind,
    certificate,
    reason: `the certificate of ${holderText(certificate)} ${reason}`,
  };
}

function day(time: number): string {
  return new Date(time).toISOString();
}

interface PathSearchRequest {
  readonly certificate: Certificate;
  /** Intermediate candidates; order is ignored, unrelated ones are permitted, and none is trusted for being here. */
  readonly others: readonly Certificate[];
  readonly anchors: readonly Certificate[];
  /** Counts visited nodes; without it, only their number is limited. */
  readonly work?: WorkBudget | undefined;
}

/** End certificate first, anchor last; every signature between them is valid. */
type CandidatePath = readonly Certificate[];

interface PathSearchResult {
  /** Most likely first; not validated further. */
  readonly paths: readonly CandidatePath[];
  /** Reason why there is no path, or why some may be missing; for people, no full stop. */
  readonly reason: string | undefined;
}

/** Most certificates in one path; real ones have three or four. */
const MAX_PATH = 8;

/** Steps for one visited node: a public-key operation, unless it is cached. */
const STEPS_PER_NODE = 100;
/** Certificates whose names are compared in one step. */
const NAMES_PER_STEP = 20;

/** Most issuers visited in one search; bounds the search in cross-signed sets. */
const MAX_NODES_VISITED = 200;

const MAX_PATHS = 20;

/**
 * Returns all candidate paths, at most 20; issuers whose key identifier matches are tried first, anchors before
 * others.
 */
export function findPaths(request: PathSearchRequest): PathSearchResult {
  const search = new PathSearch(request);
  const paths: CandidatePath[] = [];
  for (const path of search.paths()) {
    paths.push(path);
    if (paths.length === MAX_PATHS) break;
  }
  return { paths, reason: paths.length === 0 || search.exhausted ? search.reason : undefined };
}

/** Lazy depth-first search for paths. Throws WorkBudgetExceeded when its work budget is spent. */
export class PathSearch {
  readonly #request: PathSearchRequest;
  readonly #anchors: ReadonlySet<string>;
  #visited = 0;
  // Created on demand: most searches succeed.
  #reason = () => 'no issuer of the certificate is at hand';
  exhausted = false;

  constructor(request: PathSearchRequest) {
    this.#request = request;
    this.#anchors = new Set(request.anchors.map(({ fingerprint }) => fingerprint));
  }

  /** Reason why the last attempt failed; for people, no full stop. */
  get reason(): string {
    return this.#reason();
  }

  *paths(): Generator<CandidatePath> {
    const { certificate } = this.#request;
    if (this.#anchors.has(certificate.fingerprint)) yield [certificate];
    else yield* this.#issuersOf([certificate], certificate);
  }

  *#issuersOf(path: CandidatePath, last: Certificate): Generator<CandidatePath> {
    for (const issuer of this.#candidates(last)) {
      if (path.some((member) => isSameEntity(member, issuer))) continue;
      if (++this.#visited > MAX_NODES_VISITED) {
        this.#reason = () => 'there are too many certificates to try';
        this.exhausted = true;
        return;
      }
      this.#request.work?.spend(STEPS_PER_NODE);
      if (!last.signedBy(issuer)) {
        this.#reason = () =>
          `the signature of the certificate of ${holderText(last)} is wrong: the key of its issuer is another one`;
        continue;
      }
      const longer = [...path, issuer];
      if (this.#anchors.has(issuer.fingerprint)) {
        yield longer;
        continue;
      }
      if (longer.length >= MAX_PATH) {
        this.#reason = () => 'the path is too long';
        continue;
      }
      this.#reason = () => `no issuer of the certificate of ${holderText(issuer)} is at hand that is trusted`;
      yield* this.#issuersOf(longer, issuer);
      if (this.exhausted) return;
    }
  }

  /** Returns certificates with the name of the issuer, the most likely first (RFC 4158 §3.5). */
  #candidates(last: Certificate): Certificate[] {
    const { anchors, others, work } = this.#request;
    work?.spend((anchors.length + others.length) / NAMES_PER_STEP);
    const fitting: Certificate[][] = [[], [], []];
    for (const issuer of anchors)
      if (issuer.subjectKey === last.issuerKey) fitting[rank(last, issuer)]?.push(issuer);
    for (const issuer of others) {
      if (issuer.subjectKey !== last.issuerKey || this.#anchors.has(issuer.fingerprint)) continue;
      fitting[rank(last, issuer)]?.push(issuer);
    }
    return fitting.flat();
  }
}

function rank({ authorityKeyId }: Certificate, { subjectKeyId }: Certificate): 0 | 1 | 2 {
  if (authorityKeyId === undefined || subjectKeyId === undefined) return 1;
  return authorityKeyId.equals(subjectKeyId) ? 0 : 2;
}

/** True for two certificates with one name and one key; a path with both would have a loop (RFC 4158 §5.2). */
function isSameEntity(one: Certificate, other: Certificate): boolean {
  return one.subjectKey === other.subjectKey && one.publicKeyInfo.equals(other.publicKeyInfo);
}

/** Certification paths (RFC 5280 §6), without revocation: from a certificate to a trust anchor. */
interface PathRequest extends PathSearchRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type PathResult =
  | { readonly ok: true; readonly path: readonly Certificate[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Returns the first path that is valid at the time, or the reason why the best candidate is not.
 * To check every candidate at several times, use `findPaths` and `pathDefects`.
 */
export function findPath(request: PathRequest): PathResult {
  const search = new PathSearch(request);
  let reason: string | undefined;
  for (const path of search.paths()) {
    const [flaw] = pathDefects(path, request.at);
    if (flaw === undefined) return { ok: true, path };
    reason ??= flaw.reason;
  }
  return { ok: false, reason: reason ?? search.reason };
}

/** Texts of periods of validity. */
const periods = new WeakMap<Certificate, string>();

/** Check `certificate-validity`: the certificate's own period holds `at`. */
export function checkValidity(certificate: Certificate, at: number): Check {
  let period = periods.get(certificate);
  if (period === undefined) {
    period = `${new Date(certificate.notBefore).toISOString()} to ${new Date(certificate.notAfter).toISOString()}`;
    periods.set(certificate, period);
  }
  return {
    name: 'certificate-validity',
    ok: timeDefect(certificate, at) === undefined,
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
 * Check `chain`: there is a path from the certificate to an anchor.
 * @param others DER; unreadable certificates among them are ignored
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
      : `No path to a trust anchor: ${result.reason}.`,
  };
}
