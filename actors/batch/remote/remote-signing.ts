/**
 * State of the remote portal in the batch service: the profiles it signs for, its circuit breaker and the uploads that
 * wait for it.
 *
 * Source: docs/batch-values.md §8.
 */

import { Fatal, type Millis } from '@sealwright/runtime';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { Profiles, RemoteProfile } from '../../shared/signing/profiles.ts';
import { CircuitBreaker, type OpenCircuit } from './circuit-breaker.ts';
import { CircuitOpen, RemoteFailure, type RemoteOperation, type RemotePortal } from './ports.ts';
import { UploadRetries } from './upload-retries.ts';

/** Counts for metrics. */
export interface RemoteObserver {
  dispatched(profile: string): void;
  callFailed(operation: RemoteOperation): void;
  /** Duration of one pass over the waiting jobs, milliseconds. */
  polled(milliseconds: number): void;
}

/** Maximum number of uploads that wait for a retry; above it no further jobs are claimed. */
const MAX_WAITING_UPLOADS = 8;

export class RemoteSigning {
  /** Refuses calls while the circuit is open; undefined where no endpoint is configured. */
  readonly portal: RemotePortal | undefined;
  readonly uploads: UploadRetries;
  readonly #breaker: CircuitBreaker;
  /** Set once the pipeline exists. */
  #onChange: () => void = () => {};

  constructor(
    private readonly needs: {
      readonly runtime: ServiceRuntime;
      /** Undefined where no endpoint is configured. */
      readonly portal: RemotePortal | undefined;
      readonly configured: Profiles;
      readonly observer: RemoteObserver;
      /** `RemoteSigner:TimeoutHours`, in milliseconds. */
      readonly timeout: Millis;
    },
  ) {
    const { clock, log } = needs.runtime;
    const onFailure = (operation: RemoteOperation) => needs.observer.callFailed(operation);
    const breaker: CircuitBreaker = new CircuitBreaker(
      clock,
      async () => {
        if (needs.portal !== undefined) await probePortal(needs.portal, breaker, onFailure);
      },
      (open) => {
        if (open) {
          log.warn('The remote portal does not answer. Its jobs wait, and it is probed until it does.', {
            Error: breaker.open?.reason,
          });
        } else log.info('The remote portal answers again.');
        this.#onChange();
      },
    );
    this.#breaker = breaker;
    this.portal = needs.portal && guardPortal(needs.portal, breaker, onFailure);
    this.uploads = new UploadRetries(clock, breaker, needs.timeout, () => this.#onChange());
  }

  /** @param listener called whenever `mayClaim` or the number of waiting uploads may have changed */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Names of the profiles that sign on the portal. */
  get profiles(): readonly string[] {
    return this.needs.configured.all
      .filter(({ method }) => method === 'RemoteSigner')
      .map(({ name }) => name);
  }

  /** True for a profile that signs on the portal. */
  serves(profileName: string): boolean {
    return this.needs.configured.find(profileName)?.method === 'RemoteSigner';
  }

  /** The open circuit; undefined while the portal responds. */
  get outage(): OpenCircuit | undefined {
    return this.#breaker.open;
  }

  /** False: queued jobs of remote profiles stay queued. */
  get mayClaim(): boolean {
    return this.#breaker.open === undefined && this.uploads.waiting < MAX_WAITING_UPLOADS;
  }

  /** @throws {Fatal} `profile.not-found` when the profile is removed or signs locally now */
  profileOf(profileName: string): { readonly portal: RemotePortal; readonly profile: RemoteProfile } {
    const profile = this.needs.configured.find(profileName);
    if (profile?.method !== 'RemoteSigner' || this.portal === undefined) {
      throw new Fatal('profile.not-found', `The profile ${profileName} has no remote portal (any more).`);
    }
    return { portal: this.portal, profile };
  }

  dispatched(profile: string): void {
    this.needs.observer.dispatched(profile);
  }

  polled(milliseconds: number): void {
    this.needs.observer.polled(milliseconds);
  }

  /** Stops probes and waiting uploads. */
  stop(): void {
    this.#breaker.stop();
    this.uploads.stop();
  }
}

/** Id of no document: a query for it has no side effects, and any answer shows that the portal works. */
const NO_DOCUMENT = '00000000-0000-0000-0000-000000000000';

/** Called for each failed call; not for calls refused by the circuit breaker. */
type FailureObserver = (operation: RemoteOperation) => void;

/**
 * Counts only transient failures: any other answer, also a refusal, shows that the portal works. Errors other than
 * `RemoteFailure`, such as a full disk, are local.
 */
function guardPortal(
  portal: RemotePortal,
  breaker: CircuitBreaker,
  onFailure: FailureObserver,
): RemotePortal {
  const call = async <T>(operation: RemoteOperation, make: () => Promise<T>): Promise<T> => {
    const { open } = breaker;
    if (open !== undefined) throw new CircuitOpen(operation, open.reason);
    return observed(make, breaker, onFailure);
  };
  return {
    upload: (file, document) => call('upload', () => portal.upload(file, document)),
    create: (uploadId, document) => call('create', () => portal.create(uploadId, document)),
    status: (documentId) => call('poll', () => portal.status(documentId)),
    download: (documentId, target) => call('download', () => portal.download(documentId, target)),
    cancel: (documentId, reason) => call('cancel', () => portal.cancel(documentId, reason)),
  };
}

/** Probes the portal without the circuit breaker. */
async function probePortal(
  portal: RemotePortal,
  breaker: CircuitBreaker,
  onFailure: FailureObserver,
): Promise<void> {
  await observed(() => portal.status(NO_DOCUMENT), breaker, onFailure).catch(() => {});
}

async function observed<T>(
  make: () => Promise<T>,
  breaker: CircuitBreaker,
  onFailure: FailureObserver,
): Promise<T> {
  try {
    const result = await make();
    breaker.succeeded();
    return result;
  } catch (error) {
    if (error instanceof RemoteFailure) {
      onFailure(error.operation);
      if (error.transient) breaker.failed(error.message, error.retryAfter);
      else breaker.succeeded();
    }
    throw error;
  }
}
