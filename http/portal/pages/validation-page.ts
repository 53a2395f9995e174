/**
 * `/check` and `/check/{key}`: the validation record of a document, for holders of its key. The address is short and
 * in capitals, for the QR code on printed documents.
 *
 * Source: docs/portal-values.md §17, also for the limit.
 */

import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import type { Validation } from '../../../actors/portal/api.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { type ValidationPageResult, validationPage } from '../../../web/pages/portal/validation-view.tsx';
import { clientNetwork } from '../../core/access/addresses.ts';
import { createRateLimiter, type RateLimiter } from '../../core/access/rate-limit.ts';
import { page } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

/** Limit per client address, against guessing of keys. */
const LIMIT = { permits: 10, windowSeconds: 1 };

const FINDINGS: { readonly [code in PortalRefusalCode]?: Exclude<ValidationPageResult['found'], 'record'> } =
  {
    DocumentInvalidKey: 'unknown',
    DocumentNotFound: 'unknown',
    DocumentHasNoSignatures: 'unsigned',
    DocumentIsDeleted: 'deleted',
  };
const STATUSES: { readonly [found in ValidationPageResult['found']]: number } = {
  record: 200,
  empty: 200,
  unsigned: 200,
  unknown: 404,
  deleted: 404,
  busy: 429,
  broken: 503,
};

export function validationPageRoutes(
  validation: Pick<Validation, 'checked' | 'brandingByKey'>,
  clock: Pick<Clock, 'elapsed' | 'after'>,
): readonly AnyRoute[] {
  const limiter = createRateLimiter(LIMIT, clock);
  const answer = async (key: string, client: string, culture: string | undefined, acceptLanguage: string) => {
    const finding = key === '' ? ({ found: 'empty' } as const) : await find(validation, limiter, client, key);
    const words = textsFor(culture, acceptLanguage);
    const { found } = finding;
    const again: [string, string][] = found === 'busy' || found === 'broken' ? [['Retry-After', '1']] : [];
    return page(STATUSES[found], validationPage(finding, key, words), [
      ...pageHeaders('none', 'own'),
      ...again,
    ]);
  };
  return [
    portalRoute({
      method: 'GET',
      path: '/check',
      group: 'Pages',
      summary: 'A page for people: the form that takes a validation key.',
      description: 'Needs no key. The form leads to `/check/{key}`.',
      auth: 'anonymous',
      headers: ['accept-language'],
      query: plainQuery.extend({ key: z.string().optional() }),
      responses: { 200: 'page', 404: 'page', 429: 'page', ...ERROR_PAGE_CODES },
      refusals: [],
      failurePage: errorPage('none'),
      handle: ({ query, caller, header }) =>
        answer(query.key?.trim() ?? '', caller.address, query.culture, header('accept-language')),
    }),
    portalRoute({
      method: 'GET',
      path: '/check/{key}',
      group: 'Pages',
      summary: 'A page for people: the signatures and approvals of the document with this validation key.',
      description:
        'Needs no key: anybody who has the document has its validation key. Shows signers, approvers, findings and the SHA-256 of the files, not the files. An unknown key is answered with a page and 404.',
      auth: 'anonymous',
      headers: ['accept-language'],
      params: z.object({ key: z.string() }),
      query: plainQuery,
      responses: { 200: 'page', 404: 'page', 429: 'page', ...ERROR_PAGE_CODES },
      refusals: [],
      failurePage: errorPage('none'),
      handle: ({ params: { key }, query, caller, header }) =>
        answer(key.trim(), caller.address, query.culture, header('accept-language')),
    }),
  ];
}

async function find(
  validation: Pick<Validation, 'checked' | 'brandingByKey'>,
  limiter: RateLimiter,
  client: string,
  key: string,
): Promise<ValidationPageResult> {
  try {
    await limiter.acquire(clientNetwork(client));
  } catch {
    return { found: 'busy' };
  }
  // Maximum length of a key with all its dashes.
  if (key.length > 64) return { found: 'unknown' };
  try {
    const checked = await validation.checked(key);
    return { found: 'record', ...checked, branding: await validation.brandingByKey(key) };
  } catch (error) {
    const { code, retryable } = error as { readonly code?: string; readonly retryable?: boolean };
    const found = FINDINGS[code as PortalRefusalCode];
    if (found !== undefined) return { found };
    if (code === 'DocumentUnreadable' || retryable === true) return { found: 'broken' };
    throw error;
  }
}
