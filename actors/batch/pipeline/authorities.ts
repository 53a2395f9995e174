/**
 * Circuits of time-stamp authorities. An authority that does not answer would hold every slot of the pipeline until its time
 * limit, job after job: after the first failure the jobs of its profiles wait in the queue, and it is probed until it answers.
 *
 * State is in memory: each node learns from its own jobs. Profiles with the same address and user share a circuit.
 *
 * Source: docs/decisions/0317-authorities-that-do-not-answer.md.
 */
import type { Clock, Ids, Log } from '@sealwright/runtime';
import {
  createTimestampAuthority,
  type HttpTransport,
  type TimestampAuthority,
} from '@sealwright/signatures';
import { createAuthorityTransport } from '../../shared/authority-transport.ts';
import type { LocalProfile, Profiles } from '../../shared/profiles.ts';
import { NO_TRUST, type TrustOptions } from '../../shared/trust.ts';
import { CircuitBreaker, type OpenCircuit } from '../remote/circuit-breaker.ts';

/** Code of an authority that a later request may reach. */
const UNREACHABLE = 'authority.unreachable';

interface Circuit {
  readonly authority: TimestampAuthority;
  readonly breaker: CircuitBreaker;
}

export class Authorities {
  /** By the name of the profile. */
  readonly #circuits = new Map<string, Circuit>();

  constructor(
    private readonly runtime: { readonly clock: Clock; readonly ids: Ids; readonly log: Log },
    profiles: Profiles,
    trust: TrustOptions = NO_TRUST,
    /** Called when `holds` answers something else. */
    private readonly onChange: () => void = () => {},
  ) {
    const transport = createAuthorityTransport({ clock: runtime.clock, ...trust });
    const shared = new Map<string, Circuit>();
    for (const profile of profiles.all) {
      if (profile.method !== 'Local' || profile.choices?.timestamp === undefined) continue;
      const { url, username = '' } = profile.choices.timestamp;
      const place = JSON.stringify([url, username]);
      const circuit = shared.get(place) ?? this.#circuitOf(profile.choices.timestamp, transport);
      shared.set(place, circuit);
      this.#circuits.set(profile.name, circuit);
    }
  }

  /** True: jobs of the profile wait. */
  holds(profile: string): boolean {
    return this.outageOf(profile) !== undefined;
  }

  /** Undefined while the authority answers. */
  outageOf(profile: string): OpenCircuit | undefined {
    return this.#circuits.get(profile)?.breaker.open;
  }

  /** Names of the profiles that have an authority. */
  get profiles(): readonly string[] {
    return [...this.#circuits.keys()];
  }

  /**
   * Takes notice of the failure of a job. Those of revocation services are not of the authority, whose name they lack; their
   * addresses may begin with it. True: another job found out before, and this one waits with those of the queue.
   */
  failed(profile: string, { code, message }: { readonly code: string; readonly message: string }): boolean {
    const circuit = this.#circuits.get(profile);
    if (code !== UNREACHABLE || circuit === undefined) return false;
    const { authority, breaker } = circuit;
    if (!message.split(' ').includes(authority.name)) return false;
    const wasKnown = breaker.open !== undefined;
    breaker.failed(message);
    return wasKnown;
  }

  /** Ends the probes. */
  stop(): void {
    for (const { breaker } of this.#circuits.values()) breaker.stop();
  }

  #circuitOf(
    settings: NonNullable<NonNullable<LocalProfile['choices']>['timestamp']>,
    transport: HttpTransport,
  ): Circuit {
    const { clock, ids, log } = this.runtime;
    const authority = createTimestampAuthority({
      ...settings,
      transport,
      retries: 0,
      now: () => clock.now(),
      wait: (ms) => clock.sleep(ms),
      random: (length) => Buffer.from(ids.bytes(length)),
    });
    const breaker: CircuitBreaker = new CircuitBreaker(
      clock,
      async () => {
        try {
          await authority.stamp(Buffer.from(ids.bytes(32)), 'sha256');
        } catch (error) {
          if ((error as { readonly code?: unknown }).code === UNREACHABLE) return;
        }
        // A refusal is an answer, too: the next job says which.
        breaker.succeeded();
      },
      (isOpen) => {
        const properties = { Authority: authority.name, Error: breaker.open?.reason };
        if (isOpen)
          log.warn('A time-stamp authority does not answer. Its jobs wait, and it is probed.', properties);
        else log.info('A time-stamp authority answers again.', { Authority: authority.name });
        this.onChange();
      },
      1,
    );
    return { authority, breaker };
  }
}
