/**
 * `/account/second-step`: the second factor after a mailed link. `/account/second-factor`: its management by the user, and
 * its reset by administrators.
 *
 * Source: docs/identity.md.
 */
import { z } from 'zod';
import {
  type Administration,
  callerName,
  type FactorOutcome,
  type PendingSignIn,
  type SecondFactors,
  type SignedInUser,
  type UserSignIn,
} from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type AccountPage, addressFrom, FORM_TOKEN } from '../../../web/pages/portal/account-frame.ts';
import {
  enrolmentPage,
  recoveryCodesPage,
  secondStepPage,
  signInAgainPage,
} from '../../../web/pages/portal/accounts/second-factor-view.tsx';
import { clearedCookie, readCookie, sessionCookie } from '../../core/access/session-cookies.ts';
import { redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import {
  AFTER_SIGN_IN,
  requestOriginOf,
  requireFormToken,
  SECOND_STEP_PATH,
  SIGN_IN_PATH,
  userCookie,
} from '../access-check.ts';
import { ERROR_PAGE_CODES } from '../pages/error-page.ts';
import { plainQuery } from '../pages/page-options.ts';
import { portalRoute } from '../route.ts';
import {
  accountFailurePage,
  accountGet,
  accountPageOf,
  accountPost,
  accountReply,
  formText,
} from './account-route.ts';
import { doneReply } from './outcomes.ts';
import { formCredential, originOf, ownerOf, passkeyRoutes } from './passkey-pages.ts';
import { requireOwnOrigin } from './sign-in-pages.ts';

const COMMON = { group: 'Pages', auth: 'anonymous', refusals: [], failurePage: accountFailurePage } as const;
const PAGES = { 200: 'page', 302: 'empty', 422: 'page', 403: 'page', ...ERROR_PAGE_CODES } as const;
const PATH = '/account/second-factor';

type Trouble = 'wrong' | 'locked' | undefined;

export function secondFactorRoutes(pages: SecondFactorPages): readonly AnyRoute[] {
  return [
    secondStepRoute(pages),
    passSecondStepRoute(pages),
    enrolmentRoute(pages),
    enrolRoute(pages),
    removalRoute(pages),
    recoveryCodesRoute(pages),
    resetRoute(pages),
    requirementRoute(pages),
    ...passkeyRoutes(pages.factors),
  ];
}

interface SecondFactorPages {
  readonly factors: SecondFactors;
  readonly administration: Pick<Administration, 'configure'>;
  readonly signIn: Pick<UserSignIn, 'end'>;
}

/** @param tried the sealed secret of an attempt that failed */
async function newFactorPage(
  factors: SecondFactors,
  page: AccountPage,
  waiting: PendingSignIn,
  tried?: string,
) {
  return enrolmentPage(page, {
    formToken: waiting.formToken,
    action: SECOND_STEP_PATH,
    isRequired: true,
    ...(tried !== undefined && { trouble: 'wrong' as const }),
    enrolment: factors.enrolment(waiting, tried),
    creation: await factors.creation(waiting),
  });
}

/** Undefined after a right code. */
function refused(page: AccountPage, user: SignedInUser, { kind }: FactorOutcome<unknown>, action: string) {
  if (kind === 'done') return undefined;
  return accountReply(422, secondStepPage(page, { formToken: user.formToken, action, trouble: kind }));
}

function secondStepRoute({ factors }: SecondFactorPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: SECOND_STEP_PATH,
    summary: 'A page for users: the second factor, or setting it up, after a mailed link.',
    description: 'Needs the session that the link began. Nothing else is permitted to it.',
    headers: ['accept-language', 'cookie'],
    query: plainQuery,
    responses: PAGES,
    async handle({ query, header, caller }) {
      const shown = accountPageOf(SECOND_STEP_PATH, query, header('accept-language'));
      const waiting = await factors.pending(readCookie(header('cookie'), userCookie(caller.https)));
      if (waiting === undefined) return redirect(302, addressFrom(shown, SIGN_IN_PATH));
      if (waiting.hasFactor) return accountReply(200, secondStepPage(shown, waiting));
      return waiting.isProven
        ? accountReply(200, await newFactorPage(factors, shown, waiting))
        : accountReply(403, signInAgainPage(shown, waiting));
    },
  });
}

function passSecondStepRoute({ factors, signIn }: SecondFactorPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: SECOND_STEP_PATH,
    summary: 'Takes the second factor, or sets it up, and starts the session.',
    description:
      'A code works once. After five wrong ones, codes of the app are refused for one minute, then longer, up to an hour; recovery codes work. `leave` signs out. The form needs the token of the session.',
    bodyPolicy: 'form',
    headers: ['accept-language', 'origin', 'sec-fetch-site', 'cookie', 'user-agent'],
    query: plainQuery,
    body: z.object({
      [FORM_TOKEN]: formText,
      code: formText,
      sealed: formText,
      credential: formCredential,
      name: formText,
      leave: formText,
    }),
    responses: PAGES,
    async handle(request) {
      const { query, body, caller, header } = request;
      requireOwnOrigin(header, caller);
      const shown = accountPageOf(SECOND_STEP_PATH, query, header('accept-language'));
      const cookie = readCookie(header('cookie'), userCookie(caller.https));
      const waiting = await factors.pending(cookie);
      if (waiting === undefined) return redirect(302, addressFrom(shown, SIGN_IN_PATH));
      const { formToken, hasFactor } = waiting;
      requireFormToken(waiting, String(body[FORM_TOKEN]));
      const { code, sealed, credential, name, leave } = body;
      if (leave !== '') {
        await signIn.end(cookie);
        return redirect(302, addressFrom(shown, SIGN_IN_PATH), [
          ['Set-Cookie', clearedCookie(userCookie(caller.https), caller.https)],
        ]);
      }
      const begin = (token: string) =>
        [['Set-Cookie', sessionCookie(userCookie(caller.https), token, caller.https)]] as const;
      if (hasFactor) {
        const outcome = await factors.pass(waiting, { code, credential }, requestOriginOf(request), cookie);
        if (outcome.kind === 'done')
          return redirect(302, addressFrom(shown, AFTER_SIGN_IN), begin(outcome.result));
        const { request: asked } = waiting;
        return accountReply(422, secondStepPage(shown, { formToken, trouble: outcome.kind, request: asked }));
      }
      if (!waiting.isProven) return accountReply(403, signInAgainPage(shown, waiting));
      const made = await (credential === ''
        ? factors.enrol(waiting, { sealed, code }, requestOriginOf(request), cookie)
        : factors.addPasskey(waiting, { credential, name }, requestOriginOf(request), cookie));
      if (made?.token === undefined)
        return accountReply(422, await newFactorPage(factors, shown, waiting, sealed));
      const reply = accountReply(200, recoveryCodesPage(shown, made.recovery ?? [], AFTER_SIGN_IN));
      return { ...reply, headers: [...(reply.headers ?? []), ...begin(made.token)] };
    },
  });
}

function enrolmentRoute({ factors }: SecondFactorPages): AnyRoute {
  return accountGet({
    path: PATH,
    summary: 'A page for users: set up an authenticator app.',
    description: 'Leads to the account if there is one.',
    auth: 'user',
    async handle({ page, user }) {
      if ((await factors.state(user.id))?.hasApp === true)
        return redirect(302, addressFrom(page, '/account'));
      const { formToken } = user;
      return accountReply(
        200,
        enrolmentPage(page, { formToken, action: PATH, enrolment: factors.enrolment(ownerOf(user)) }),
      );
    },
  });
}

function enrolRoute({ factors }: SecondFactorPages): AnyRoute {
  return accountPost({
    path: PATH,
    summary: 'Sets up the app; the first second factor shows the recovery codes once.',
    auth: 'user',
    body: z.object({ sealed: formText, code: formText }),
    async handle({ page, user, body }) {
      const owner = ownerOf(user);
      const made = await factors.enrol(owner, body, originOf(user));
      if (made?.recovery !== undefined)
        return accountReply(200, recoveryCodesPage(page, made.recovery, '/account'));
      if (made !== undefined) return doneReply(page, '/account', 'factorSet');
      const { formToken } = user;
      return accountReply(
        422,
        enrolmentPage(page, {
          formToken,
          action: PATH,
          trouble: 'wrong' as Trouble,
          enrolment: factors.enrolment(owner, body.sealed),
        }),
      );
    },
  });
}

function removalRoute({ factors }: SecondFactorPages): AnyRoute {
  return accountPost({
    path: `${PATH}/removal`,
    summary: 'Removes the app; needs a code.',
    auth: 'user',
    body: z.object({ code: formText }),
    async handle({ page, user, body }) {
      const outcome = await factors.remove(ownerOf(user), body.code, originOf(user));
      return refused(page, user, outcome, `${PATH}/removal`) ?? doneReply(page, '/account', 'factorRemoved');
    },
  });
}

function recoveryCodesRoute({ factors }: SecondFactorPages): AnyRoute {
  return accountPost({
    path: `${PATH}/recovery-codes`,
    summary: 'Replaces the recovery codes, and shows them once; needs a code.',
    auth: 'user',
    body: z.object({ code: formText }),
    async handle({ page, user, body }) {
      const outcome = await factors.renew(ownerOf(user), body.code, originOf(user));
      if (outcome.kind === 'done')
        return accountReply(200, recoveryCodesPage(page, outcome.result, '/account'));
      return accountReply(
        422,
        secondStepPage(page, {
          formToken: user.formToken,
          action: `${PATH}/recovery-codes`,
          trouble: outcome.kind,
        }),
      );
    },
  });
}

function resetRoute({ factors }: SecondFactorPages): AnyRoute {
  return accountPost({
    path: '/organization/users/{userId}/second-factor',
    summary: 'Removes the second factor of a user who has lost it.',
    description: 'Not of a person who belongs to other organizations, too, and not the own one.',
    params: z.object({ userId: z.string() }),
    body: z.object({}),
    async handle({ page, user, params }) {
      if (params.userId === user.id) throw new PortalRefusal('Forbidden');
      await factors.reset(user.tenant, params.userId);
      return doneReply(page, `/organization/users/${encodeURIComponent(params.userId)}`, 'factorReset');
    },
  });
}

function requirementRoute({ administration }: SecondFactorPages): AnyRoute {
  return accountPost({
    path: '/organization/second-factor',
    summary: 'Sets whether users need a second factor after a mailed link.',
    description: 'Who has none sets it up at the next request. Keys are not affected.',
    body: z.object({ required: formText }),
    async handle({ page, user, body }) {
      const { tenant } = user;
      const settings = { requireSecondFactor: body.required === 'yes' };
      await administration.configure(tenant.organization.id, settings, callerName(tenant));
      return doneReply(page, '/organization/users', 'factorSaved');
    },
  });
}
