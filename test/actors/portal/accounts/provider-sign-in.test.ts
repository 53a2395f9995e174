/** Addresses with which people of identity providers become users. Source: docs/decisions/0276-single-sign-on.md. */
import { systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import {
  type PersonAtProvider,
  type PortalProvider,
  ProviderSignIn,
} from '../../../../actors/portal/accounts/provider-sign-in.ts';
import { UserSignIn } from '../../../../actors/portal/accounts/sign-in.ts';
import { PORTAL_USER, UserDirectory } from '../../../../actors/portal/accounts/users.ts';
import { BRANDING } from '../../../../actors/portal/branding/branding.ts';
import { MAIL } from '../../../../actors/portal/mails/mails.ts';
import { SigningLinks } from '../../../../actors/portal/mails/signing-links.ts';
import type { UserId } from '../../../../machines/ids.ts';
import { handlersByName } from '../../../runtime/any-effect.ts';
import { portalStoreFixture, SILENT } from '../uploads/upload-harness.ts';

const COMPANY: PortalProvider = {
  name: 'company',
  organization: 'Acme',
  createUsers: true,
  domains: ['example.com'],
  roles: [{ group: '*', role: 'Sender' }],
};
/** It speaks for no domain in particular. */
const PARTNER: PortalProvider = { ...COMPANY, name: 'partner', domains: [] };
const EMAIL = 'ana@example.com';

async function fixture(t: ExecutionContext) {
  const place = await portalStoreFixture(t, {
    definitions: [PORTAL_USER, BRANDING, MAIL],
    // No mail is sent.
    handlers: handlersByName([MAIL], {}, { after: 'durable', run: () => new Promise(() => {}) }),
  });
  const { runtime, store, clock, tickets, administration } = place;
  const parts = { actors: runtime, store, clock, ids: systemIds, log: SILENT };
  const links = new SigningLinks(tickets, clock, () => 'http://localhost');
  const users = new UserDirectory(parts, place.lists);
  const signIn = new UserSignIn(parts, links, 3_600_000, { of: () => Promise.resolve(undefined) });
  const given = { administration, users, signIn, links, sessionLifetime: 3_600_000 };
  const { id: organization } = await administration.createOrganization({ name: 'Acme' });
  const providerSignIn = new ProviderSignIn(parts, given);
  let count = 0;
  return {
    organization,
    users,
    actors: runtime,
    clock,
    links,
    providerSignIn,
    /** Outcome of a sign-in; without a subject, of a new person. */
    async outcomeOf(provider: PortalProvider, person: Partial<PersonAtProvider>): Promise<string> {
      count += 1;
      const subject = `s${count}`;
      const outcome = await providerSignIn.signIn(provider, {
        issuer: 'https://idp.example',
        subject,
        groups: [],
        ...person,
      });
      return outcome.kind === 'refused' ? outcome.why : outcome.kind;
    },
  };
}

test('an address makes a user where the provider has verified it, or speaks for its domain', async (t) => {
  const { outcomeOf } = await fixture(t);
  let people = 0;
  for (const [provider, emailVerified, domain, outcome] of [
    [COMPANY, true, 'example.com', 'session'],
    [COMPANY, undefined, 'example.com', 'session'],
    [COMPANY, false, 'example.com', 'address'],
    [COMPANY, true, 'elsewhere.example', 'address'],
    [COMPANY, true, 'below.example.com', 'address'],
    [COMPANY, true, 'example.com.elsewhere.example', 'address'],
    [PARTNER, true, 'example.com', 'session'],
    [PARTNER, undefined, 'example.com', 'address'],
    [PARTNER, false, 'example.com', 'address'],
  ] as const) {
    people += 1;
    const email = `person${people}@${domain}`;
    const name = `${provider.name}: ${email}, ${emailVerified}`;
    t.is(await outcomeOf(provider, { email, emailVerified }), outcome, name);
  }
  t.is(await outcomeOf(COMPANY, { emailVerified: true }), 'address', 'no address');
});

test('an unverified address of a user mails no link, and opens no account that has the identity', async (t) => {
  const { organization, users, outcomeOf } = await fixture(t);
  const access = { administrator: true, manager: false, operator: false };
  await users.add(organization, { name: 'Ana', identifier: null, email: EMAIL, phone: null }, access);
  for (const [provider, emailVerified, outcome] of [
    [COMPANY, false, 'address'],
    [PARTNER, false, 'address'],
    [PARTNER, undefined, 'address'],
    [COMPANY, true, 'confirm'],
    [PARTNER, true, 'confirm'],
  ] as const)
    t.is(
      await outcomeOf(provider, { email: EMAIL, emailVerified }),
      outcome,
      `${provider.name}, ${emailVerified}`,
    );
  const known = { subject: 'known', email: 'ben@example.com' };
  t.is(await outcomeOf(COMPANY, { ...known, emailVerified: true }), 'session');
  t.is(await outcomeOf(COMPANY, { ...known, emailVerified: false }), 'address', 'unverified meanwhile');
  t.is(await outcomeOf(COMPANY, { ...known, email: 'ben@elsewhere.example' }), 'address', 'moved away');
  t.is(await outcomeOf(COMPANY, { ...known, emailVerified: true }), 'session');
});

test('a person has three open links: the next one is refused and mailed to nobody', async (t) => {
  const { actors, organization, users, outcomeOf } = await fixture(t);
  const access = { administrator: true, manager: false, operator: false };
  await users.add(organization, { name: 'Ana', identifier: null, email: EMAIL, phone: null }, access);
  const outcomes: string[] = [];
  for (let count = 0; count < 5; count += 1)
    outcomes.push(await outcomeOf(PARTNER, { email: EMAIL, emailVerified: true }));
  t.deepEqual(outcomes, ['confirm', 'confirm', 'confirm', 'wait', 'wait']);
  t.is((await actors.list(MAIL)).length, 3);
});

test('a link confirms one identity: it opens no session for another one', async (t) => {
  const { organization, users, actors, clock, links, providerSignIn } = await fixture(t);
  const access = { administrator: true, manager: false, operator: false };
  await users.add(organization, { name: 'Ana', identifier: null, email: EMAIL, phone: null }, access);
  const person = { issuer: 'https://idp.example', subject: 'first', groups: [] };
  const asked = await providerSignIn.signIn(PARTNER, { ...person, email: EMAIL, emailVerified: true });
  if (asked.kind !== 'confirm') return t.fail(asked.kind);
  const [user] = await actors.list(PORTAL_USER);
  const { linkId } = asked;
  const expiresAt = clock.now() + 60_000;
  const ticket = links.signInTicket({ userId: user?.id as UserId, linkId, expiresAt });
  const other = { ...person, subject: 'second' };
  t.like(await providerSignIn.confirm(PARTNER, { ...person, linkId }, ticket), { kind: 'session' });
  await t.throwsAsync(providerSignIn.confirm(PARTNER, { ...other, linkId }, ticket), {
    code: 'InvalidTicket',
  });
});
