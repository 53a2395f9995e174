/**
 * `/organization`: the Integration option (webhook, deliveries, test event), embedding origins, test mail.
 *
 * Source: docs/portal-values.md §0 ("Events" 1) and §19.
 */

import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import { callerName, type PortalService, type SignedInUser } from '../../../actors/portal/api.ts';
import { DELIVERY_STATUSES } from '../../../contracts/deliveries.ts';
import {
  EVENT_TYPES,
  WEBHOOK_AUTH_TYPES,
  type WebhookInput,
} from '../../../contracts/portal/webhooks/webhooks.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AccountNotice, AccountPage } from '../../../web/pages/portal/account-frame.ts';
import { organizationPage } from '../../../web/pages/portal/organization-view.tsx';
import { filled } from '../../../web/pages/portal/texts.ts';
import { createRateLimiter } from '../../core/access/rate-limit.ts';
import type { AnyRoute } from '../../core/router.ts';
import { webhookId } from '../input/ids.ts';
import { accountGet, accountPost, accountReply, formLines, formText } from './account-route.ts';
import { accountForm, doneNotice, doneReply, offsetOf, type SentForm } from './outcomes.ts';
import { type RetentionPages, retentionPageRoutes } from './retention-pages.ts';

const PATH = '/organization';
const LIMIT = 20;
const MAX_ORIGINS = 50;
const MAX_ORIGIN_LENGTH = 255;
/** Origin of an app that serves its pages under a scheme of its own, as in the settings. */
const APP_ORIGIN =
  /^(?!(?:about|blob|data|file|filesystem|ftp|https?|javascript|wss?):)[a-z][a-z0-9+.-]{0,40}:\/\/[\w.-]{1,200}(?::\d{1,5})?$/i;
/** Permitted test mails and test events of one user. */
const TESTS = { permits: 6, windowSeconds: 60 } as const;

/** Names of the boxes of types of events. */
const EVENT_BOXES = Object.fromEntries(EVENT_TYPES.map((type) => [`event${type}`, formText]));

const webhookParams = z.object({ webhookId: z.string() });
const deliveryParams = z.object({ deliveryId: z.string() });

export type OrganizationPages = Pick<PortalService, 'administration' | 'webhooks' | 'mails'> & RetentionPages;

export function organizationPageRoutes(
  services: OrganizationPages,
  clock: OrganizationRoutes['clock'],
): readonly AnyRoute[] {
  const pages: OrganizationRoutes = { ...services, clock, tests: createRateLimiter(TESTS, clock) };
  return [
    pageRoute(pages),
    addWebhookRoute(pages),
    changeWebhookRoute(pages),
    testWebhookRoute(pages),
    removeWebhookRoute(pages),
    resendRoute(pages),
    originsRoute(pages),
    testMailRoute(pages),
    ...retentionPageRoutes(services),
  ];
}

interface OrganizationRoutes extends OrganizationPages {
  readonly clock: Pick<Clock, 'elapsed' | 'after' | 'now'>;
  readonly tests: ReturnType<typeof createRateLimiter>;
}

/** Refusals: `TooManyRequests`. */
function countTest(tests: OrganizationRoutes['tests'], user: SignedInUser): void {
  try {
    void tests.acquire(user.id);
  } catch {
    throw new PortalRefusal('TooManyRequests');
  }
}

async function show(
  { administration, webhooks, clock }: OrganizationRoutes,
  page: AccountPage,
  user: SignedInUser,
  {
    query = {},
    notice,
  }: {
    readonly query?: { readonly [name: string]: unknown };
    readonly notice?: AccountNotice | undefined;
  },
) {
  const { tenant } = user;
  const status = DELIVERY_STATUSES.find((one) => one === query['status']);
  const place = { status, offset: offsetOf(query), limit: LIMIT };
  const data = {
    organization: await administration.organization(tenant.organization.id),
    webhooks: await webhooks.list(tenant),
    deliveries: await webhooks.deliveries(tenant, place),
    now: clock.now(),
  };
  return accountReply(200, organizationPage(page, user, { ...data, ...place, notice }));
}

function pageRoute(pages: OrganizationRoutes): AnyRoute {
  return accountGet({
    path: PATH,
    summary: 'A page for administrators: webhooks and their deliveries, embedding origins, test mail.',
    handle: ({ page, user, query }) => show(pages, page, user, { query, notice: doneNotice(page, query) }),
  });
}

function addWebhookRoute(pages: OrganizationRoutes): AnyRoute {
  const { webhooks } = pages;
  return accountForm({
    path: `${PATH}/webhooks`,
    summary: 'Registers a webhook.',
    description: 'The rules are those of `POST /api/organizations/{id}/webhooks`.',
    body: z.object({ url: formText, authType: formText, token: formText, secret: formText }),
    async act({ page, user, body }) {
      await webhooks.create(user.tenant, webhookInput(body));
      return doneReply(page, PATH, 'webhookAdded');
    },
    again: (notice, { page, user }) => show(pages, page, user, { notice }),
    sent: ({ page, body }) => sentWebhook(page, `${PATH}/webhooks`, body),
  });
}

function changeWebhookRoute(pages: OrganizationRoutes): AnyRoute {
  const { webhooks } = pages;
  return accountForm({
    path: `${PATH}/webhooks/{webhookId}`,
    summary: 'Changes a webhook, and enables it again.',
    description:
      'As `PUT /api/organizations/{id}/webhooks/{webhookId}`, but an empty token or secret keeps the registered one; the token is kept for the same origin only.',
    params: webhookParams,
    body: z.object({
      url: formText,
      authType: formText,
      token: formText,
      secret: formText,
      ...EVENT_BOXES,
    }),
    async act({ page, user, params, body }) {
      const fields: { readonly [name: string]: string } = body;
      const events = EVENT_TYPES.filter((type) => fields[`event${type}`] === 'yes');
      const input = { ...webhookInput(body), ...(events.length > 0 && { events }) };
      await webhooks.change(user.tenant, webhookId(params.webhookId), input);
      return doneReply(page, PATH, 'webhookChanged');
    },
    again: (notice, { page, user }) => show(pages, page, user, { notice }),
    sent: ({ page, params, body }) => sentWebhook(page, `${PATH}/webhooks/${params.webhookId}`, body),
  });
}

function testWebhookRoute(pages: OrganizationRoutes): AnyRoute {
  const { administration, webhooks, tests } = pages;
  return accountForm({
    path: `${PATH}/webhooks/{webhookId}/test`,
    summary: 'Sends a test event, and shows the response.',
    description: 'At most six tests in a minute.',
    params: webhookParams,
    body: z.object({}),
    async act({ page, user, params }) {
      countTest(tests, user);
      const id = webhookId(params.webhookId);
      const delivery = await webhooks.test(user.tenant, id);
      const attempt = delivery.attempts[0];
      const status = String(attempt?.status ?? '');
      const isDelivered = delivery.status === 'Delivered';
      const note = `Test event sent to webhook ${id}: ${delivery.status}.`;
      await administration.record(user.tenant.organization.id, note, callerName(user.tenant));
      const { testDone, testFailed } = page.texts.organization;
      const reason = attempt?.error ?? status;
      const text = isDelivered ? filled(testDone, { status }) : filled(testFailed, { reason });
      return show(pages, page, user, { notice: { kind: isDelivered ? 'good' : 'bad', text } });
    },
    again: (notice, { page, user }) => show(pages, page, user, { notice }),
  });
}

function removeWebhookRoute(pages: OrganizationRoutes): AnyRoute {
  const { webhooks } = pages;
  return accountForm({
    path: `${PATH}/webhooks/{webhookId}/removal`,
    summary: 'Removes a webhook.',
    description: 'It is not called any more.',
    params: webhookParams,
    body: z.object({}),
    async act({ page, user, params }) {
      await webhooks.remove(user.tenant, webhookId(params.webhookId));
      return doneReply(page, PATH, 'webhookRemoved');
    },
    again: (notice, { page, user }) => show(pages, page, user, { notice }),
  });
}

function resendRoute(pages: OrganizationRoutes): AnyRoute {
  const { administration, webhooks } = pages;
  return accountForm({
    path: `${PATH}/deliveries/{deliveryId}/resend`,
    summary: 'Sends a delivery again.',
    description: 'With the same id and body.',
    params: deliveryParams,
    body: z.object({}),
    async act({ page, user, params: { deliveryId } }) {
      await webhooks.resend(user.tenant, deliveryId);
      const note = `Delivery ${deliveryId} sent again.`;
      await administration.record(user.tenant.organization.id, note, callerName(user.tenant));
      return doneReply(page, PATH, 'resent');
    },
    again: (notice, { page, user }) => show(pages, page, user, { notice }),
  });
}

function originsRoute(pages: OrganizationRoutes): AnyRoute {
  const { administration } = pages;
  return accountPost({
    path: `${PATH}/origins`,
    summary: 'Sets the origins that may show the signing pages in a frame.',
    description: 'Without origins any page may show them.',
    body: z.object({ origins: formLines(MAX_ORIGINS * (MAX_ORIGIN_LENGTH + 1)) }),
    async handle({ page, user, body }) {
      const embedOrigins = originsIn(body.origins);
      if (embedOrigins === undefined) {
        const text = page.texts.errors.originsInvalid;
        const form = { action: `${PATH}/origins`, values: body, faults: { origins: text } };
        const notice = { kind: 'bad', text, form } as const;
        return { ...(await show(pages, page, user, { notice })), status: 422 };
      }
      const { tenant } = user;
      await administration.configure(tenant.organization.id, { embedOrigins }, callerName(tenant));
      return doneReply(page, PATH, 'originsSaved');
    },
  });
}

function testMailRoute(pages: OrganizationRoutes): AnyRoute {
  const { administration, mails, tests } = pages;
  return accountForm({
    path: `${PATH}/mail-test`,
    summary: 'Sends the user a test e-mail, and shows the reply of the mail server.',
    description: 'At most six tests in a minute.',
    body: z.object({}),
    async act({ page, user }) {
      countTest(tests, user);
      const { isAccepted, code, answer } = await mails.sendTest(user.tenant.organization.id, user);
      const note = `Test mail ${isAccepted ? 'accepted' : 'not accepted'} by the mail server.`;
      await administration.record(user.tenant.organization.id, note, callerName(user.tenant));
      const { mailSent, mailRefused } = page.texts.organization;
      const shown = code !== null && OURS.has(code) ? code : answer;
      const text = filled(isAccepted ? mailSent : mailRefused, { answer: shown });
      return show(pages, page, user, { notice: { kind: isAccepted ? 'good' : 'bad', text } });
    },
    again: (notice, { page, user }) => show(pages, page, user, { notice }),
  });
}

/** Failures of the server, not of a mailbox: their messages contain addresses and paths of the operator. */
const OURS: ReadonlySet<string> = new Set(['mail.unreachable', 'mail.timeout', 'mail.folder']);

function webhookInput(body: {
  readonly url: string;
  readonly authType: string;
  readonly token: string;
  readonly secret: string;
}): WebhookInput {
  const { url, token, secret } = body;
  return {
    url: url.trim(),
    authType: WEBHOOK_AUTH_TYPES.find((type) => type === body.authType) ?? 'NoAuth',
    ...(token !== '' && { token }),
    ...(secret !== '' && { secret: secret.trim() }),
  };
}

/** Without its token and secret, which no page shows again. */
function sentWebhook(
  { texts: { faults } }: AccountPage,
  action: string,
  { token: _, secret: __, ...values }: { token: string; secret: string },
): SentForm {
  return {
    action,
    values,
    faults: {
      Url: ['url', faults.url],
      WebhookUrlNotAllowed: ['url'],
      Token: ['token', faults.token],
      Secret: ['secret', faults.secret],
    },
  };
}

/** Origins, one in each line; undefined when one is none. */
function originsIn(text: string): readonly string[] | undefined {
  const given = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const isOrigin = (one: string) =>
    one.length <= MAX_ORIGIN_LENGTH &&
    (APP_ORIGIN.test(one) ||
      (/^https?:\/\/[\w.:[\]-]+$/i.test(one) &&
        URL.canParse(one) &&
        new URL(one).origin === one.toLowerCase()));
  return given.length <= MAX_ORIGINS && given.every(isOrigin) ? [...new Set(given)] : undefined;
}
