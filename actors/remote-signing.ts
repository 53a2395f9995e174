/** What the batch service knows of the remote portal: which profiles use it, and what became of the calls. */
import { Fatal } from '../runtime/index.ts';
import { RemoteFailure, type RemoteOperation, type RemotePortal } from './ports.ts';
import type { Profiles, RemoteProfile } from './profiles.ts';

/** Told of what metrics count. */
export interface RemoteObserver {
  dispatched(profile: string): void;
  callFailed(operation: RemoteOperation): void;
  /** One pass over the waiting jobs took this long, milliseconds. */
  polled(milliseconds: number): void;
}

export class RemoteSigning {
  readonly #portal: RemotePortal | undefined;
  readonly #profiles: Profiles;
  readonly #observer: RemoteObserver;

  /** @param portal undefined when no profile needs one */
  constructor(portal: RemotePortal | undefined, profiles: Profiles, observer: RemoteObserver) {
    this.#portal = portal;
    this.#profiles = profiles;
    this.#observer = observer;
  }

  /** Names of the profiles whose files are signed there. */
  get profiles(): readonly string[] {
    return this.#profiles.all.filter(({ method }) => method === 'RemoteSigner').map(({ name }) => name);
  }

  /** @throws {Fatal} `profile.not-found` when the profile is gone or signs here now */
  of(profileName: string): { readonly portal: RemotePortal; readonly profile: RemoteProfile } {
    const profile = this.#profiles.find(profileName);
    if (profile?.method !== 'RemoteSigner' || this.#portal === undefined) {
      throw new Fatal('profile.not-found', `The profile ${profileName} has no remote portal (any more).`);
    }
    return { portal: this.#portal, profile };
  }

  /** For jobs whose profile is gone: their documents are there all the same. */
  get portal(): RemotePortal | undefined {
    return this.#portal;
  }

  dispatched(profile: string): void {
    this.#observer.dispatched(profile);
  }

  polled(milliseconds: number): void {
    this.#observer.polled(milliseconds);
  }

  /** Counts a failed call; anything else than a failure of the portal is none. */
  failed(error: unknown): void {
    if (error instanceof RemoteFailure) this.#observer.callFailed(error.operation);
  }
}
