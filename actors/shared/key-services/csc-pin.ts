/**
 * The PIN of a credential. Services lock a credential after some wrong ones: in a thread one request with it is under way at a
 * time, and once it is refused, no thread of the process sends it again.
 */
import type { CscPlace, RequestLimit, ServiceSigner } from './key-service.ts';

export class CscPin {
  readonly #isRefused: Int32Array;
  #refusal = 'as another thread saw';
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly value: string,
    /** Of all threads; see `ServiceSigner.pinState`. */
    readonly state: SharedArrayBuffer,
  ) {
    this.#isRefused = new Int32Array(state);
  }

  /** Answer that refused it; undefined: it may be sent. */
  get refusal(): string | undefined {
    return Atomics.load(this.#isRefused, 0) === 0 ? undefined : this.#refusal;
  }

  refuse(reason: string): void {
    this.#refusal = reason;
    Atomics.store(this.#isRefused, 0, 1);
  }

  /** Runs `work` after that of earlier calls. */
  inTurn<Value>({ signal }: RequestLimit, work: () => Promise<Value>): Promise<Value> {
    const own = this.#last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#last = own.catch(() => {});
    return own;
  }
}

/** One for each credential and PIN. */
const PINS = new Map<string, CscPin>();

/** @param state from the main thread; undefined: in the main thread */
export function cscPin({ address, key }: CscPlace, state?: SharedArrayBuffer): CscPin {
  const value = process.env['CSC_PIN'] ?? '';
  const name = JSON.stringify([address, key, value]);
  const pin =
    PINS.get(name) ?? new CscPin(value, state ?? new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  PINS.set(name, pin);
  return pin;
}

/** The signer as pool threads get it. */
export function forThreads(signer: ServiceSigner): ServiceSigner {
  const { place } = signer;
  return place.service === 'Csc' ? { ...signer, pinState: cscPin(place).state } : signer;
}
