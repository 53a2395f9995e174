/**
 * Asks for a proof of the person before keys, users and identity are changed. The page that asks carries the fields of
 * the form, also a typed secret, so that one submit proves the person and carries the change out; without it, a changed secret
 * would be lost unnoticed. The page is not stored.
 *
 * Source: docs/identity.md.
 */
import type { SecondFactors, SignedInUser } from '../../../actors/portal/api.ts';
import { MAX_PASSKEY_ANSWER } from '../../../contracts/portal/users.ts';
import { needsProof } from '../../../machines/portal/accounts/user-rights.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { OWN_FACTOR, OWN_PASSKEYS } from '../../../web/pages/portal/account-form.tsx';
import { addressFrom, FORM_TOKEN } from '../../../web/pages/portal/account-frame.ts';
import { secondStepPage, signInAgainPage } from '../../../web/pages/portal/accounts/second-factor-view.tsx';
import { redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requireFormToken } from '../access-check.ts';
import { accountPageOf, accountReply, filledPath } from './account-route.ts';
import { originOf, ownerOf } from './passkey-pages.ts';

/** The field that marks the answer to the page, and the beginning of the names of the fields that it carries. */
const ANSWERED = 'answered';
const SENT = 'sent-';
/** Beyond it nothing is carried. */
const MAX_FIELDS = 256;
/** A form, and the answer of an authenticator, both encoded. */
const MAX_BYTES = 16 * 1024 + 2 * MAX_PASSKEY_ANSWER;

/** Pages that make a new factor. They ask before they are shown, since their secrets are not carried. */
const MAKING = new Set([OWN_FACTOR, OWN_PASSKEYS]);

type Fields = Readonly<Record<string, string>>;
type Received = Parameters<AnyRoute['handle']>[0];

/** The routes, of which those that `needsProof` names, and pages that make a factor, ask first. */
export function withProof(
  routes: readonly AnyRoute[],
  factors: Pick<SecondFactors, 'request' | 'prove'>,
): readonly AnyRoute[] {
  return routes.map((route) => {
    const isPage = route.method === 'GET' && MAKING.has(route.path);
    if (!isPage && !needsProof(route.method, route.path)) return route;
    return { ...route, maxBodyBytes: MAX_BYTES, handle: (request) => proven(route, request, factors) };
  });
}

async function proven(route: AnyRoute, request: Received, factors: Pick<SecondFactors, 'request' | 'prove'>) {
  const user: SignedInUser | undefined = request.identity;
  if (user === undefined) throw new PortalRefusal('Unauthorized');
  const { formToken } = user;
  const given: Fields = request.body ?? {};
  const isForm = route.method === 'POST';
  if (isForm) requireFormToken(user, given[FORM_TOKEN] ?? '');
  const isAnswer = isForm && given[ANSWERED] !== undefined;
  const isMaking = MAKING.has(route.path);
  const action = filledPath(route.path, request.params);
  const page = accountPageOf('/account', request.query, request.header('accept-language'));
  const fields = isAnswer ? carriedBy(given) : given;
  const onward = () =>
    isAnswer && isMaking
      ? redirect(302, addressFrom(page, action))
      : route.handle({ ...request, body: isForm ? { ...fields, [FORM_TOKEN]: formToken } : request.body });
  const { owes } = user;
  if (owes === undefined || (owes === 'sign-in-first' && !route.path.startsWith(OWN_FACTOR))) return onward();
  if (owes !== 'factor') return accountReply(403, signInAgainPage(page));
  let trouble: 'wrong' | 'locked' | undefined;
  if (isAnswer) {
    const proof = { code: given['code'] ?? '', credential: given['credential'] ?? '' };
    const outcome = await factors.prove(ownerOf(user), proof, originOf(user));
    if (outcome.kind === 'done') return onward();
    trouble = outcome.kind;
  }
  const carried = isMaking ? [] : Object.entries(fields).filter(([name]) => name !== FORM_TOKEN);
  if (carried.length > MAX_FIELDS) throw new PortalRefusal('BadRequest');
  const asked = await factors.request(ownerOf(user));
  const sent = carried.map(([name, value]) => [`${SENT}${name}`, value] as const);
  const kept = [[ANSWERED, 'yes'] as const, ...sent];
  const html = secondStepPage(page, { formToken, action, trouble, request: asked, kept });
  return accountReply(trouble === undefined ? 403 : 422, html);
}

/** The fields of the form that the page asked for, by their own names. */
function carriedBy(given: Fields): Fields {
  const carried = Object.entries(given).filter(([name]) => name.startsWith(SENT));
  return Object.fromEntries(carried.map(([name, value]) => [name.slice(SENT.length), value]));
}
