/** Receives requests from the library and tracks those in progress. */
import { Refusal } from '../../machines/refusals.ts';
import { RequestContext } from './request/request-context.ts';
import type { RequestContextOptions, Traffic } from './request/request-options.ts';
import type { RequestHead, ResponseWriter } from './transport/port.ts';

export class Dispatcher {
  readonly #options: RequestContextOptions;
  #underWay = 0;
  readonly #traffic: Traffic = {
    requestStarted: () => {
      this.#underWay += 1;
    },
    requestEnded: () => {
      this.#underWay -= 1;
      this.#tellIfIdle();
    },
  };
  #closing = false;
  #whenIdle: (() => void) | undefined;

  constructor(options: Omit<RequestContextOptions, 'overloadProblem'>) {
    const overload = new Refusal('service.busy', 'The service has more to do than it can.');
    this.#options = { ...options, overloadProblem: options.conventions.problemFrom(overload) };
  }

  /** The route handler of the library; it reads `request` only before it returns. */
  readonly handle = (response: ResponseWriter, request: RequestHead): void => {
    new RequestContext({
      options: this.#options,
      response,
      request,
      closing: this.#closing,
      traffic: this.#traffic,
    }).start();
  };

  /**
   * From this call on requests are refused and connections end with their reply; resolves when no request is in
   * progress.
   */
  drain(): Promise<void> {
    this.#closing = true;
    for (const limiter of Object.values(this.#options.limiters ?? {})) limiter.close();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
      this.#tellIfIdle();
    });
  }

  /** Requests without a complete reply. */
  get underWay(): number {
    return this.#underWay;
  }

  #tellIfIdle(): void {
    if (this.#underWay === 0) this.#whenIdle?.();
  }
}
