/** Counts and times the acts of an experience, and checks the facts that have to be true after them. */
import type { ExecutionContext } from 'ava';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { visit } from '../browser.ts';

/** Names an experience that users of this kind of software ask for, and does it. */
export interface Experience {
  readonly number: number;
  readonly title: string;
  /** Names the part of its whole text that is not done here, with what does it. */
  readonly leftOut?: string;
  run(stage: Stage): Promise<void>;
}

type Hook = Pick<ExecutionContext, 'teardown'>;

/** Length of one act that a person may watch. */
const ACT_MS = 120_000;

export class Stage implements Hook {
  acts = 0;
  readonly #ends: (() => unknown)[] = [];

  constructor(private readonly say: (line: string) => void) {}

  teardown(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Ends what the experience has opened; the first failure is thrown after all have ended. */
  async close(): Promise<void> {
    const faults: unknown[] = [];
    for (const end of this.#ends.reverse())
      try {
        await end();
      } catch (error) {
        faults.push(error);
      }
    if (faults.length > 0) throw faults[0];
  }

  /** One act of a person, such as a command, a press or a text that is typed. */
  async act<Result>(what: string, does: () => Promise<Result>): Promise<Result> {
    this.acts += 1;
    const began = performance.now();
    const late = AbortSignal.timeout(ACT_MS);
    const ended = new Promise<never>((_, reject) => {
      late.addEventListener('abort', () => reject(new Error(`"${what}" did not end in time.`)));
    });
    const result = await Promise.race([does(), ended]);
    this.say(`    ${what} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    return result;
  }

  /** @throws {Error} where a fact is not so */
  expect(isSo: boolean, what: string): void {
    if (!isSo) throw new Error(what);
  }

  /** A figure for the reader. */
  note(text: string): void {
    this.say(`    ${text}`);
  }

  async page(
    origin: string,
    options: BrowserContextOptions = {},
    others: readonly string[] = [],
  ): Promise<Page> {
    const leniency = { alsoAsks: others, refusedFrames: others.length > 0 };
    return (await visit(this, origin, { locale: 'en-US', ...options }, leniency)).page;
  }
}

/** Presses Tab until an element has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${selector}.`);
}
