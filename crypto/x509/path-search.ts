/** Searches certification paths from a certificate to an anchor (RFC 4158), by names and signatures. */
import type { WorkBudget } from '../core/work-budget.ts';
import type { Certificate } from './certificate.ts';
import { holderText } from './holder.ts';
import { pathDefects } from './path-defects.ts';

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
export function isSameEntity(one: Certificate, other: Certificate): boolean {
  return one.subjectKey === other.subjectKey && one.publicKeyInfo.equals(other.publicKeyInfo);
}

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
