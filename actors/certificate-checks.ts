/**
 * Validates the certificate of a profile before it signs, once for many jobs.
 *
 * A good verdict is kept for `CacheMinutes`, a bad one for a minute at most: whoever repairs the reason need not wait
 * for an hour. The period of validity is looked at every time.
 *
 * Source: batch-gaps §6.5.
 */
import {
  checkSigningCertificate,
  createEvidenceSource,
  type EvidenceSource,
  type SigningCertificateVerdict,
  type TrustSettings,
} from '../crypto/index.ts';
import type { Millis } from '../machines/ids.ts';
import { type Clock, Fatal, type Log } from '../runtime/index.ts';
import { createAuthorityTransport } from './adapters/authority-transport.ts';
import type { LocalProfile, Profiles } from './profiles.ts';
import { NO_TRUST, type TrustOptions } from './trust.ts';

export interface CertificateChecksParts {
  readonly profiles: Pick<Profiles, 'find'>;
  readonly trust: TrustOptions;
  /** Asks about revocation, for these anchors. */
  readonly evidence: (anchors: readonly Buffer[]) => EvidenceSource;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

interface Kept {
  readonly verdict: SigningCertificateVerdict;
  /** Milliseconds since the epoch. */
  readonly until: Millis;
}

const MINUTE = 60_000;

export class CertificateChecks {
  readonly #parts: CertificateChecksParts;
  /** By profile: two may have one certificate and other roots. */
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Map<string, Promise<Kept>>();
  readonly #sources = new Map<string, EvidenceSource>();

  constructor(parts: CertificateChecksParts) {
    this.#parts = parts;
  }

  /**
   * Returns, or resolves, when the profile may sign. Profiles that are unknown, sign elsewhere or do not ask for it may.
   * @throws {Fatal} `certificate.expired`, `.not-yet-valid`, `.revoked`, `.unchecked`, `.untrusted`, `.unsuitable`
   */
  check(profileName: string): void | Promise<void> {
    const profile = this.#parts.profiles.find(profileName);
    if (profile?.method !== 'Local' || profile.validateCertificate !== true) return undefined;
    const now = this.#parts.clock.now();
    const kept = this.#kept.get(profile.name);
    if (kept !== undefined && now < kept.until && now <= profile.validTo) return this.#settle(profile, kept);
    return this.#ask(profile, now).then((fresh) => this.#settle(profile, fresh));
  }

  #settle({ name }: LocalProfile, { verdict }: Kept): void {
    if (verdict.ok) return;
    throw new Fatal(
      verdict.code,
      `The certificate of signing profile ${name} cannot be used. ${verdict.message}`,
    );
  }

  /** Asked for once at a time, however many jobs wait. */
  #ask(profile: LocalProfile, now: Millis): Promise<Kept> {
    const { name } = profile;
    let asking = this.#asking.get(name);
    if (asking === undefined) {
      asking = this.#judge(profile, now).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    return asking;
  }

  async #judge(profile: LocalProfile, now: Millis): Promise<Kept> {
    const { trust, clock, log } = this.#parts;
    const settings: TrustSettings = {
      anchors: profile.anchors,
      intermediates: trust.intermediates,
      revocation: trust.revocation,
      online: this.#sourceOf(profile),
    };
    const verdict = await checkSigningCertificate(profile.signer, settings, () => clock.now());
    const whole = verdict.ok && verdict.warnings.length === 0;
    if (verdict.ok && !whole)
      log.warn('Nobody could be asked whether a signing certificate is revoked; it is used all the same.', {
        Profile: profile.name,
        Because: verdict.warnings.join(' '),
      });
    const minutes = whole ? trust.cacheMinutes : Math.min(1, trust.cacheMinutes);
    const kept = { verdict, until: now + minutes * MINUTE };
    this.#kept.set(profile.name, kept);
    return kept;
  }

  #sourceOf({ name, anchors }: LocalProfile): EvidenceSource {
    let source = this.#sources.get(name);
    if (source === undefined) {
      source = this.#parts.evidence(anchors);
      this.#sources.set(name, source);
    }
    return source;
  }
}

/** Tries of one responder after the first; the next one is asked sooner than this one a third time. */
const RETRIES = 1;

/** The checks of the service, which ask over HTTP. */
export function certificateChecks(
  options: { readonly trust?: TrustOptions },
  profiles: Pick<Profiles, 'find'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): CertificateChecks {
  const { trust = NO_TRUST } = options;
  const transport = createAuthorityTransport({ clock });
  return new CertificateChecks({
    profiles,
    trust,
    clock,
    log,
    evidence: (anchors) =>
      createEvidenceSource({
        anchors,
        intermediates: trust.intermediates,
        allowAia: trust.allowAia,
        cacheMinutes: trust.cacheMinutes,
        timeoutMs: trust.revocationTimeoutMs,
        transport,
        now: () => clock.now(),
        wait: (ms) => clock.sleep(ms),
        retries: RETRIES,
      }),
  });
}
