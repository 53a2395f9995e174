/** Finds every way from a certificate up to an anchor (RFC 4158), by names and signatures alone. */
import type { Work } from '../work.ts';
import type { Certificate } from './certificate.ts';
import { nameFields } from './names.ts';

export interface PathSearchRequest {
  readonly certificate: Certificate;
  /** Certificates that may stand between; order and strangers don't matter, nothing is trusted for being here. */
  readonly others: readonly Certificate[];
  readonly anchors: readonly Certificate[];
  /** Counts the looks; left out, only their number is limited. */
  readonly work?: Work | undefined;
}

/** End certificate first, anchor last; every signature between them is right. */
export type CandidatePath = readonly Certificate[];

export interface PathSearchResult {
  /** Most likely first; nothing else about them has been checked. */
  readonly paths: readonly CandidatePath[];
  /** Why there is none, or why some may be missing; for people, no full stop. */
  readonly because: string | undefined;
}

/** Certificates in one path; real ones have three or four. */
const MAX_PATH = 8;

/** Steps for one look: a public-key operation, unless it was done before. */
const STEPS_PER_LOOK = 100;
/** Certificates whose names are compared in one step. */
const NAMES_PER_STEP = 20;

/** Issuers tried in one search, so that cross-signed sets can't make it explode. */
const MAX_LOOKS = 200;

const MAX_PATHS = 20;

/** All candidate paths, at most 20; issuers whose key identifier fits are tried first, anchors before others. */
export function findPaths(request: PathSearchRequest): PathSearchResult {
  const search = new PathSearch(request);
  const paths: CandidatePath[] = [];
  for (const path of search.paths()) {
    paths.push(path);
    if (paths.length === MAX_PATHS) break;
  }
  return { paths, because: paths.length === 0 || search.exhausted ? search.because : undefined };
}

/** A search that goes only as far as it is asked. It throws OutOfWork when its work runs out. */
export class PathSearch {
  readonly #request: PathSearchRequest;
  readonly #anchors: ReadonlySet<string>;
  #looks = 0;
  // Made only when asked for: most searches end well.
  #because = () => 'no issuer of the certificate is at hand';
  exhausted = false;

  constructor(request: PathSearchRequest) {
    this.#request = request;
    this.#anchors = new Set(request.anchors.map(({ fingerprint }) => fingerprint));
  }

  /** Why the last way tried ended; for people, no full stop. */
  get because(): string {
    return this.#because();
  }

  *paths(): Generator<CandidatePath> {
    const { certificate } = this.#request;
    if (this.#anchors.has(certificate.fingerprint)) yield [certificate];
    else yield* this.#above([certificate], certificate);
  }

  *#above(path: CandidatePath, last: Certificate): Generator<CandidatePath> {
    for (const issuer of this.#candidates(last)) {
      if (path.some((member) => isSameEntity(member, issuer))) continue;
      if (++this.#looks > MAX_LOOKS) {
        this.#because = () => 'there are too many certificates to try';
        this.exhausted = true;
        return;
      }
      this.#request.work?.spend(STEPS_PER_LOOK);
      if (!last.signedBy(issuer)) {
        this.#because = () =>
          `the signature of the certificate of ${textOf(last)} is wrong: the key of its issuer is another one`;
        continue;
      }
      const longer = [...path, issuer];
      if (this.#anchors.has(issuer.fingerprint)) {
        yield longer;
        continue;
      }
      if (longer.length >= MAX_PATH) {
        this.#because = () => 'the path is too long';
        continue;
      }
      this.#because = () => `no issuer of the certificate of ${textOf(issuer)} is at hand that is trusted`;
      yield* this.#above(longer, issuer);
      if (this.exhausted) return;
    }
  }

  /** Certificates with the name of the issuer, the most likely first (RFC 4158 §3.5). */
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

/** Two certificates of one name and one key on a path would be a detour (RFC 4158 §5.2). */
function isSameEntity(one: Certificate, other: Certificate): boolean {
  return one.subjectKey === other.subjectKey && one.publicKeyInfo.equals(other.publicKeyInfo);
}

function textOf({ subject }: Certificate): string {
  return nameFields(subject).text;
}
