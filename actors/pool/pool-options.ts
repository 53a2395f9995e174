/** Builds the options of the pool from the profiles of the service. */
import { serializeSigner } from '@sealwright/signatures';
import { forThreads } from '../shared/key-services/csc-pin.ts';
import { isAtService } from '../shared/key-services/key-service.ts';
import { outputFormatOf, type Profile } from '../shared/signing/profiles.ts';
import { NO_TRUST, type TrustOptions } from '../shared/signing/trust-options.ts';
import type { SigningPoolOptions } from './pool.ts';
import type { PoolTask } from './tasks.ts';
import type { WorkerProfile, WorkerSetup } from './worker-setup.ts';

export interface PoolSource {
  readonly profiles: readonly Profile[];
  readonly trust?: TrustOptions;
  readonly encryptionKey?: Uint8Array;
}

/** `setup` and `waitsForNetwork` of `SigningPoolOptions`. */
export function poolOptions(
  { profiles, trust = NO_TRUST, encryptionKey }: PoolSource,
  folders: Pick<
    WorkerSetup,
    'processing' | 'allProcessing' | 'output' | 'publishesElsewhere' | 'error' | 'lease' | 'clock' | 'faults'
  >,
): Pick<SigningPoolOptions, 'setup' | 'waitsForNetwork'> {
  const setup: WorkerSetup = {
    ...folders,
    profiles: profiles.map(workerProfile),
    trust,
    encryptionKey,
  };
  const waiting = new Set(profiles.filter(asksAuthorities).map(({ name }) => name as string));
  const checksRevocation = trust.revocation !== 'none';
  if (waiting.size === 0 && !checksRevocation) return { setup };
  return {
    setup,
    waitsForNetwork: (task: PoolTask) =>
      needsAuthorities(task, waiting) ||
      (checksRevocation &&
        (LOOKUP_TASKS.has(task.task) || (task.task === 'portal.finish' && task.demand !== null))),
  };
}

/** Tasks that check the revocation of participants' certificates. */
const LOOKUP_TASKS: ReadonlySet<PoolTask['task']> = new Set(['portal.begin', 'portal.describe', 'validate']);

/** True for tasks whose profile contacts authorities. */
function needsAuthorities(task: PoolTask, waiting: ReadonlySet<string>): boolean {
  switch (task.task) {
    case 'sign':
    case 'release':
    case 'portal.seal':
    case 'portal.finish':
      return waiting.has(task.profile);
    case 'portal.check':
      return task.output !== null;
    default:
      return false;
  }
}

function asksAuthorities(profile: Profile): boolean {
  if (profile.demand !== undefined) return true;
  if (profile.method !== 'Local') return false;
  return isAtService(profile.signer) || (profile.choices?.level ?? 'B') !== 'B';
}

function workerProfile(profile: Profile): WorkerProfile {
  const { name, verify, verifyIndependently = false, demand, anchors } = profile;
  const shared = { name, verify, verifyIndependently, demand, form: outputFormatOf(profile) };
  if (profile.method !== 'Local') {
    const { compareContent = true } = profile;
    return { ...shared, signer: undefined, choices: {}, compareContent, anchors };
  }
  const { signer, choices = {} } = profile;
  // Without the chain inside, a file alone leads only to the signer's issuer, which was checked before.
  const bare = choices.includeChain === false && anchors.length > 0;
  if (signer === undefined) return { ...shared, signer, choices, compareContent: true, anchors };
  return {
    ...shared,
    compareContent: true,
    signer: isAtService(signer) ? forThreads(signer) : serializeSigner(signer),
    choices,
    anchors: bare ? [...anchors, ...signer.chain] : anchors,
  };
}
