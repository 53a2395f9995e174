/** Starts the local authority, and asks it as the service would. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createAuthorityTransport } from '../../actors/adapters/authority-transport.ts';
import type { SigningServices } from '../../crypto/authorities.ts';
import { deserializeSigner, type LocalSigner, type SerializedSigner } from '../../crypto/keys/transfer.ts';
import { createEvidenceSource } from '../../crypto/revocation/evidence-source.ts';
import { createTimestampAuthority } from '../../crypto/timestamps/authority.ts';
import type { TrustSettings } from '../../crypto/validation/trust.ts';
import { systemClock } from '../../runtime/index.ts';
import type { TrustedRoot } from '../frame/judges.ts';

export const KEYS = ['rsa2048', 'p256'] as const;
export type KeyName = (typeof KEYS)[number];

/** What the other process tells. */
export interface AuthorityFacts extends TrustedRoot {
  readonly timestampUrl: string;
  readonly root: Uint8Array;
  readonly intermediates: readonly Uint8Array[];
  readonly signers: { readonly [key in KeyName]: SerializedSigner };
}

export interface LocalAuthority {
  readonly signers: { readonly [key in KeyName]: LocalSigner };
  readonly services: SigningServices;
  /** Anchor: the root; only what files embed counts, so that nothing is waited for. */
  readonly trust: TrustSettings;
  /** The same root, for programs of others. */
  readonly trusted: TrustedRoot;
  close(): void;
}

export async function startLocalAuthority(): Promise<LocalAuthority> {
  const child = fork(new URL('./authority-process.js', import.meta.url), { serialization: 'advanced' });
  const [facts] = (await once(child, 'message')) as [AuthorityFacts];
  const transport = createAuthorityTransport({ clock: systemClock });
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
        allowAia: false,
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
