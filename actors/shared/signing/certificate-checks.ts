/**
 * Validates the certificate of a profile before it signs, with cached results: a valid one for `CacheMinutes`, an invalid
 * one for at most a minute, so that a repair takes effect soon. The validity period is checked every time.
 *
 * Source: docs/batch-values.md §6.5.
 */

import { type Clock, Fatal } from '@sealwright/runtime/core';
import {
  buildCertificationPaths,
  checkSigningCertificate,
  createEvidenceSource,
  type EvidenceSource,
  type HttpTransport,
  type SignerIdentity,
  type SigningCertificateVerdict,
  type TrustSettings,
} from '@sealwright/signatures';
import { MINUTE_MS } from '../../../contracts/times.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { createAuthorityTransport } from './authority-transport.ts';
import { certificateProblem, type LocalProfile, type Profiles } from './profiles.ts';
import { NO_TRUST, type TrustOptions } from './trust-options.ts';

interface CachedVerdict {
  readonly verdict: SigningCertificateVerdict;
  /** Milliseconds since the epoch. */
  readonly until: Millis;
}

export class CertificateChecks {
  /** By profile: two profiles may share a certificate and differ in roots. */
  readonly #cached = new Map<string, CachedVerdict>();
  readonly #pending = new Map<string, Promise<CachedVerdict>>();
  readonly #sources = new Map<string, EvidenceSource>();
  readonly #transport: HttpTransport;

  constructor(
    private readonly runtime: ServiceRuntime,
    private readonly profiles: Pick<Profiles, 'find'>,
    private readonly trust: TrustOptions = NO_TRUST,
    /** Audience of the error messages: those for operators name files and configuration keys. */
    private readonly audience: 'operator' | 'tenant',
  ) {
    this.#transport = createAuthorityTransport({ clock: runtime.clock, ...trust });
  }

  /**
   * Returns, or resolves, when the profile may sign. Profiles that are unknown or sign elsewhere may. With
   * `ValidateCertificate` false only the period of validity is checked.
   * @throws {Fatal} `certificate.expired`, `.not-yet-valid`, `.revoked`, `.unchecked`, `.untrusted`, `.unsuitable`, or a
   *   code of `loadSigner` where certificate and key could not be loaded
   */
  check(profileName: string): void | Promise<void> {
    const { clock } = this.runtime;
    const { profiles, audience } = this;
    const profile = profiles.find(profileName);
    if (profile?.method !== 'Local') return undefined;
    const now = clock.now();
    const problem = certificateProblem(profile, now);
    if (problem !== undefined)
      throw refusal(
        profile,
        problem.code,
        audience === 'operator' ? `${problem.message} ${problem.remedy}` : '',
      );
    const { signer } = profile;
    if (signer === undefined || profile.validateCertificate !== true) return undefined;
    const cached = this.#cached.get(profile.name);
    if (cached !== undefined && now < cached.until) return this.#settle(profile, cached);
    return this.#request(profile, signer, now).then((fresh) => this.#settle(profile, fresh));
  }

  #settle(profile: LocalProfile, { verdict }: CachedVerdict): void {
    if (!verdict.ok) throw refusal(profile, verdict.code, verdict.message);
  }

  /** Runs one validation per profile at a time; concurrent jobs share it. */
  #request(profile: LocalProfile, signer: SignerIdentity, now: Millis): Promise<CachedVerdict> {
    const { name } = profile;
    let asking = this.#pending.get(name);
    if (asking === undefined) {
      asking = this.#judge(profile, signer, now).finally(() => this.#pending.delete(name));
      this.#pending.set(name, asking);
    }
    return asking;
  }

  async #judge(profile: LocalProfile, signer: SignerIdentity, now: Millis): Promise<CachedVerdict> {
    const { clock, log } = this.runtime;
    const { trust } = this;
    const settings: TrustSettings = {
      anchors: profile.anchors,
      intermediates: trust.intermediates,
      revocation: trust.revocation,
      online: this.#sourceOf(profile),
    };
    const found = await checkSigningCertificate(signer, settings, () => clock.now());
    const verdict = found.ok && !isComplete(signer, settings) ? FETCHED_LATE : found;
    const whole = verdict.ok && verdict.warnings.length === 0;
    if (verdict.ok && !whole)
      log.warn('No revocation service answered for a signing certificate; it is used without that check.', {
        Profile: profile.name,
        Reason: verdict.warnings.join(' '),
      });
    if (verdict.ok && verdict.anchor !== undefined)
      log.warn('A signing certificate rests on a trust anchor that has expired.', {
        Profile: profile.name,
        Reason: verdict.anchor,
      });
    const minutes = whole ? trust.cacheMinutes : Math.min(1, trust.cacheMinutes);
    const cached = { verdict, until: now + minutes * MINUTE_MS };
    this.#cached.set(profile.name, cached);
    return cached;
  }

  #sourceOf({ name, anchors }: LocalProfile): EvidenceSource {
    let source = this.#sources.get(name);
    if (source === undefined) {
      source = evidenceOver(this.#transport, { ...this.trust, roots: anchors }, this.runtime.clock);
      this.#sources.set(name, source);
    }
    return source;
  }
}

/** True when the certificates that are embedded lead to an anchor. */
function isComplete(signer: SignerIdentity, trust: TrustSettings): boolean {
  return buildCertificationPaths(signer, trust).anchors.length > 0;
}

/** Issuers are fetched for embedding when the service starts; verifiers of a signature without them would refuse it. */
const FETCHED_LATE: SigningCertificateVerdict = {
  ok: false,
  code: 'certificate.untrusted',
  message:
    'Its issuer could not be fetched when the service started, but can be now. Restart the service, so that signatures include it.',
};

function refusal({ name }: LocalProfile, code: string, reason: string): Fatal {
  return new Fatal(code, `The certificate of signing profile ${name} cannot be used. ${reason}`.trimEnd());
}

/** Retries per responder: the next responder is tried sooner than this one a third time. */
const RETRIES = 1;

/** Creates an evidence source with the settings of `Signing:Trust`. */
export function evidenceOver(transport: HttpTransport, trust: TrustOptions, clock: Clock): EvidenceSource {
  return createEvidenceSource({
    anchors: trust.roots,
    intermediates: trust.intermediates,
    issuerHosts: trust.issuerHosts,
    cacheMinutes: trust.cacheMinutes,
    timeoutMs: trust.revocationTimeoutMs,
    transport,
    now: () => clock.now(),
    wait: (ms) => clock.sleep(ms),
    retries: RETRIES,
  });
}
