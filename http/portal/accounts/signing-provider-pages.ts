/** `/organization/signing-providers`: remote signing services of the organization. Source: docs/decisions/0405-keys-behind-the-network.md. */
import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import { type PortalService, parsedInput, type SignedInUser } from '../../../actors/portal/api.ts';
import { createProvider } from '../../../contracts/portal/signing-providers.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AccountNotice, AccountPage } from '../../../web/pages/portal/account-frame.ts';
import { signingProvidersPage } from '../../../web/pages/portal/accounts/signing-providers-view.tsx';
import { filled } from '../../../web/pages/portal/texts.ts';
import { createRateLimiter } from '../../core/access/rate-limit.ts';
import type { AnyRoute } from '../../core/router.ts';
import { accountGet, accountReply, formText } from './account-route.ts';
import { accountForm, doneNotice, doneReply, type SentForm } from './outcomes.ts';

const PATH = '/organization/signing-providers';
/** Permitted tests of one user. */
const TESTS = { permits: 6, windowSeconds: 60 } as const;

const params = z.object({ providerId: z.string().max(64) });
const form = z.object({
  title: formText,
  address: formText,
  authorization: formText,
  clientId: formText,
  clientSecret: formText,
});

type Providers = PortalService['signingProviders'];

export function signingProviderPageRoutes(
  providers: Providers,
  clock: Pick<Clock, 'elapsed' | 'after'>,
): readonly AnyRoute[] {
  return [
    pageRoute(providers),
    addRoute(providers),
    changeRoute(providers),
    testRoute(providers, clock),
    removeRoute(providers),
  ];
}

async function show(
  providers: Providers,
  page: AccountPage,
  user: SignedInUser,
  notice: AccountNotice | undefined,
) {
  return accountReply(200, signingProvidersPage(page, user, await providers.list(user.tenant), notice));
}

function pageRoute(providers: Providers): AnyRoute {
  return accountGet({
    path: PATH,
    summary: 'A page for administrators: the signing providers of the organization.',
    handle: ({ page, user, query }) => show(providers, page, user, doneNotice(page, query)),
  });
}

function addRoute(providers: Providers): AnyRoute {
  return accountForm({
    path: PATH,
    summary: 'Adds a signing provider.',
    description: 'The rules are those of `POST /api/organizations/{id}/signing-providers`.',
    body: form,
    async act({ page, user, body }) {
      await providers.create(user.tenant, inputOf(body));
      return doneReply(page, PATH, 'providerSaved');
    },
    again: (notice, { page, user }) => show(providers, page, user, notice),
    sent: ({ page, body }) => sentForm(page, PATH, body),
  });
}

function changeRoute(providers: Providers): AnyRoute {
  return accountForm({
    path: `${PATH}/{providerId}`,
    summary: 'Changes a signing provider.',
    description:
      'As `PUT /api/organizations/{id}/signing-providers/{providerId}`; an empty secret keeps the stored one.',
    params,
    body: form,
    async act({ page, user, params: { providerId }, body }) {
      await providers.replace(user.tenant, providerId, inputOf(body));
      return doneReply(page, PATH, 'providerSaved');
    },
    again: (notice, { page, user }) => show(providers, page, user, notice),
    sent: ({ page, params: { providerId }, body }) => sentForm(page, `${PATH}/${providerId}`, body),
  });
}

function testRoute(providers: Providers, clock: Pick<Clock, 'elapsed' | 'after'>): AnyRoute {
  const tests = createRateLimiter(TESTS, clock);
  return accountForm({
    path: `${PATH}/{providerId}/test`,
    summary: 'Asks a signing provider whether it knows the client, and shows the answer.',
    description: 'At most six tests in a minute.',
    params,
    body: z.object({}),
    async act({ page, user, params: { providerId } }) {
      try {
        void tests.acquire(user.id);
      } catch {
        throw new PortalRefusal('TooManyRequests');
      }
      const reason = await providers.test(user.tenant, providerId);
      const { testDone, testFailed } = page.texts.providers;
      const text = reason === null ? testDone : filled(testFailed, { reason });
      return show(providers, page, user, { kind: reason === null ? 'good' : 'bad', text });
    },
    again: (notice, { page, user }) => show(providers, page, user, notice),
  });
}

function removeRoute(providers: Providers): AnyRoute {
  return accountForm({
    path: `${PATH}/{providerId}/removal`,
    summary: 'Removes a signing provider.',
    description: 'Nobody signs there any more.',
    params,
    body: z.object({}),
    async act({ page, user, params: { providerId } }) {
      await providers.remove(user.tenant, providerId);
      return doneReply(page, PATH, 'providerRemoved');
    },
    again: (notice, { page, user }) => show(providers, page, user, notice),
  });
}

/** The bounds are those of the API. Refusals: `BadRequest`. */
function inputOf(body: z.infer<typeof form>) {
  const { authorization, clientSecret, ...rest } = body;
  return parsedInput(createProvider.body, {
    ...rest,
    authorization: authorization.trim() || null,
    clientSecret: clientSecret.trim() || null,
  });
}

/** Without its secret, which no page shows again. */
function sentForm(
  { texts: { providers } }: AccountPage,
  action: string,
  { clientSecret: _, ...values }: z.infer<typeof form>,
): SentForm {
  return {
    action,
    values,
    faults: {
      Title: ['title', providers.titleFault],
      Address: ['address', providers.addressFault],
      Authorization: ['authorization', providers.authorizationFault],
      ClientId: ['clientId', providers.clientFault],
      ClientSecret: ['clientSecret', providers.secretFault],
    },
  };
}
