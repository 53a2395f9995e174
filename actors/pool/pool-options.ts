/** What the pool is started with, from the profiles of the service. */
import { serializeSigner } from '../../crypto/index.ts';
import { formOf, type Profile } from '../profiles.ts';
import { NO_TRUST, type TrustOptions } from '../trust.ts';
import type { SigningPoolOptions } from './pool.ts';
import type { WorkerProfile, WorkerSetup } from './setup.ts';
import type { PoolTask } from './tasks.ts';

export interface PoolSource {
  readonly profiles: readonly Profile[];
  readonly trust?: TrustOptions;
  readonly encryptionKey?: Uint8Array;
}

/** `setup` and `patient` of `SigningPoolOptions`. */
export function poolOptions(
  { profiles, trust = NO_TRUST, encryptionKey }: PoolSource,
  folders: Pick<WorkerSetup, 'processing' | 'output' | 'error' | 'faults'>,
): Pick<SigningPoolOptions, 'setup' | 'patient'> {
  const setup: WorkerSetup = {
    ...folders,
    profiles: profiles.map(workerProfile),
    trust,
    encryptionKey,
  };
  const waiting = new Set(profiles.filter(asksAuthorities).map(({ name }) => name as string));
  const looks = trust.revocation !== 'none';
  if (waiting.size === 0 && !looks) return { setup };
  return {
    setup,
    patient: (task: PoolTask) => asksInTask(task, waiting) || (looks && LOOKING.has(task.task)),
  };
}

/** Tasks that ask whether certificates of others are revoked. */
const LOOKING: ReadonlySet<PoolTask['task']> = new Set(['portal.begin', 'portal.describe']);

/** Tasks of the profiles that ask authorities, where signing them asks. */
function asksInTask(task: PoolTask, waiting: ReadonlySet<string>): boolean {
  switch (task.task) {
    case 'sign':
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
  return profile.method === 'Local' && (profile.choices?.level ?? 'B') !== 'B';
}

function workerProfile(profile: Profile): WorkerProfile {
  const { name, verify, anchors } = profile;
  const shared = { name, verify, form: formOf(profile) };
  if (profile.method !== 'Local') {
    const { compareContent = true } = profile;
    return { ...shared, signer: undefined, choices: {}, compareContent, anchors };
  }
  const { signer, choices = {} } = profile;
  // Without the chain inside, a file alone leads no further than to its signer's issuer, which was checked before.
  const bare = choices.includeChain === false && anchors.length > 0;
  return {
    ...shared,
    compareContent: true,
    signer: serializeSigner(signer),
    choices,
    anchors: bare ? [...anchors, ...signer.chain] : anchors,
  };
}
