/** Progress display: a bar with rate and remaining time on a terminal, periodic lines otherwise. */

const WIDTH = 24;
/** Milliseconds between lines, and between updates of the bar. */
const LINE_EVERY = 10_000;
const DRAW_EVERY = 100;
const CLEAR_LINE = '\r\u001b[K';

export interface Screen {
  out(text: string): void;
  err(text: string): void;
  /** True when `err` is a terminal. */
  readonly live: boolean;
}

/** The progress of one task. */
export class Progress {
  readonly #screen: Pick<Screen, 'err' | 'live'>;
  readonly #clock: { elapsed(): number };
  readonly #name: string;
  #startedAt: number;
  #last = Number.NEGATIVE_INFINITY;
  #shown = '';
  #of = 0;

  constructor(name: string, screen: Pick<Screen, 'err' | 'live'>, clock: { elapsed(): number }) {
    this.#name = name;
    this.#screen = screen;
    this.#clock = clock;
    this.#startedAt = clock.elapsed();
  }

  show(label: string, done: number, of: number): void {
    const now = this.#clock.elapsed();
    // A new counter starts.
    if (of !== this.#of) this.#startedAt = now;
    this.#of = of;
    const { live } = this.#screen;
    const what = `${label} ${done}`;
    if (what === this.#shown || (now - this.#last < (live ? DRAW_EVERY : LINE_EVERY) && done < of)) return;
    this.#last = now;
    this.#shown = what;
    const share = of > 0 ? Math.min(1, done / of) : 0;
    const seconds = (now - this.#startedAt) / 1000;
    const rate = seconds > 0 ? done / seconds : 0;
    const left = rate > 0 && done < of ? `, ${span((of - done) / rate)} left` : '';
    const filled = Math.round(share * WIDTH);
    const bar = live ? `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ` : '';
    const speed = done > 0 ? `, ${number(rate)}/s${left}` : '';
    const text = `${this.#name} ${bar}${done} of ${of}${speed}: ${label}`;
    this.#screen.err(live ? `${CLEAR_LINE}${text}` : `${text}\n`);
  }

  end(): void {
    if (this.#screen.live) this.#screen.err(CLEAR_LINE);
  }
}

function span(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}

/** Formats with at most four digits: `1,409`, `83.5`, `0.0417`. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(Math.abs(value) >= 100 ? 4 : 3)));
}
