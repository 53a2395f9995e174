/** Limits how much of one kind of work an organization has in progress, on this node. */
import type { OrganizationId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

export class ConcurrencyLimit {
  readonly #running = new Map<OrganizationId, number>();

  /** @param name of the work in the refusal, plural */
  constructor(
    private readonly most: number,
    private readonly name: string,
  ) {}

  /** Counts one more until the returned function is called. Refusals: `TooManyRequests`. */
  acquire(organization: OrganizationId): () => void {
    const running = this.#running.get(organization) ?? 0;
    if (running >= this.most)
      throw new PortalRefusal('TooManyRequests', `${this.most} ${this.name} are running.`, {
        retryAfterSeconds: 30,
      });
    this.#running.set(organization, running + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const left = (this.#running.get(organization) ?? 1) - 1;
      if (left > 0) this.#running.set(organization, left);
      else this.#running.delete(organization);
    };
  }
}
