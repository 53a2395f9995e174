/**
 * What the engine needs from authorities: time-stamps, and answers about revocation. Ports; the network behind them
 * is the caller's (actors/adapters), so no code here can leave the machine by itself.
 */
import type { DigestName } from './types.ts';

/** One HTTP exchange with an authority. */
export interface AuthorityRequest {
  /** Absolute, http or https. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Sent as they are; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** From the first byte sent to the last byte received, milliseconds. */
  readonly timeout: number;
  /** A longer answer is refused. */
  readonly maxBytes: number;
}

/** Reaches authorities over HTTP. Keeps connections open between requests; follows no redirects to other schemes. */
export interface AuthorityTransport {
  /**
   * The body of an answer with status 200.
   * @throws {CryptoError} `authority.unreachable` (no connection, time-out, status 5xx or 429: worth another try) or
   *   `authority.refused` (any other status, answer too long); the message names the URL without its credentials
   */
  exchange(request: AuthorityRequest): Promise<Buffer>;
}

/** A time-stamp authority (RFC 3161). */
export interface TimestampAuthority {
  /** For messages: the URL without credentials. */
  readonly name: string;
  /** Bytes of the longest token seen so far; before the first one, what a generous token takes. */
  readonly tokenLength: number;
  /**
   * DER of a TimeStampToken (a CMS ContentInfo) over `imprint`, checked: imprint, nonce, its own signature, and that its
   * signer may make time-stamps.
   * @throws {CryptoError} `authority.unreachable`, `authority.refused`
   */
  stamp(imprint: Buffer, digest: DigestName): Promise<Buffer>;
}

/** Facts that make certificates checkable without asking anybody again. All DER. */
export interface Evidence {
  readonly certificates: readonly Buffer[];
  /** CertificateList. */
  readonly crls: readonly Buffer[];
  /** BasicOCSPResponse, without the OCSPResponse around it. */
  readonly ocsps: readonly Buffer[];
}

export const NO_EVIDENCE: Evidence = { certificates: [], crls: [], ocsps: [] };

/** Finds what is needed to check certificates up to their roots, revocation included. */
export interface EvidenceSource {
  /**
   * Chains of all given end certificates up to (and with) the trust anchor, and fresh revocation answers for every
   * certificate on them that has any source of such answers, those of OCSP responders and CRL issuers included.
   * Answers are kept until they are due again and asked for once at a time, however many callers wait.
   * @param ends certificates to collect for: signers, time-stamp signers
   * @param others certificates that may stand on the chains
   * @param at milliseconds since the epoch
   * @throws {CryptoError} `authority.unreachable`, `authority.refused`; `revocation.missing` when a chain has no anchor
   *   or a certificate has no answer; `certificate.revoked` when one is revoked at `at`
   */
  collect(ends: readonly Buffer[], others: readonly Buffer[], at: number): Promise<Evidence>;
  /**
   * As `collect`, for those who judge what there is: whatever could be had, answers that say `revoked` among it, and a
   * sentence for each thing that could not. Never rejects. Left out, `collect` is asked instead.
   */
  gather?(ends: readonly Buffer[], others: readonly Buffer[], at: number): Promise<GatheredEvidence>;
}

export interface GatheredEvidence {
  readonly evidence: Evidence;
  readonly problems: readonly string[];
}

/** What signing above level B, and augmenting, may ask for. */
export interface SigningServices {
  /** Needed from level T on. */
  readonly timestamps?: TimestampAuthority;
  /** Needed from level LT on. */
  readonly evidence?: EvidenceSource;
}
