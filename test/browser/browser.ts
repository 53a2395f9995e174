/** Drives a browser of Debian in tests, chromium or its shell without windows, and checks what pages must never do. */
import { setTimeout } from 'node:timers/promises';
import type { ExecutionContext, TestFn } from 'ava';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Route,
} from 'playwright-core';
import { Service, type ServiceOptions, temporaryRoot } from '../service/service.ts';
import { CHROMIUM, pathOf } from '../verifiers/tool.ts';

/** Timeout for an element that a test awaits, milliseconds. */
const TIMEOUT_MS = 60_000;

/**
 * Delay of scripts and of their requests, milliseconds: `SEALWRIGHT_BROWSER_DELAY_MS=500` shows tests that act before a page
 * listens or has its data.
 */
const DELAY_MS = Number(process.env['SEALWRIGHT_BROWSER_DELAY_MS'] ?? 0);

/** Factor by which scripts and layout run slower: `SEALWRIGHT_BROWSER_SLOWER=6` shows tests that read before a page has drawn. */
const SLOWER = Number(process.env['SEALWRIGHT_BROWSER_SLOWER'] ?? 1);

/** A person looks: the browser has a window, and is slow. */
const IS_WATCHED =
  process.env['SEALWRIGHT_WATCH'] === '1' &&
  (process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY']) !== undefined;

let browser: Promise<Browser> | undefined;

/** One browser for all tests of a file; call it in `test.after.always`. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
}

/** A page in a browser context of its own, and every request that it sent. */
export interface OpenedPage {
  readonly page: Page;
  /** Requests so far, as `GET http://…`. */
  readonly requests: readonly string[];
}

/** Exceptions that a test permits. */
export interface Leniency {
  /** Other origins that are part of the test. */
  readonly alsoAsks?: readonly string[];
  /** The browser refuses a frame and logs an error. @default false */
  readonly refusedFrames?: boolean;
  /** The service is started again on another port: pages ask every one of this machine. @default false */
  readonly movesOn?: boolean;
}

/**
 * Opens a page that may connect only to `origin`. At the end the test fails if the page requested anything else,
 * violated its Content-Security-Policy, logged an error, or threw. Third-party cookies are blocked.
 */
export async function visit(
  t: Pick<ExecutionContext, 'teardown'>,
  origin: string,
  options: BrowserContextOptions = {},
  { alsoAsks = [], refusedFrames = false, movesOn = false }: Leniency = {},
): Promise<OpenedPage> {
  browser ??= chromium.launch({
    executablePath: CHROMIUM.map(pathOf).find((path) => path !== undefined) ?? 'chromium',
    ...(IS_WATCHED && { executablePath: pathOf('chromium') ?? 'chromium', headless: false, slowMo: 400 }),
    args: ['--no-sandbox', '--disable-gpu', '--test-third-party-cookie-phaseout'],
  });
  const known = [origin, ...alsoAsks];
  const context = await (await browser).newContext(options);
  context.setDefaultTimeout(TIMEOUT_MS);
  if (DELAY_MS > 0) await context.route(() => true, delayed);
  const page = await context.newPage();
  if (SLOWER > 1) {
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  }
  const requests: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => {
    requests.push(`${request.method()} ${request.url()}`);
    const { origin: asked, protocol } = new URL(request.url());
    // Object URLs that a page created itself are no requests.
    const isOwn = protocol === 'data:' || protocol === 'blob:';
    const isMoved = movesOn && new URL(origin).hostname === new URL(request.url()).hostname;
    if (!isOwn && !isMoved && !known.includes(asked)) faults.push(`asked ${request.url()}`);
  });
  page.on('pageerror', (error) => faults.push(`threw ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    const isRefusedFrame = refusedFrames && text.includes('frame-ancestors');
    // A refusal that a test expects is logged as a failed resource.
    const isFault = message.type() === 'error' && !text.startsWith('Failed to load resource');
    if ((isFault || /Content Security Policy/i.test(text)) && !isRefusedFrame) faults.push(`said ${text}`);
  });
  t.teardown(async () => {
    await context.close();
    if (faults.length > 0) throw new Error(`The page ${faults.join('; ')}`);
  });
  return { page, requests };
}

async function delayed(route: Route): Promise<void> {
  const isLate = ['script', 'fetch', 'xhr'].includes(route.request().resourceType());
  if (isLate) await setTimeout(DELAY_MS);
  // The page that asked may be gone.
  await route.continue().catch(() => {});
}

/** Logs in as a person does, from the requested page. */
export async function logIn(page: Page, url: string, key: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  // The scripts of the page run before this event; a key pressed earlier would reach none of them.
  await page.waitForLoadState('load');
}

/** Context of the tests of a file that share a service. */
export interface SharedService {
  readonly service: Service;
}

/**
 * Starts one service for all tests of a file, whose pages refresh every second, and ends it with the browser.
 * @param settings beyond those
 * @param prepare makes what all tests need
 */
export function shareService(
  test: TestFn<SharedService>,
  settings: ServiceOptions['settings'] = {},
  prepare: (service: Service) => Promise<unknown> = () => Promise.resolve(),
): void {
  const ends: (() => unknown)[] = [];
  test.before(async (t) => {
    const hook = { teardown: (end: () => unknown) => void ends.push(end) };
    const service = await Service.start(hook, {
      root: await temporaryRoot(hook),
      settings: { 'Dashboard:PollIntervalSeconds': 1, ...settings },
    });
    await prepare(service);
    t.context = { service };
  });
  test.after.always(async () => {
    await closeBrowser();
    for (const end of ends.reverse()) await end();
  });
}

/** Text of the page's messages about an action. */
export function toast(page: Page, code: string): Locator {
  return page.locator(`.toast[data-code="${code}"]`);
}

/** Shows the navigation of the pages of users, which narrow screens fold. */
export async function openMenu(page: Page): Promise<void> {
  await page.locator('.account-main').waitFor();
  const menu = page.locator('.account .menu:not([open]) summary');
  if (await menu.isVisible()) await menu.press('Enter');
}

/** Most places of the documents of tests. */
const MAX_PLACES = 9;

/** Opens the dialog in which a participant signs or approves, and waits until they may: a page of the document is drawn. */
export async function openSigning(page: Pick<Page, 'locator'>): Promise<void> {
  await openUnread(page);
  await page.locator('#unread:not([hidden])').waitFor({ state: 'detached' });
}

/** The same while the document may be unread: the one button leads there past all places on the pages. */
export async function openUnread(page: Pick<Page, 'locator'>): Promise<void> {
  const next = page.locator('#guide-next:enabled');
  await next.waitFor();
  const dialog = page.locator('#signing[open]');
  for (let press = 0; press < MAX_PLACES && !(await dialog.isVisible()); press += 1)
    await next.press('Enter');
  await dialog.waitFor();
}

/** Opens the menu of the signing page: pages, zoom, print, download, languages. */
export async function openTools(page: Page): Promise<void> {
  await page.locator('#more:not([open]) > summary').press('Enter');
}

/** Evaluates to the controls that no scrolling down brings into view, that are too small, or whose texts are cut off. */
export const OUT_OF_REACH = `(async () => {
  // Before its styles and fonts a page has other sizes.
  if (document.readyState !== 'complete') await new Promise((resolve) => addEventListener('load', resolve));
  await document.fonts.ready;
  const width = document.documentElement.clientWidth;
  const scrolls = (element) => element.closest('.scroll, .pages, pre') !== null;
  const wide = [...document.querySelectorAll('body *')].filter((element) => {
    const { left, right, width: own, height } = element.getBoundingClientRect();
    return own > 1 && height > 1 && (right > width + 1 || left < -1) && !scrolls(element) && !element.matches('.skip');
  });
  const small = [...document.querySelectorAll('button, .button')].filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && Math.min(width, height) < 24 && !element.matches('.placed');
  });
  const cut = [...document.querySelectorAll('button, .button, summary, legend, label')].filter(
    (element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1 && !element.matches('.placed'),
  );
  return [...wide, ...small, ...cut].map((element) => element.outerHTML.slice(0, 120));
})()`;
