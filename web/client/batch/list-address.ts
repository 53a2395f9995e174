/** Filters and page of a list, which the address keeps, so that a view can be bookmarked and shared. */
import type { ListActions } from '../../pages/batch/parts.tsx';
import { delay } from '../dom.ts';
import type { Live } from './live-page.tsx';

/** Pause of typing after which a list is read, milliseconds. */
const TYPING_PAUSE_MS = 250;

/** Parameters of the address that filter nothing. */
const PLACES: readonly string[] = ['page', 'after'];

export class ListAddress implements ListActions {
  query = new URLSearchParams(location.search);
  readonly #live: () => Live;
  #cancel = () => {};

  constructor(live: () => Live) {
    this.#live = live;
  }

  /** True when it has filters. */
  get isFiltered(): boolean {
    return [...this.query.keys()].some((name) => name !== 'sort' && !PLACES.includes(name));
  }

  filter(form: HTMLFormElement, later: boolean): void {
    const query = new URLSearchParams(this.query);
    for (const name of PLACES) query.delete(name);
    for (const field of form.elements) query.delete(field.getAttribute('name') ?? '');
    for (const [name, value] of new FormData(form)) {
      if (typeof value !== 'string' || value.trim() === '') continue;
      // A refresh draws the fields anew: the space between two words must stay while the person types.
      query.append(name, later ? value : value.trim());
    }
    const isSame = query.toString() === this.query.toString();
    this.query = query;
    this.#cancel();
    if (later) this.#cancel = delay(TYPING_PAUSE_MS, () => this.#live().refresh());
    else if (!isSame) this.again();
    else this.#live().refresh();
  }

  clear(): void {
    this.query = new URLSearchParams();
    this.again();
  }

  turn(page: number): void {
    if (page > 1) this.query.set('page', String(page));
    else this.query.delete('page');
    this.again();
  }

  again(): void {
    this.#cancel();
    this.#live().draw();
    this.#live().refresh();
  }

  /** Writes them into the address. */
  keep(): void {
    const address = this.query.size === 0 ? location.pathname : `${location.pathname}?${this.query}`;
    if (address !== location.pathname + location.search) history.replaceState(undefined, '', address);
  }
}
