/**
 * Ports for time-stamps and revocation information. The network access is one of them; `http-transport.ts` is that over
 * HTTP.
 */
import { CryptoError, type DigestName, type SignatureLevel } from '../core/types.ts';

/** One HTTP exchange with an authority. Source: RFC 3161 §3.4; RFC 6960 appendix A; RFC 5280 §4.2.1.13. */
export interface AuthorityRequest {
  /** Absolute, http or https. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Headers, sent unchanged; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Time-out from the first byte sent to the last byte received, milliseconds. */
  readonly timeout: number;
  /** Size limit of the response body, in bytes. */
  readonly maxBytes: number;
  /** Origin of the URL: an operator's setting, or a certificate, which is untrusted input. */
  readonly urlFrom: 'operator' | 'certificate';
}

/**
 * HTTP client for authorities. Keeps connections open between requests; follows no redirect from https to http.
 * Source: RFC 3161 §3.4; RFC 6960 appendix A.
 */
export interface AuthorityTransport {
  /**
   * Returns the body of a response with status 200, 201 or 203, without its compression.
   * @throws {CryptoError} `authority.unreachable` (no connection, time-out, status 5xx, 408, 425 or 429: a retry can help) or
   *   `authority.refused` (any other status, response too long); the message names the URL without its credentials
   */
  exchange(request: AuthorityRequest): Promise<Buffer>;
}

/** A time-stamp authority (RFC 3161). */
export interface TimestampAuthority {
  /** Name for messages: the URL without credentials. */
  readonly name: string;
  /** Bytes of the longest token so far; before the first one, a generous estimate. */
  readonly tokenLength: number;
  /**
   * Requests a TimeStampToken (a CMS ContentInfo, DER) over `imprint` and checks imprint, nonce, signature, and the
   * signer's purpose.
   * @throws {CryptoError} `authority.unreachable`, `authority.refused`
   */
  stamp(imprint: Buffer, digest: DigestName): Promise<Buffer>;
}

/**
 * Certificates and revocation information for later offline validation. All DER.
 * Source: RFC 5280 §4, §5; RFC 6960 §4.2.
 */
export interface Evidence {
  readonly certificates: readonly Buffer[];
  /** CertificateList. */
  readonly crls: readonly Buffer[];
  /** BasicOCSPResponse, without the enclosing OCSPResponse. */
  readonly ocsps: readonly Buffer[];
  /** Number of embedded revocation values that cannot be read and are passed over. */
  readonly unread?: number;
}

export const NO_EVIDENCE: Evidence = { certificates: [], crls: [], ocsps: [] };

/**
 * Collects certificates and revocation information for paths up to their roots.
 * Source: EN 319 122-1 §5.4, EN 319 132-1 §5.4, EN 319 142-1 §5.4.
 */
export interface EvidenceSource {
  /**
   * Returns the chains of all given end certificates up to and including the trust anchor, and current revocation
   * information for every certificate on them that names a source of it, including OCSP responders and CRL issuers.
   * Responses are cached until they expire, and concurrent callers share one request.
   * @param ends certificates to collect for: signers, time-stamp signers
   * @param others candidates for intermediate certificates
   * @param at milliseconds since the epoch
   * @throws {CryptoError} `authority.unreachable`, `authority.refused`; `revocation.missing` when a chain has no
   *   anchor or a certificate has no revocation information; `certificate.revoked` when one is revoked at `at`
   */
  collect(ends: readonly Buffer[], others: readonly Buffer[], at: number): Promise<Evidence>;
  /**
   * Collects as `collect` does, for validation: returns all available information, including `revoked` responses, and
   * a sentence for each failure. Never rejects. When absent, `collect` is called instead.
   * @param listed DER of further anchors, for chains that lead to none of the source's. @default none
   */
  gather?(
    ends: readonly Buffer[],
    others: readonly Buffer[],
    at: number,
    listed?: readonly Buffer[],
  ): Promise<GatheredEvidence>;
  /**
   * Returns the chain of one certificate up to and including the trust anchor; missing issuers are fetched.
   * @throws {CryptoError} `authority.unreachable`; `revocation.missing` when there is no chain to an anchor
   */
  chain?(end: Buffer, others: readonly Buffer[], at: number): Promise<readonly Buffer[]>;
}

export interface GatheredEvidence {
  readonly evidence: Evidence;
  readonly problems: readonly string[];
}

/** Services for signing above level B and for augmentation. */
export interface SigningServices {
  /** Needed from level T on. */
  readonly timestamps?: TimestampAuthority;
  /** Needed from level LT on. */
  readonly evidence?: EvidenceSource;
}

/** Services that a level above B needs. */
export interface LevelServices {
  readonly timestamps: TimestampAuthority;
  /** Undefined at level T. */
  readonly evidence: EvidenceSource | undefined;
}

/** Returns the authority of a level above B. @throws {CryptoError} `request.invalid` when there is none */
export function authorityFor(level: SignatureLevel, { timestamps }: SigningServices): TimestampAuthority {
  if (timestamps !== undefined) return timestamps;
  throw new CryptoError('request.invalid', `Level ${level} needs a time-stamp authority, and none is given.`);
}

/** Returns the services of a level; undefined for B. @throws {CryptoError} `request.invalid` when one is missing */
export function servicesFor(level: Exclude<SignatureLevel, 'B'>, services: SigningServices): LevelServices;
export function servicesFor(level: SignatureLevel, services: SigningServices): LevelServices | undefined;
export function servicesFor(level: SignatureLevel, services: SigningServices): LevelServices | undefined {
  if (level === 'B') return undefined;
  const authority = authorityFor(level, services);
  if (level === 'T') return { timestamps: authority, evidence: undefined };
  const { evidence } = services;
  if (evidence !== undefined) return { timestamps: authority, evidence };
  throw new CryptoError(
    'request.invalid',
    `Level ${level} needs revocation answers, and no source is given.`,
  );
}

export interface RetrySettings {
  /** Attempts after the first. @default 1 */
  readonly retries: number;
  /** Resolves after that many milliseconds. @default by a timer */
  readonly wait: (ms: number) => Promise<void>;
}

/** First and longest pause between attempts, milliseconds; each one doubles the last. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** Retries while an authority is unreachable; a refusal is final, since a retry would give the same result. */
export async function withRetries<T>(settings: RetrySettings, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const passing = error instanceof CryptoError && error.code === 'authority.unreachable';
      if (!passing || tries >= settings.retries) throw error;
      await settings.wait(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries));
    }
  }
}

/** True for a host name that never resolves (RFC 2606 §2), as in certificates for development. */
export function isUnreachableAddress(url: string): boolean {
  return URL.canParse(url) && /(?:^|\.)invalid$/i.test(new URL(url).hostname);
}

/**
 * Formats an authority's URL for messages: without user, password, query and fragment, which may hold secrets.
 * @throws {CryptoError} `request.invalid` for schemes other than http and https
 */
export function publicName(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new CryptoError('request.invalid', 'The address of an authority is not an http or https URL.');
  }
  return `${parsed.origin}${parsed.pathname}`;
}
