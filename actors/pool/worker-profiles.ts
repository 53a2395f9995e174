/** The profiles as a pool thread uses them: keys ready to sign, authorities ready to be asked. */
import {
  createEvidenceSource,
  createTimestampAuthority,
  deserializeSigner,
  type Signer,
  type SigningServices,
} from '../../crypto/index.ts';
import { type Clock, type Ids, systemClock, systemIds } from '../../runtime/index.ts';
import { createAuthorityTransport } from '../adapters/authority-transport.ts';
import type { OutputForm } from '../file-names.ts';
import type { SigningChoices } from '../profiles.ts';
import type { TrustOptions } from '../trust.ts';
import type { WorkerSetup } from './setup.ts';

export interface ThreadProfile {
  readonly name: string;
  readonly signer: Signer | undefined;
  readonly choices: SigningChoices;
  readonly form: OutputForm;
  readonly verify: boolean;
  /** What the remote portal signed is compared with what was sent. */
  readonly compareContent: boolean;
  readonly anchors: readonly Buffer[];
  /** What signing above level B asks: nobody unless a time-stamp authority is configured. */
  readonly services: SigningServices;
}

export interface ThreadProfiles {
  readonly byName: ReadonlyMap<string, ThreadProfile>;
  readonly trust: TrustOptions;
}

/** Tries of one authority after the first; a job fails rather than wait for long. */
const RETRIES = 1;

export function threadProfiles(
  setup: WorkerSetup,
  clock: Clock = systemClock,
  ids: Ids = systemIds,
): ThreadProfiles {
  const trust: TrustOptions = {
    ...setup.trust,
    roots: setup.trust.roots.map((der) => Buffer.from(der)),
    intermediates: setup.trust.intermediates.map((der) => Buffer.from(der)),
  };
  const asking = {
    transport: createAuthorityTransport({ clock }),
    now: () => clock.now(),
    wait: (ms: number) => clock.sleep(ms),
    retries: RETRIES,
  };
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
        allowAia: trust.allowAia,
        cacheMinutes: trust.cacheMinutes,
        timeoutMs: trust.revocationTimeoutMs,
      }),
    };
  };
  const byName = new Map<string, ThreadProfile>();
  for (const profile of setup.profiles) {
    const anchors = profile.anchors.map((der) => Buffer.from(der));
    const choices = withBuffers(profile.choices);
    byName.set(profile.name, {
      name: profile.name,
      signer: profile.signer && deserializeSigner(profile.signer),
      choices,
      form: profile.form,
      verify: profile.verify,
      compareContent: profile.compareContent,
      anchors,
      services: servicesOf(choices, anchors),
    });
  }
  return { byName, trust };
}

/** Buffers do not survive the way between threads as buffers. */
function withBuffers(choices: SigningChoices): SigningChoices {
  const { policy } = choices;
  return policy === undefined
    ? choices
    : { ...choices, policy: { ...policy, hash: Buffer.from(policy.hash) } };
}
