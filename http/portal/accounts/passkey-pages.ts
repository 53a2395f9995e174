/**
 * `/account/second-factor/passkeys`: the passkeys of a user. `/sign-in/passkey`: sign-in by one, without a mailed link.
 *
 * Source: docs/identity.md.
 */
import { z } from 'zod';
import type { FactorOwner, SecondFactors, SignedInUser } from '../../../actors/portal/api.ts';
import { MAX_PASSKEY_ANSWER } from '../../../contracts/portal/users.ts';
import type { UserId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { OWN_PASSKEYS } from '../../../web/pages/portal/account-form.tsx';
import { newPasskeyPage, recoveryCodesPage } from '../../../web/pages/portal/accounts/second-factor-view.tsx';
import type { AnyRoute } from '../../core/router.ts';
import { accountGet, accountPost, accountReply, formText } from './account-route.ts';
import { doneReply } from './outcomes.ts';

/** The answer of an authenticator, as JSON. */
export const formCredential = z.string().max(MAX_PASSKEY_ANSWER).default('');

export function passkeyRoutes(factors: SecondFactors): readonly AnyRoute[] {
  const creationOf = async (user: SignedInUser) => {
    const creation = await factors.creation(ownerOf(user));
    // Browsers know no passkeys at this address.
    if (creation === undefined) throw new PortalRefusal('NotFound');
    return creation;
  };
  return [
    accountGet({
      path: OWN_PASSKEYS,
      summary: 'A page for users: add a passkey.',
      description: 'Not found where the public address is a number, or not encrypted.',
      auth: 'user',
      handle: async ({ page, user }) => accountReply(200, newPasskeyPage(page, user, await creationOf(user))),
    }),
    accountPost({
      path: OWN_PASSKEYS,
      summary: 'Adds a passkey; the first second factor shows the recovery codes once.',
      description:
        'At most ten. The challenge of the page is answered once, in this session, within ten minutes.',
      auth: 'user',
      body: z.object({ credential: formCredential, name: formText }),
      async handle({ page, user, body }) {
        const made = await factors.addPasskey(ownerOf(user), body, originOf(user));
        if (made === undefined)
          return accountReply(422, newPasskeyPage(page, user, await creationOf(user), true));
        if (made.recovery !== undefined)
          return accountReply(200, recoveryCodesPage(page, made.recovery, '/account'));
        return doneReply(page, '/account', 'passkeyAdded');
      },
    }),
    accountPost({
      path: `${OWN_PASSKEYS}/name`,
      summary: 'Renames a passkey.',
      auth: 'user',
      body: z.object({ passkey: formText, name: formText }),
      async handle({ page, user, body }) {
        await factors.renamePasskey(ownerOf(user), body.passkey, body.name);
        return doneReply(page, '/account', 'passkeyRenamed');
      },
    }),
    accountPost({
      path: `${OWN_PASSKEYS}/removal`,
      summary: 'Removes a passkey.',
      auth: 'user',
      body: z.object({ passkey: formText }),
      async handle({ page, user, body }) {
        await factors.removePasskey(ownerOf(user), body.passkey, originOf(user));
        return doneReply(page, '/account', 'passkeyRemoved');
      },
    }),
  ];
}

export function ownerOf(user: SignedInUser): FactorOwner {
  const { id, name } = user.tenant.organization;
  return {
    userId: user.id as UserId,
    sessionId: user.sessionId,
    email: user.email,
    organizationId: id,
    organization: name,
  };
}

export function originOf({ tenant }: SignedInUser) {
  return tenant.origin ?? { ipAddress: '', userAgent: '' };
}
