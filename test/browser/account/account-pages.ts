/** A portal whose administrator signs in, for browser tests of the account pages. */
import type { TestFn } from 'ava';
import type { FrameLocator, Page } from 'playwright-core';
import { type PortalProgram, startProgram } from '../../actors/portal/service.ts';
import { ADMINISTRATOR, mailedLink, register } from '../../http/portal/account/users.ts';
import { closeBrowser } from '../browser.ts';

const EMAIL = 'ana@example.org';

export const PHONE = {
  locale: 'en-US',
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  reducedMotion: 'reduce',
} as const;

export interface AccountPages {
  readonly program: PortalProgram;
}

/**
 * Starts one portal for all tests of a file, and ends it with the browser.
 * @param name of the administrator
 * @param prepare makes what all tests need
 */
export function shareAccountPages(
  test: TestFn<AccountPages>,
  name: string,
  prepare: (program: PortalProgram) => Promise<unknown> = () => Promise.resolve(),
): void {
  const ends: (() => unknown)[] = [];
  test.before(async (t) => {
    const program = await startProgram({ teardown: (end) => void ends.push(end) });
    await register(program, EMAIL, ADMINISTRATOR, name);
    await prepare(program);
    t.context = { program };
  });
  test.after.always(async () => {
    await closeBrowser();
    for (const end of ends.reverse()) await end();
  });
}

/** Signs the administrator in by the mailed link. */
export async function signIn(page: Page, program: PortalProgram): Promise<void> {
  await page.goto(await mailedLink(program, EMAIL));
  await page.locator('form button[type="submit"]').first().click();
  await page.locator('.account-main').waitFor();
}

/** Steps of the editor, in order. */
const STEPS = ['Files', 'People', 'Fields', 'Review'] as const;

/** Goes to a step of the editor. */
export async function goTo(page: Page | FrameLocator, step: (typeof STEPS)[number]): Promise<void> {
  await page.locator('.steps button').nth(STEPS.indexOf(step)).click();
  await page.locator(`.step:not([hidden]) #step-${step.toLowerCase()}`).waitFor();
}

/** Waits until the draft in the editor has what the page shows. */
export async function savedDraft(page: Page | FrameLocator): Promise<void> {
  await page.locator('#saved[data-state="saved"]').waitFor();
}
