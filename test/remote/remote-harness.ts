/** The batch service with a remote profile and a scripted portal. */

import { type Clock, systemClock, systemIds } from '@sealwright/runtime';
import type { ExecutionContext } from 'ava';
import type { RemotePollOptions } from '../../actors/batch/pipeline/remote-poll.ts';
import { createRemotePortal, type RemoteProfile } from '../../actors/index.ts';
import { samplePdf } from '../../bench/samples.ts';
import type { ProfileName } from '../../machines/ids.ts';
import { type BatchFixture, type BatchFixtureOptions, batchFixture } from '../actors/batch/batch-harness.ts';
import { reached } from '../project/waiting.ts';
import { ScriptedPortal } from './scripted-portal.ts';

export const PDF = samplePdf(4_000);

export const PROFILE: RemoteProfile = {
  method: 'RemoteSigner',
  name: 'contracts' as ProfileName,
  format: undefined,
  verify: true,
  encrypt: false,
  anchors: [],
  participant: {
    name: 'Ann Example',
    email: 'ann@example.org',
    identifier: '12345678909',
    allowElectronicSignature: false,
  },
};

/** Time between two passes over the waiting jobs: no other timer has it. */
export const POLL_MS = 51;

export interface RemoteService {
  readonly portal: ScriptedPortal;
  readonly service: BatchFixture;
  /** Opens the service on the same folder again. */
  again(more?: BatchFixtureOptions): Promise<BatchFixture>;
}

export async function startRemote(
  t: ExecutionContext,
  options: {
    readonly timeout?: number;
    readonly maxFailures?: number;
    readonly remote?: RemotePollOptions;
    readonly serviceOptions?: BatchFixtureOptions;
  } = {},
): Promise<RemoteService> {
  const portal = await new ScriptedPortal().listen(t);
  const open = (more?: BatchFixtureOptions) => {
    const remote = createRemotePortal({
      endpoint: portal.url,
      apiKey: portal.apiKey,
      // An answer may be held back until others have come, on a busy machine.
      timeout: 600_000,
      clock: systemClock,
      ids: systemIds,
    });
    t.teardown(() => remote.close());
    return batchFixture(t, {
      watch: false,
      profiles: [PROFILE],
      remote: {
        portal: remote,
        every: POLL_MS,
        timeout: options.timeout ?? 3_600_000,
        maxFailures: options.maxFailures ?? 2,
        ...options.remote,
      },
      ...options.serviceOptions,
      ...more,
    });
  };
  const first = await open();
  return { portal, service: first, again: (more) => open({ ...more, root: first.layout.root }) };
}

/** Waits until something is so; ava's own limit ends a wait in vain. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await reached(isSo);
}

/** Pauses are a hundred times shorter; time limits of half a minute and more stay. */
export function hasty(): Clock {
  const shorter = (delay: number) => (delay < 30_000 ? delay / 100 : delay);
  return {
    ...systemClock,
    after: (delay, task) => systemClock.after(shorter(delay), task),
    sleep: (delay, signal) => systemClock.sleep(delay / 100, signal),
  };
}

/** Time that passes so many times faster than the machine's. */
export function faster(times: number): Clock {
  const start = systemClock.now();
  const begun = systemClock.elapsed();
  const elapsed = () => (systemClock.elapsed() - begun) * times;
  return {
    now: () => start + Math.floor(elapsed()),
    elapsed,
    after: (delay, task) => systemClock.after(delay / times, task),
    sleep: (delay, signal) => systemClock.sleep(delay / times, signal),
  };
}
