/** A portal whose administrator signs in, for browser tests of the account pages. */
import type { ExecutionContext, TestFn } from 'ava';
import type { Cookie, FrameLocator, Page } from 'playwright-core';
import { type PortalProgram, startProgram } from '../../actors/portal/service.ts';
import { ADMINISTRATOR, mailedLink, register, SENDER } from '../../http/portal/accounts/users.ts';
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
 * Starts one portal for all tests of a file, whose administrator signs in, and ends it with the browser.
 * @param name of the administrator
 * @param prepare makes what all tests need
 */
export function shareAccountPages(
  test: TestFn<AccountPages>,
  name: string,
  prepare: (program: PortalProgram) => Promise<unknown> = () => Promise.resolve(),
): void {
  sharePortal(test, async ({ teardown }) => {
    const program = await startProgram({ teardown });
    await register(program, EMAIL, ADMINISTRATOR, name);
    await prepare(program);
    return program;
  });
}

/** Starts one portal for all tests of a file, and ends it with the browser. */
export function sharePortal(
  test: TestFn<AccountPages>,
  start: (t: Pick<ExecutionContext, 'teardown'>) => Promise<PortalProgram> = (t) => startProgram(t),
): void {
  const ends: (() => unknown)[] = [];
  test.before(async (t) => {
    t.context = { program: await start({ teardown: (end) => void ends.push(end) }) };
  });
  test.after.always(async () => {
    await closeBrowser();
    for (const end of ends.reverse()) await end();
  });
}

/** Names of organizations that tests have made. */
let organizations = 0;

/**
 * Makes an organization with one user, which has nothing of other tests.
 * @returns the portal with the application of this organization as `acme`
 */
export async function ownOrganization(
  { program }: AccountPages,
  email: string,
  profile: object = SENDER,
  name = 'Sam Sender',
): Promise<PortalProgram> {
  organizations += 1;
  const acme = await program.organization(`Acme ${organizations}`);
  await register({ acme }, email, profile, name);
  return { ...program, acme };
}

/** Sessions of administrators: an address may request ten links a minute. */
const sessions = new Map<string, readonly Cookie[]>();

/** Signs the administrator in: by the mailed link at first, and by the cookie of that session later. */
export async function signIn(page: Page, program: PortalProgram): Promise<void> {
  const session = sessions.get(program.url);
  if (session !== undefined) return page.context().addCookies(session);
  await page.goto(await mailedLink(program, EMAIL));
  await page.locator('form button[type="submit"]').first().click();
  await page.locator('.account-main').waitFor();
  sessions.set(program.url, await page.context().cookies());
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
