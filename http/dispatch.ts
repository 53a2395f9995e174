/**
 * Takes requests from the library, and knows which are under way.
 */
import { Refusal } from '../machines/refusals.ts';
import type { Exchange } from './exchange.ts';
import type { UwsRequest, UwsResponse } from './uws.ts';
import { type Traffic, Visit, type VisitParts } from './visit.ts';

export class Dispatcher {
  readonly #parts: VisitParts;
  readonly #underWay = new Set<Exchange>();
  readonly #traffic: Traffic = { underWay: this.#underWay, left: () => this.#left() };
  #closing = false;
  #whenIdle: (() => void) | undefined;

  constructor(parts: Omit<VisitParts, 'tooMuch'>) {
    const tooMuch = new Refusal('service.busy', 'The service has more to do than it can.');
    this.#parts = { ...parts, tooMuch: parts.conventions.problemFrom(tooMuch) };
  }

  /** The route handler of the library: everything that reads `request` happens before it returns. */
  readonly handle = (response: UwsResponse, request: UwsRequest): void => {
    new Visit(this.#parts, response, request, this.#closing, this.#traffic).begin();
  };

  /** From now on requests are refused and connections end with their answer; resolves when none is under way. */
  drain(): Promise<void> {
    this.#closing = true;
    for (const limiter of Object.values(this.#parts.limiters ?? {})) limiter.close();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
      this.#left();
    });
  }

  /** Requests that are not answered yet. */
  get underWay(): number {
    return this.#underWay.size;
  }

  #left(): void {
    if (this.#underWay.size === 0) this.#whenIdle?.();
  }
}
