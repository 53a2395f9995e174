/** Profiles in a pool thread: with loaded keys and clients of the authorities. */

import { type Clock, type Ids, systemClock, systemIds } from '@sealwright/runtime/core';
import {
  createEvidenceSource,
  createTimestampAuthority,
  deserializeSigner,
  keptLists,
  type PolicyRequest,
  policyToSign,
  type RemoteSigner,
  type SignaturePolicy,
  type Signer,
  type SigningServices,
  servicesFor,
  type TrustLists,
} from '@sealwright/signatures';
import { openServiceSigner } from '../shared/key-services/service-signer.ts';
import { createAuthorityTransport } from '../shared/signing/authority-transport.ts';
import type { SigningChoices } from '../shared/signing/profiles.ts';
import type { TrustOptions } from '../shared/signing/trust-options.ts';
import type { WorkerProfile, WorkerSetup } from './worker-setup.ts';

export interface WorkerProfileRuntime extends Omit<WorkerProfile, 'signer' | 'anchors'> {
  readonly signer: Signer | RemoteSigner | undefined;
  readonly anchors: readonly Buffer[];
  /** Services for levels above B; empty without a time-stamp authority. */
  readonly services: SigningServices;
}

export interface WorkerProfiles {
  readonly byName: ReadonlyMap<string, WorkerProfileRuntime>;
  readonly trust: TrustOptions;
  /** Trusted lists as they are kept now; undefined: none are configured. */
  readonly lists?: (() => TrustLists) | undefined;
}

/** Retries per authority; a job fails rather than waiting for long. */
const RETRIES = 1;

export function createWorkerProfiles(
  setup: WorkerSetup,
  clock: Clock = systemClock,
  ids: Ids = systemIds,
): WorkerProfiles {
  const trust: TrustOptions = {
    ...setup.trust,
    roots: setup.trust.roots.map((der) => Buffer.from(der)),
    intermediates: setup.trust.intermediates.map((der) => Buffer.from(der)),
  };
  const asking = {
    transport: createAuthorityTransport({ clock, ...trust }),
    now: () => clock.now(),
    wait: (ms: number) => clock.sleep(ms),
    retries: RETRIES,
  };
  const lists = trust.lists && keptLists(trust.lists, () => clock.now());
  const servicesOf = (choices: SigningChoices, anchors: readonly Buffer[]): SigningServices => {
    const { timestamp } = choices;
    if (timestamp === undefined) return {};
    const timestamps = createTimestampAuthority({
      ...timestamp,
      ...asking,
      random: (length) => Buffer.from(ids.bytes(length)),
    });
    return {
      timestamps,
      evidence: createEvidenceSource({
        ...asking,
        anchors: [...trust.roots, ...anchors],
        intermediates: trust.intermediates,
        issuerHosts: trust.issuerHosts,
        cacheMinutes: trust.cacheMinutes,
        timeoutMs: trust.revocationTimeoutMs,
        listed: lists && ((end, others, at) => servicesFor(end, others, { lists: lists(), at })),
      }),
    };
  };
  // Profiles with one key share its connections and its limit.
  const opened = new Map<string, RemoteSigner>();
  const signerOf = (signer: NonNullable<WorkerProfile['signer']>): Signer | RemoteSigner => {
    if (signer.where !== 'service') return deserializeSigner(signer);
    const place = JSON.stringify([
      signer.place,
      signer.limits,
      signer.proxy,
      signer.fingerprint,
      signer.chain.length,
    ]);
    const share = Math.max(1, Math.floor(signer.limits.maxInFlight / (setup.threads ?? 1)));
    const own = { ...signer, limits: { ...signer.limits, maxInFlight: share } };
    const known = opened.get(place) ?? openServiceSigner(own, { clock, ids }).signer;
    opened.set(place, known);
    return known;
  };
  const byName = new Map<string, WorkerProfileRuntime>();
  for (const profile of setup.profiles) {
    const anchors = profile.anchors.map((der) => Buffer.from(der));
    const choices = withBuffers(profile.choices);
    const signer = profile.signer && signerOf(profile.signer);
    const services = servicesOf(choices, anchors);
    byName.set(profile.name, { ...profile, signer, choices, anchors, services });
  }
  return { byName, trust, lists };
}

/** Restores buffers, which arrive from another thread as Uint8Array. */
function withBuffers(choices: SigningChoices): SigningChoices {
  const { policy } = choices;
  return typeof policy !== 'object'
    ? choices
    : { ...choices, policy: { ...policy, hash: Buffer.from(policy.hash) } };
}

/** Returns the policy of a signature: the newest version of one by name. @throws {CryptoError} `request.invalid` */
export function policyOf(
  { policy, ...choices }: SigningChoices,
  request: Pick<PolicyRequest, 'format' | 'at' | 'signer' | 'level'>,
): { readonly policy?: SignaturePolicy } {
  if (policy === undefined) return {};
  return { policy: typeof policy === 'object' ? policy : policyToSign(policy, { ...choices, ...request }) };
}
