/**
 * `/check` and `/check/{key}`: what is known of a document's signatures, for people who hold its key. The address is
 * short and in capitals, for the QR code on printed documents.
 *
 * Source: portal-gaps §17, also for the limit.
 */
import { z } from 'zod';
import type { PortalValidation } from '../../../actors/portal/api.ts';
import type { PortalRefusalCode } from '../../../machines/portal-refusals.ts';
import type { Clock } from '../../../runtime/index.ts';
import { createRateLimiter, type RateLimiter } from '../../rate-limit.ts';
import { page } from '../../reply.ts';
import type { AnyRoute } from '../../router.ts';
import { portalRoute } from '../route.ts';
import { type CheckFinding, checkPage } from './check-view.ts';
import { FAILURES, failurePage } from './failure.ts';
import { wordsFor } from './language.ts';
import { pageHeaders } from './page-policy.ts';
import { plainQuery } from './wishes.ts';

/** Per client address; keys must not be found by trying. */
const LIMIT = { permits: 10, windowSeconds: 1 };

const FINDINGS: { readonly [code in PortalRefusalCode]?: Exclude<CheckFinding['found'], 'record'> } = {
  DocumentInvalidKey: 'unknown',
  DocumentNotFound: 'unknown',
  DocumentHasNoSignatures: 'unsigned',
  DocumentIsDeleted: 'deleted',
};
const STATUSES: { readonly [found in CheckFinding['found']]: number } = {
  record: 200,
  empty: 200,
  unsigned: 200,
  unknown: 404,
  deleted: 404,
  busy: 429,
  broken: 503,
};

export function checkRoutes(
  validation: Pick<PortalValidation, 'byKey'>,
  clock: Pick<Clock, 'elapsed' | 'after'>,
): readonly AnyRoute[] {
  const limiter = createRateLimiter(LIMIT, clock);
  const answer = async (key: string, client: string, culture: string | undefined, acceptLanguage: string) => {
    const finding = key === '' ? ({ found: 'empty' } as const) : await find(validation, limiter, client, key);
    const words = wordsFor(culture, acceptLanguage);
    const { found } = finding;
    const again: [string, string][] = found === 'busy' || found === 'broken' ? [['Retry-After', '1']] : [];
    return page(STATUSES[found], checkPage(finding, key, words), [...pageHeaders('nobody', 'own'), ...again]);
  };
  return [
    portalRoute({
      method: 'GET',
      path: '/check',
      summary: 'A page for people: type a validation key.',
      auth: 'anonymous',
      headers: ['accept-language'],
      query: plainQuery.extend({ key: z.string().optional() }),
      responses: { 200: 'page', 404: 'page', 429: 'page', ...FAILURES },
      refusals: [],
      failurePage: failurePage('nobody'),
      handle: ({ query, caller, header }) =>
        answer(query.key?.trim() ?? '', caller.address, query.culture, header('accept-language')),
    }),
    portalRoute({
      method: 'GET',
      path: '/check/{key}',
      summary: 'A page for people: the signatures of the document with this validation key.',
      auth: 'anonymous',
      headers: ['accept-language'],
      params: z.object({ key: z.string() }),
      query: plainQuery,
      responses: { 200: 'page', 404: 'page', 429: 'page', ...FAILURES },
      refusals: [],
      failurePage: failurePage('nobody'),
      handle: ({ params: { key }, query, caller, header }) =>
        answer(key.trim(), caller.address, query.culture, header('accept-language')),
    }),
  ];
}

async function find(
  validation: Pick<PortalValidation, 'byKey'>,
  limiter: RateLimiter,
  client: string,
  key: string,
): Promise<CheckFinding> {
  try {
    await limiter.take(client);
  } catch {
    return { found: 'busy' };
  }
  // No key is longer, with all its dashes.
  if (key.length > 64) return { found: 'unknown' };
  try {
    return { found: 'record', record: await validation.byKey(undefined, key) };
  } catch (error) {
    const { code, retryable } = error as { readonly code?: string; readonly retryable?: boolean };
    const found = FINDINGS[code as PortalRefusalCode];
    if (found !== undefined) return { found };
    if (code === 'DocumentUnreadable' || retryable === true) return { found: 'broken' };
    throw error;
  }
}
