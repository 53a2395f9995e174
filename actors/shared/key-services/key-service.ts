/**
 * Keys behind the network: one signature at a service, bounded, repeated while that can help.
 *
 * | Failure                                     | Then                                             |
 * |---------------------------------------------|--------------------------------------------------|
 * | `ServiceBusy`: throttled, 5xx, no answer    | repeated with growing pauses until the time ends |
 * | `CryptoError` of a driver: refused, disabled | thrown at once                                   |
 * | anything else                               | thrown at once: what has no name is not repeated |
 *
 * Source: docs/decisions/0405-keys-behind-the-network.md.
 */
import type { KeyObject } from 'node:crypto';
import type { Clock, Ids } from '@sealwright/runtime/core';
import { CryptoError, type Signer, type SignerIdentity, type ToBeSigned } from '@sealwright/signatures';

/** Place of a key; plain data for the pool threads. The secret is never logged or stored. */
export type KeyPlace = VaultPlace | AwsKmsPlace | AzureKeyVaultPlace | GoogleKmsPlace | CscPlace;

export interface VaultPlace {
  readonly service: 'Vault';
  /** With the mount of the transit engine: `https://vault.example.org:8200/v1/transit`. */
  readonly address: string;
  readonly key: string;
  readonly namespace: string | undefined;
  /** Path of a file with the token, read again for each request; else the token itself. */
  readonly tokenPath: string | undefined;
  readonly token: string;
}

export interface AwsKmsPlace {
  readonly service: 'AwsKms';
  /** Id, ARN or alias. */
  readonly key: string;
  /** Undefined: as the client finds it. */
  readonly region: string | undefined;
  readonly address: string | undefined;
}

export interface AzureKeyVaultPlace {
  readonly service: 'AzureKeyVault';
  /** Of the vault: `https://example.vault.azure.net`. */
  readonly address: string;
  /** Name, or name and version: `contracts/9885aa55`. */
  readonly key: string;
}

export interface GoogleKmsPlace {
  readonly service: 'GoogleKms';
  /** Resource name, with or without a version: `projects/…/cryptoKeys/contracts/cryptoKeyVersions/1`. */
  readonly key: string;
  /** @default that of the service */
  readonly address: string | undefined;
}

export interface CscPlace {
  readonly service: 'Csc';
  /** With the version of the API: `https://remote.example.org/csc/v2`. */
  readonly address: string;
  /** Id of the credential. */
  readonly key: string;
}

export interface KeyLimits {
  /** Signatures asked for at the same time; each pool thread has its share, at least one. */
  readonly maxInFlight: number;
  /** Time for one signature with its repetitions, milliseconds. */
  readonly timeoutMs: number;
}

/** A signer whose key is at a service; plain data. */
export interface ServiceSigner extends SignerIdentity {
  readonly where: 'service';
  readonly place: KeyPlace;
  readonly limits: KeyLimits;
  /** URL of a proxy for https requests, with its password; never logged or stored. @default none */
  readonly proxy?: string | undefined;
  /** True: a signature may be tried at start and after an outage. */
  readonly isTried: boolean;
  /** Of `CscPin`, in a pool thread. */
  readonly pinState?: SharedArrayBuffer;
}

export function isAtService(signer: Signer | ServiceSigner | undefined): signer is ServiceSigner {
  return signer !== undefined && 'where' in signer;
}

/** Code of a PIN that is wrong: it ends with a restart, and a probe would send it again. */
export const PIN_REFUSAL = 'key.password';

/** Codes of a key that its service does not let sign, or that is not the one of the certificate: jobs wait until that ends. */
export const KEY_REFUSALS: ReadonlySet<string> = new Set([
  PIN_REFUSAL,
  'key.unavailable',
  'key.mismatch',
  'key.not-found',
]);

/** Protocol of one service. */
export interface KeyDriver {
  /** For messages: service and key, without secrets. */
  readonly name: string;
  /**
   * Checks that the service holds the key of this certificate and lets it sign.
   * @throws {ServiceBusy} {CryptoError} `key.mismatch`, `key.not-found`, `key.unavailable`, `key.unsupported`
   */
  confirm(publicKey: KeyObject, limit: RequestLimit): Promise<void>;
  /** True: signatures wait in the driver for their turn, and it limits its own requests. @default false */
  readonly isQueued?: boolean;
  /** @throws {ServiceBusy} {CryptoError} `key.unavailable`, `key.unsupported`, `key.password` */
  sign(data: ToBeSigned, limit: RequestLimit): Promise<Buffer>;
  close(): void;
}

/** Ends a request. */
export interface RequestLimit {
  readonly signal: AbortSignal;
}

/** A later request may succeed. */
export class ServiceBusy extends Error {
  constructor(
    message: string,
    /** Pause that the service asks for, milliseconds. */
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

/** Time limit of one request, milliseconds; a signature has more in all. */
export const REQUEST_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A service that asks for a longer pause is asked again nevertheless. */
const LONGEST_RETRY_AFTER_MS = 60_000;

interface Machine {
  readonly clock: Pick<Clock, 'after' | 'sleep' | 'elapsed'>;
  readonly ids: Pick<Ids, 'bytes'>;
}

/** A key at a service, as its callers see it. */
export class ServiceKey {
  readonly #driver: KeyDriver;
  readonly #limits: KeyLimits;
  readonly #machine: Machine;
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;
  /** Until then the service wants no request, by `Clock.elapsed`. */
  #quietUntil = 0;

  constructor(driver: KeyDriver, limits: KeyLimits, machine: Machine) {
    this.#driver = driver;
    this.#limits = limits;
    this.#machine = machine;
  }

  /** @throws {CryptoError} as `KeyDriver.sign`; `key.unavailable` when the time is over */
  async sign(data: ToBeSigned): Promise<Buffer> {
    await this.#turn();
    try {
      const longest = this.#driver.isQueued === true ? Number.POSITIVE_INFINITY : REQUEST_MS;
      return await this.#repeated((limit) => this.#driver.sign(data, limit), longest);
    } finally {
      this.#inFlight -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** @throws {CryptoError} as `KeyDriver.confirm`; `key.unavailable` when the service does not answer */
  confirm(publicKey: KeyObject): Promise<void> {
    return this.#repeated((limit) => this.#driver.confirm(publicKey, limit), REQUEST_MS);
  }

  get name(): string {
    return this.#driver.name;
  }

  close(): void {
    this.#driver.close();
  }

  async #turn(): Promise<void> {
    while (this.#inFlight >= this.#limits.maxInFlight)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    this.#inFlight += 1;
  }

  async #repeated<Value>(request: (limit: RequestLimit) => Promise<Value>, longest: number): Promise<Value> {
    const { clock, ids } = this.#machine;
    const end = clock.elapsed() + this.#limits.timeoutMs;
    let reason: string | undefined;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const quiet = this.#quietUntil - clock.elapsed();
      if (clock.elapsed() + quiet >= end) throw this.#late(reason ?? 'it asked for a pause');
      if (quiet > 0) await clock.sleep(quiet);
      try {
        return await limited(clock, Math.min(longest, end - clock.elapsed()), request);
      } catch (error) {
        if (!(error instanceof ServiceBusy)) throw error;
        const pauseAsked = Math.min(error.retryAfterMs, LONGEST_RETRY_AFTER_MS);
        this.#quietUntil = Math.max(this.#quietUntil, clock.elapsed() + pauseAsked);
        // The last request may end with the time, and says less.
        if (reason === undefined || clock.elapsed() < end) reason = error.message;
        // Between half of the pause and the whole: requests that were refused together do not return together.
        const wait = pause * (0.5 + (ids.bytes(1)[0] ?? 0) / 512);
        if (clock.elapsed() + wait >= end) throw this.#late(reason);
        await clock.sleep(wait);
      }
    }
  }

  #late(reason: string): CryptoError {
    return new CryptoError(
      'key.unavailable',
      `${this.#driver.name} did not sign within ${this.#limits.timeoutMs / 1000} s: ${reason}. Check the service, its region or address, and its limits of requests, then retry.`,
    );
  }
}

/** @throws {ServiceBusy} after `ms` milliseconds */
export async function limited<Value>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  request: (limit: RequestLimit) => Promise<Value>,
): Promise<Value> {
  const late = new AbortController();
  const over = new Promise<never>((_, reject) => {
    late.signal.addEventListener('abort', () => reject(late.signal.reason as Error));
  });
  const cancel = clock.after(ms, () => late.abort());
  try {
    // Not all that a driver waits for ends by the signal, such as its search for credentials.
    return await Promise.race([request({ signal: late.signal }), over]);
  } catch (error) {
    throw late.signal.aborted ? new ServiceBusy(`no answer within ${Math.round(ms)} ms`) : error;
  } finally {
    cancel();
  }
}

/** The failure of a key whose service refuses it; a repetition does not help. */
export function unavailable(name: string, reason: string, remedy: string): CryptoError {
  return new CryptoError('key.unavailable', `${name} refuses to sign: ${reason}. ${remedy}`);
}

export function mismatch(name: string): CryptoError {
  return new CryptoError(
    'key.mismatch',
    `${name} has another public key than the certificate. Name the certificate of this key, or the key of the certificate.`,
  );
}

/** Finds a version of a key once, and again after a request with it was refused. */
export function keptVersion<Version>(find: (limit: RequestLimit) => Promise<Version>) {
  let version: Promise<Version> | undefined;
  const forget = (error: unknown): never => {
    version = undefined;
    throw error;
  };
  return async <Value>(limit: RequestLimit, use: (version: Version) => Promise<Value>): Promise<Value> => {
    version ??= find(limit).catch(forget);
    const found = await version;
    return use(found).catch((error: unknown) =>
      error instanceof ServiceBusy ? Promise.reject(error) : forget(error),
    );
  };
}
