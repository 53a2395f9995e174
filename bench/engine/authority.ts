/** Starts the local authority and its clients. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { systemClock } from '@sealwright/runtime';
import {
  createEvidenceSource,
  createTimestampAuthority,
  deserializeSigner,
  type LocalSigner,
  type SerializedSigner,
  type SigningServices,
  type TrustSettings,
} from '@sealwright/signatures';
import { createAuthorityTransport } from '../../actors/shared/signing/authority-transport.ts';
import type { TrustedRoot } from '../frame/judges.ts';

export const KEYS = ['rsa2048', 'p256'] as const;
export type KeyName = (typeof KEYS)[number];

/** Data that the authority process sends. */
export interface AuthorityInfo extends TrustedRoot {
  readonly timestampUrl: string;
  readonly root: Uint8Array;
  readonly intermediates: readonly Uint8Array[];
  readonly signers: { readonly [key in KeyName]: SerializedSigner };
}

export interface LocalAuthority {
  readonly signers: { readonly [key in KeyName]: LocalSigner };
  readonly services: SigningServices;
  /** Trust settings with the root as anchor and without online requests: only embedded evidence counts. */
  readonly trust: TrustSettings;
  /** The same root, for independent programs. */
  readonly trusted: TrustedRoot;
  close(): void;
}

export async function startLocalAuthority(): Promise<LocalAuthority> {
  const child = fork(new URL('./authority-process.js', import.meta.url), { serialization: 'advanced' });
  const [facts] = (await once(child, 'message')) as [AuthorityInfo];
  const transport = createAuthorityTransport({ clock: systemClock, allowPrivate: true, issuerHosts: [] });
  const settings = {
    transport,
    now: Date.now,
    timeoutMs: 10_000,
    retries: 1,
    wait: () => Promise.resolve(),
  };
  const root = Buffer.from(facts.root);
  const intermediates = facts.intermediates.map((der) => Buffer.from(der));
  return {
    signers: {
      rsa2048: deserializeSigner(facts.signers.rsa2048),
      p256: deserializeSigner(facts.signers.p256),
    },
    services: {
      timestamps: createTimestampAuthority({ url: facts.timestampUrl, random: randomBytes, ...settings }),
      evidence: createEvidenceSource({
        anchors: [root],
        intermediates,
        cacheMinutes: 60,
        issuerHosts: [],
        ...settings,
      }),
    },
    trust: { anchors: [root], intermediates, revocation: 'soft' },
    trusted: facts,
    close() {
      transport.close();
      child.disconnect();
    },
  };
}
