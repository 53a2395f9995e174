/** Runs the accessibility rules of axe-core inside a page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ExecutionContext } from 'ava';
import type { Frame, Page } from 'playwright-core';
import { casesOf } from '../project/rounds.ts';

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of axe-core whose result depends on colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Fails the test for every violated rule of WCAG 2.2 A and AA, and of good practice. */
export async function assertAccessible(t: ExecutionContext, page: Page | Frame, what: string): Promise<void> {
  await assertRules(t, page, what);
}

/** The same for the rules that depend on colours: call it in a further theme of a page that was checked in one. */
export async function assertColours(t: ExecutionContext, page: Page | Frame, what: string): Promise<void> {
  await assertRules(t, page, what, COLOUR_RULES);
}

async function assertRules(
  t: ExecutionContext,
  page: Page | Frame,
  what: string,
  rules?: readonly string[],
): Promise<void> {
  t.deepEqual(await violationsOf(page, rules), [], what);
}

/** Violated rules with the first places of each. @param rules @default all */
export async function violationsOf(
  page: Page | Frame,
  rules?: readonly string[],
): Promise<readonly string[]> {
  // Before its styles a page has other colours.
  await page.waitForLoadState('load');
  // Evaluated by the browser's debugger, which the Content-Security-Policy does not restrict.
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(SOURCE);
  // Files without a server answer no requests for their styles.
  const options = {
    resultTypes: ['violations'],
    preload: false,
    ...(rules !== undefined && { runOnly: rules }),
  };
  const violations = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as readonly Violation[];
  return violations.map(({ id, impact, nodes }) => {
    const places = nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`);
    return `${id} (${impact}): ${places.slice(0, 3).join(' | ')}`;
  });
}

/**
 * Checks a page in light colours; then the rules that depend on colours in dark ones and in those that a person has set for
 * high contrast; before a release also in both with more contrast.
 */
export async function assertAccessibleInThemes(t: ExecutionContext, page: Page, what: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await assertAccessible(t, page, `${what}, light`);
  for (const [theme, media] of casesOf(
    [
      ['dark', { colorScheme: 'dark' }],
      ['high contrast', { colorScheme: 'light', forcedColors: 'active' }],
    ] as const,
    [
      ['dark with more contrast', { colorScheme: 'dark', contrast: 'more', forcedColors: null }],
      ['light with more contrast', { colorScheme: 'light', contrast: 'more', forcedColors: null }],
    ] as const,
  )) {
    await page.emulateMedia(media);
    await assertColours(t, page, `${what}, ${theme}`);
  }
  await page.emulateMedia({ colorScheme: null, contrast: null, forcedColors: null });
}
