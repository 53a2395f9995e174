import { accepted, systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { UserSignIn } from '../../../../actors/portal/accounts/sign-in.ts';
import { UserSessions } from '../../../../actors/portal/accounts/user-sessions.ts';
import { PORTAL_USER, UserDirectory } from '../../../../actors/portal/accounts/users.ts';
import { BRANDING } from '../../../../actors/portal/branding/branding.ts';
import { SigningLinks } from '../../../../actors/portal/mails/signing-links.ts';
import { USER_GROUP } from '../../../../actors/portal/scim/groups.ts';
import { Provisioning } from '../../../../actors/portal/scim/provisioning.ts';
import { GROUP, USER } from '../../../../actors/portal/scim/schemas.ts';
import type { OrganizationId } from '../../../../machines/ids.ts';
import { accessOf, MAX_MEMBERSHIPS, NO_ACCESS } from '../../../../machines/portal/accounts/portal-user.ts';
import { until } from '../service.ts';
import { type PortalStoreOptions, portalStoreFixture, SILENT } from '../uploads/upload-harness.ts';

const [A, B] = ['org-a', 'org-b'] as unknown as readonly [OrganizationId, OrganizationId];
const PAGE = { limit: 10, offset: 0 };
const OPERATOR = { administrator: false, manager: false, operator: true };
const person = (name: string) => ({
  name,
  identifier: null,
  email: `${name.toLowerCase()}@example.com`,
  phone: null,
});

async function usersFixture(t: ExecutionContext, options: PortalStoreOptions = {}) {
  const place = await portalStoreFixture(t, { ...options, definitions: [PORTAL_USER] });
  const { runtime, store, clock, lists } = place;
  const parts = { actors: runtime, store, clock, ids: systemIds };
  return { ...place, users: new UserDirectory(parts, lists) };
}

async function provisioningFixture(t: ExecutionContext) {
  const { runtime, store, clock, lists } = await portalStoreFixture(t, {
    definitions: [PORTAL_USER, USER_GROUP],
  });
  const parts = { actors: runtime, store, clock, ids: systemIds, lists };
  return { ...parts, users: new UserDirectory(parts, lists), provisioning: new Provisioning(parts) };
}

const NO_GRANTS = { of: () => Promise.resolve(undefined) };

test('an organization has two exports of sign-ins at once, and the refusal says when to try again', async (t) => {
  const { runtime, store, clock } = await usersFixture(t);
  const sessions = new UserSessions({ actors: runtime, store, clock });
  const first = sessions.export(A, 0);
  const second = sessions.export(A, 0);
  await Promise.all([first.next(), second.next()]);
  const refused = await t.throwsAsync(sessions.export(A, 0).next());
  t.like(refused, { code: 'TooManyRequests', retryAfterSeconds: 30 });
  t.deepEqual(await sessions.export(B, 0).next(), { value: [], done: false }, 'of another organization');
  await first.return(undefined);
  t.deepEqual(await sessions.export(A, 0).next(), { value: [], done: false }, 'after the end of one');
});

test('people are listed by organization, and found by their known data', async (t) => {
  const { users } = await usersFixture(t);
  const zoe = await users.add(A, person('Zoe'), OPERATOR);
  await users.add(B, person('Bob'), OPERATOR);
  const { items, totalCount } = await users.members(A, PAGE);
  t.deepEqual([items, totalCount], [[zoe], 1]);
  t.is((await users.find(PAGE)).totalCount, 2);
  t.deepEqual(
    (await users.find({ ...PAGE, q: 'BOB@' })).items.map(({ name }) => name),
    ['Bob'],
  );
  t.is((await users.members(A, { ...PAGE, q: 'bob' })).totalCount, 0, 'of the organization only');
});

test('a person with a known e-mail address joins as the same person, and leaves one organization at a time', async (t) => {
  const { users } = await usersFixture(t);
  const zoe = await users.add(A, person('Zoe'), OPERATOR);
  const again = await users.add(
    B,
    { ...person('Zoe'), email: 'ZOE@example.com' },
    { ...OPERATOR, manager: true },
  );
  t.is(again.id, zoe.id);
  t.true(again.accessProfile.manager);
  await users.remove(A, zoe.id);
  t.is((await users.members(A, PAGE)).totalCount, 0);
  t.is((await users.members(B, PAGE)).totalCount, 1);
  await t.throwsAsync(users.remove(A, zoe.id), { code: 'UserNotFound' });
  await users.remove(B, zoe.id);
  t.is((await users.find(PAGE)).totalCount, 0, 'nobody knows the person any more');
});

test('an organization reads and searches its own data of a person, and none of another one', async (t) => {
  const { users } = await usersFixture(t);
  const zoe = { ...person('Zoe'), identifier: '52998224725', phone: '+55 11 91234-5678' };
  const known = await users.add(A, zoe, OPERATOR);
  const joined = await users.add(B, { ...person('Zoe'), name: 'Z.' }, OPERATOR);
  t.like(joined, { id: known.id, name: 'Z.', identifier: null, phone: null });
  t.deepEqual((await users.members(B, PAGE)).items, [joined]);
  t.is((await users.members(B, { ...PAGE, q: '52998' })).totalCount, 0);
  t.deepEqual((await users.members(A, { ...PAGE, q: '52998' })).items, [known]);
  await users.put('ext|7', { ...zoe, name: 'Zoë' });
  t.is((await users.members(B, PAGE)).items[0]?.name, 'Zoë', 'the administrator of all says who they are');
});

test('an organization cannot remove users of another one', async (t) => {
  const { users } = await usersFixture(t);
  const zoe = await users.add(A, person('Zoe'), OPERATOR);
  await t.throwsAsync(users.remove(B, zoe.id), { code: 'UserNotFound' });
  await t.throwsAsync(users.remove(B, 'nonsense'), { code: 'UserNotFound' });
  t.is((await users.members(A, PAGE)).totalCount, 1);
});

test('a subject stays the same person from its first description on, over restarts', async (t) => {
  const first = await usersFixture(t);
  const zoe = await first.users.add(A, person('Zoe'), OPERATOR);
  const put = await first.users.put('ext|7', { ...person('Zoe'), name: 'Zoë Müller' });
  t.deepEqual([put.id, put.subject, put.name], [zoe.id, 'ext|7', 'Zoë Müller']);
  await t.throwsAsync(first.users.put('ext|8', person('Zoe')), { code: 'NameTaken' });
  await first.close();
  const { users } = await usersFixture(t, { root: first.root });
  t.is((await users.put('ext|7', person('Anna'))).id, zoe.id);
  await users.remove(A, zoe.id);
  t.is((await users.find(PAGE)).items[0]?.email, 'anna@example.com', 'the subject still names somebody');
});

test('an invalid description of a person is refused', async (t) => {
  const { users } = await usersFixture(t);
  for (const wrong of [
    { ...person('Zoe'), email: 'nobody' },
    { ...person('Zoe'), name: 'x'.repeat(256) },
    { ...person('Zoe'), phone: 'a\u0000b' },
  ]) {
    await t.throwsAsync(users.add(A, wrong, OPERATOR), { code: 'BadRequest' });
  }
  t.is((await users.find(PAGE)).totalCount, 0);
});

const OFF = { Operations: [{ op: 'replace', path: 'active', value: false }] };

test('an identity service deactivates also whose name or address others have changed, and keeps the identifier', async (t) => {
  const { users, provisioning } = await provisioningFixture(t);
  const emails = [{ value: 'zoe@example.com' }];
  await users.add(A, { ...person('Zoe'), identifier: '52998224725' }, OPERATOR);
  const { id } = await provisioning.create(A, USER, { userName: 'z@corp.example', emails });
  await users.add(A, { ...person('Zed'), email: 'z@corp.example' }, OPERATOR);
  t.false((await provisioning.patch(A, USER, { id, given: OFF, expected: undefined })).attributes['active']);
  t.like(await users.member(A, id), { active: false, identifier: '52998224725' });

  await users.put('ext|7', person('Zoe'));
  await users.put('ext|7', { ...person('Zoe'), email: 'zoe.new@example.com' });
  const on = { Operations: [{ op: 'replace', path: 'active', value: true }] };
  t.true((await provisioning.patch(A, USER, { id, given: on, expected: undefined })).attributes['active']);
  t.like(await users.member(A, id), { active: true, email: 'zoe.new@example.com' });
  const moved = { Operations: [{ op: 'replace', path: 'emails', value: [{ value: 'thief@example.com' }] }] };
  await t.throwsAsync(provisioning.patch(A, USER, { id, given: moved, expected: undefined }), {
    message: /cannot be changed/,
  });
});

test('an identity service names a person of another organization by any spelling, up to the limit', async (t) => {
  const { users, provisioning, actors } = await provisioningFixture(t);
  const zoe = await users.add(B, { ...person('Zoe'), email: 'zoe@münchen.example' }, OPERATOR);
  const emails = [{ value: 'zoe@xn--mnchen-3ya.example' }];
  t.is((await provisioning.create(A, USER, { userName: 'zoe', emails })).id, zoe.id);
  const memberships = Array.from({ length: MAX_MEMBERSHIPS }, (_, index) => ({
    organizationId: `org-${index}` as unknown as OrganizationId,
    accessProfile: NO_ACCESS,
  }));
  const full = { ...person('Bob'), subject: null, createdAt: 1, memberships };
  await accepted(actors.create(PORTAL_USER, systemIds.uuid(), full), () => new Error('refused'));
  await t.throwsAsync(provisioning.create(A, USER, { userName: 'bob@example.com' }), {
    message: /belongs to 100 organizations/,
  });
});

test('a role that a group gave ends with the group, also after a change that came to no end', async (t) => {
  const { users, provisioning, actors } = await provisioningFixture(t);
  const zoe = await users.add(A, person('Zoe'), accessOf('administrator'));
  const id = systemIds.uuid();
  const group = { displayName: 'sealwright-administrators', externalId: null };
  const refused = () => new Error('refused');
  const made = { ...group, organizationId: A, createdAt: 1, members: [zoe.id] };
  await accepted(actors.create(USER_GROUP, id, made), refused);
  const change = { ...group, type: 'CHANGE', revision: 1, members: [] } as const;
  await accepted(actors.send(USER_GROUP, id, change), refused);
  await provisioning.remove(A, GROUP, id, undefined);
  t.deepEqual((await users.member(A, zoe.id))?.accessProfile, NO_ACCESS);
});

test('a role that a group gives no more is not given by a change that is carried out late', async (t) => {
  const { users, provisioning, ...parts } = await provisioningFixture(t);
  const zoe = await users.add(A, person('Zoe'), NO_ACCESS);
  const { id } = await provisioning.create(A, GROUP, { displayName: 'sealwright-administrators' });
  const patch = (by: Provisioning, op: 'add' | 'remove') =>
    by.patch(A, GROUP, {
      id,
      given: { Operations: [{ op, path: 'members', value: [{ value: zoe.id }] }] },
      expected: undefined,
    });
  let isRemoved = false;
  const actors = new Proxy(parts.actors, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (actor: unknown, one: string, event: { readonly type?: string } | undefined) => {
        if (event?.type === 'GRANT' && !isRemoved) {
          isRemoved = true;
          await patch(provisioning, 'remove');
        }
        return member.call(target, actor, one, event);
      };
    },
  });
  await patch(new Provisioning({ ...parts, actors }), 'add');
  t.true(isRemoved);
  t.deepEqual((await users.member(A, zoe.id))?.accessProfile, NO_ACCESS);
});

test('a session ends after its lifetime, also one that is in use', async (t) => {
  const place = await portalStoreFixture(t, { definitions: [PORTAL_USER, BRANDING] });
  const { runtime, store, clock, tickets } = place;
  const parts = { actors: runtime, store, clock, ids: systemIds, log: SILENT };
  const links = new SigningLinks(tickets, clock, () => 'http://localhost');
  const signIn = new UserSignIn(parts, links, 3_600_000, NO_GRANTS);
  const { id: organization } = await place.administration.createOrganization({ name: 'Acme' });
  const zoe = await new UserDirectory(parts, place.lists).add(organization, person('Zoe'), OPERATOR);
  const link = new URL((await signIn.linkFor(zoe.id)) ?? '');
  const token = await signIn.begin(link.searchParams.get('ticket') ?? '', organization);
  t.is((await signIn.session(token))?.id, zoe.id);
  clock.forward(3_500_000);
  t.is((await signIn.session(token))?.id, zoe.id, 'before the end');
  clock.forward(100_000);
  t.is(await signIn.session(token), undefined, 'at the end');
});

test('requests for links that wait are bounded, and networks take turns', async (t) => {
  const place = await portalStoreFixture(t, { definitions: [PORTAL_USER, BRANDING] });
  const { runtime, store, tickets } = place;
  const clock = new SimulatedClock();
  let looked = 0;
  const counting = Object.assign(Object.create(store) as typeof store, {
    holder: (name: Parameters<typeof store.holder>[0]) => {
      looked += 1;
      return store.holder(name);
    },
  });
  const parts = { actors: runtime, store, clock: place.clock, ids: systemIds, log: SILENT };
  const links = new SigningLinks(tickets, place.clock, () => 'http://localhost');
  const signIn = new UserSignIn({ ...parts, store: counting, clock }, links, 3_600_000, NO_GRANTS);
  const { id: organization } = await place.administration.createOrganization({ name: 'Acme' });
  const zoe = await new UserDirectory(parts, place.lists).add(organization, person('Zoe'), OPERATOR);
  for (let sent = 0; sent < 5000; sent += 1) signIn.requestLink(`nobody${sent}@example.org`, '192.0.2.0/24');
  signIn.requestLink('zoe@example.com', '198.51.100.0/24');
  t.is(looked, 60, 'at once');
  clock.advance(400);
  t.is(looked, 62);
  await until(async () => {
    const actor = await runtime.read(PORTAL_USER, zoe.id);
    return actor?.context.signInLinks?.length === 1 ? true : undefined;
  });
  clock.advance(5000 * 200);
  t.is(looked, 60 + 3000);
  signIn.requestLink('nobody@example.org', '192.0.2.0/24');
  t.is(looked, 61 + 3000, 'a later one is served at once');
  for (let sent = 0; sent < 100; sent += 1) signIn.requestLink('nobody@example.org', '192.0.2.0/24');
  t.is(clock.pending, 1);
  signIn.close();
  t.is(clock.pending, 0);
});
