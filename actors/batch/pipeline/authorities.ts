/**
 * Circuits of time-stamp authorities and of keys behind the network. An authority that does not answer would hold every slot
 * of the pipeline until its time limit, job after job: after the first failure the jobs of its profiles wait in the queue, and
 * it is probed until it answers. A key that is refused or disabled would fail them all. A PIN that is refused is not probed.
 *
 * State is in memory: each node learns from its own jobs. Profiles with the same address and user, or key, share a circuit.
 *
 * Source: docs/decisions/0317-authorities-that-do-not-answer.md, docs/decisions/0405-keys-behind-the-network.md.
 */
import { type Clock, describeFailure, type Ids, type Log } from '@sealwright/runtime';
import { createTimestampAuthority, type HttpTransport } from '@sealwright/signatures';
import {
  isAtService,
  KEY_REFUSALS,
  PIN_REFUSAL,
  type ServiceSigner,
} from '../../shared/key-services/key-service.ts';
import { checkServiceSigner, openServiceSigner } from '../../shared/key-services/service-signer.ts';
import { createAuthorityTransport } from '../../shared/signing/authority-transport.ts';
import type { LocalProfile, Profiles, SigningChoices } from '../../shared/signing/profiles.ts';
import { NO_TRUST, type TrustOptions } from '../../shared/signing/trust-options.ts';
import { CircuitBreaker, type OpenCircuit } from '../remote/circuit-breaker.ts';

/** Code of an authority that a later request may reach. */
const UNREACHABLE = 'authority.unreachable';

/** Names of what jobs wait for. */
export type WaitedFor = 'time-stamp authority' | 'key service';

interface Circuit {
  readonly waitedFor: WaitedFor;
  /** True where the failure of a job is one of this circuit. */
  readonly causes: (failure: JobFailure) => boolean;
  readonly breaker: CircuitBreaker;
}

interface JobFailure {
  readonly code: string;
  readonly message: string;
}

export class Authorities {
  /** By the name of the profile. */
  readonly #circuits = new Map<string, readonly Circuit[]>();

  constructor(
    private readonly runtime: { readonly clock: Clock; readonly ids: Ids; readonly log: Log },
    profiles: Profiles,
    trust: TrustOptions = NO_TRUST,
    /** Called when `holds` answers something else. */
    private readonly onChange: () => void = () => {},
  ) {
    const transport = createAuthorityTransport({ clock: runtime.clock, ...trust });
    const shared = new Map<string, Circuit>();
    const sharedAt = (place: string, make: () => Circuit): Circuit => {
      const circuit = shared.get(place) ?? make();
      shared.set(place, circuit);
      return circuit;
    };
    for (const profile of profiles.all) {
      if (profile.method !== 'Local') continue;
      const { name, signer, choices = {} } = profile;
      const { timestamp } = choices;
      const circuits: Circuit[] = [];
      if (timestamp !== undefined) {
        const place = JSON.stringify([timestamp.url, timestamp.username ?? '']);
        circuits.push(sharedAt(place, () => this.#circuitOf(timestamp, transport)));
      }
      if (isAtService(signer)) {
        const place = JSON.stringify([signer.place, signer.fingerprint, choices.digest, choices.padding]);
        circuits.push(sharedAt(place, () => this.#keyCircuitOf(signer, choices)));
      }
      if (circuits.length > 0) this.#circuits.set(name, circuits);
    }
  }

  /** True: jobs of the profile wait. */
  holds(profile: string): boolean {
    return this.outageOf(profile) !== undefined;
  }

  /** Undefined while the authority and the key service answer. */
  outageOf(profile: string): (OpenCircuit & Pick<Circuit, 'waitedFor'>) | undefined {
    for (const { breaker, waitedFor } of this.#circuits.get(profile) ?? [])
      if (breaker.open !== undefined) return { ...breaker.open, waitedFor };
    return undefined;
  }

  /** Names of the profiles that have an authority or a key service. */
  get profiles(): readonly string[] {
    return [...this.#circuits.keys()];
  }

  /**
   * Takes notice of the failure of a job, or of a key at the start. Those of revocation services are not of the authority, whose name they lack; their
   * addresses may begin with it. Returns what this job waits for, with those of the queue, where another one found out before.
   */
  failed(profile: string, failure: JobFailure): WaitedFor | undefined {
    const circuit = this.#circuits.get(profile)?.find(({ causes }) => causes(failure));
    if (circuit === undefined) return undefined;
    const { breaker, waitedFor } = circuit;
    const wasKnown = breaker.open !== undefined;
    note(breaker, failure);
    return wasKnown ? waitedFor : undefined;
  }

  /** Ends the probes. */
  stop(): void {
    for (const { breaker } of [...this.#circuits.values()].flat()) breaker.stop();
  }

  /** The probe compares the keys, and signs once where the profile allows it. */
  #keyCircuitOf(described: ServiceSigner, choices: SigningChoices): Circuit {
    const opened = openServiceSigner(described, this.runtime);
    const breaker = this.#breakerOf('key service', opened.key.name, async () => {
      const at = this.runtime.clock.now();
      await checkServiceSigner(opened, choices, { at, isTried: described.isTried });
      return true;
    });
    return { waitedFor: 'key service', causes: ({ code }) => KEY_REFUSALS.has(code), breaker };
  }

  #circuitOf(
    settings: NonNullable<NonNullable<LocalProfile['choices']>['timestamp']>,
    transport: HttpTransport,
  ): Circuit {
    const { clock, ids } = this.runtime;
    const authority = createTimestampAuthority({
      ...settings,
      transport,
      retries: 0,
      now: () => clock.now(),
      wait: (ms) => clock.sleep(ms),
      random: (length) => Buffer.from(ids.bytes(length)),
    });
    const breaker = this.#breakerOf('time-stamp authority', authority.name, () =>
      authority.stamp(Buffer.from(ids.bytes(32)), 'sha256').then(
        () => true,
        // A refusal is an answer, too: the next job says which.
        (error: { readonly code?: unknown }) => error.code !== UNREACHABLE,
      ),
    );
    const causes = ({ code, message }: JobFailure) =>
      code === UNREACHABLE && message.split(' ').includes(authority.name);
    return { waitedFor: 'time-stamp authority', causes, breaker };
  }

  /** @param answers false, or rejects with what is wrong now: it is probed again later */
  #breakerOf(waitedFor: WaitedFor, name: string, answers: () => Promise<boolean>): CircuitBreaker {
    const { clock, log } = this.runtime;
    const breaker: CircuitBreaker = new CircuitBreaker(
      clock,
      async () => {
        try {
          if (await answers()) breaker.succeeded();
        } catch (error) {
          note(breaker, describeFailure(error));
        }
      },
      (isOpen) => {
        const properties = { Authority: name, Error: breaker.open?.reason };
        if (isOpen) log.warn(`A ${waitedFor} does not answer. Its jobs wait, and it is probed.`, properties);
        else log.info(`A ${waitedFor} answers again.`, { Authority: name });
        this.onChange();
      },
      1,
    );
    return breaker;
  }
}

/** A PIN that is refused is not probed: that would send it again. */
function note(breaker: CircuitBreaker, { code, message }: JobFailure): void {
  breaker.failed(message);
  if (code === PIN_REFUSAL) breaker.stop();
}
