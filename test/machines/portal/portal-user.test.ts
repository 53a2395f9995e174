import test from 'ava';
import {
  MAX_MEMBERSHIPS,
  NO_ACCESS,
  portalUserMachine,
  USER_REMOVED,
} from '../../../machines/portal/accounts/portal-user.ts';
import { endLines } from '../../../machines/portal/accounts/session-ends.ts';
import { GROUP_REMOVED, userGroupMachine } from '../../../machines/portal/accounts/user-group.ts';
import { assertAgreement, attempt, declared, initialContext, readTable } from '../table.ts';

const ACCESS = { administrator: false, manager: false, operator: true };
const profile = { name: 'Zoë', identifier: null, email: 'z@example.com', phone: null };
const input = {
  ...profile,
  subject: null,
  createdAt: 1,
  memberships: [{ organizationId: 'o-1', accessProfile: ACCESS }],
  signInLinks: [{ id: 'l-1', expiresAt: 100 }],
  identities: [{ issuer: 'i', subject: 's' }],
  sessions: [{ sha256: 'aa', organizationId: 'o-1', expiresAt: 100, at: { issuer: 'i', subject: 's' } }],
};
const SESSION = { sha256: 'bb', organizationId: 'o-1', expiresAt: 100 };
const CHALLENGE = { sha256: 'c1', expiresAt: 100 };
const events: Readonly<Record<string, object>> = {
  DESCRIBE: { subject: 's', profile },
  JOIN: { membership: { organizationId: 'o-2', accessProfile: ACCESS } },
  LEAVE: { organizationId: 'o-1' },
  PROVISION: { organizationId: 'o-1', revision: 0, profile, resource: { userName: 'z' }, active: true },
  GRANT: { organizationId: 'o-1', accessProfile: ACCESS },
  ISSUE_LINK: { link: { id: 'l-2', expiresAt: 100 }, replacesOldest: false },
  SIGN_IN: { linkId: 'l-1', session: SESSION },
  SIGN_IN_AT_PROVIDER: {
    identity: { issuer: 'i', subject: 's' },
    organizationId: 'o-1',
    accessProfile: ACCESS,
    session: SESSION,
  },
  SIGN_OUT_AT_PROVIDER: { identity: { issuer: 'i', subject: 's' } },
  SIGN_OUT: { sha256: 'aa' },
  USE_SESSION: { sha256: 'aa' },
  END_SESSIONS: { organizationId: 'o-1', sessionId: 'aa' },
  ENROL_FACTOR: { totp: 'sealed', counter: 7, recovery: ['r-1'] },
  PROVE_FACTOR: { proof: { counter: 8 } },
  ADD_PASSKEY: { passkey: { id: 'k-2', counter: 0 }, challenge: CHALLENGE, recovery: ['r-1'] },
  RENAME_PASSKEY: { passkey: 'k-1', name: 'Key' },
  REMOVE_PASSKEY: { passkey: 'k-1' },
  RESET_FACTOR: {},
  REMOVE: {},
};
const SECOND_FACTOR = {
  totp: 'sealed',
  counter: 7,
  recovery: ['r-1'],
  since: 1,
  failures: 0,
  lockedUntil: 0,
};
const withFactor = { ...input, secondFactor: SECOND_FACTOR };
/** People of whom a message is accepted, where it is not every one. */
const withPasskey = {
  ...input,
  secondFactor: { ...SECOND_FACTOR, totp: undefined, passkeys: [{ id: 'k-1', counter: 3, name: 'Key' }] },
};
const contexts: Readonly<Record<string, object>> = {
  PROVE_FACTOR: withFactor,
  RESET_FACTOR: withFactor,
  // The last use was ten minutes ago.
  USE_SESSION: { ...input, sessions: input.sessions.map((one) => ({ ...one, usedAt: 9 - 600_000 })) },
  RENAME_PASSKEY: withPasskey,
  REMOVE_PASSKEY: withPasskey,
};

test('the table of people and their machine agree in every state and on every event', async (t) => {
  t.deepEqual([...declared(portalUserMachine).states].sort(), ['Known', USER_REMOVED]);
  await assertAgreement(t, {
    file: 'machines/portal/accounts/portal-user.ts',
    machine: portalUserMachine,
    events,
    contextOf: (type) => initialContext(portalUserMachine, contexts[type] ?? input),
  });
});

test('people join organizations up to the limit, and leave only their own', (t) => {
  const full = {
    ...input,
    memberships: Array.from({ length: MAX_MEMBERSHIPS }, (_, index) => ({
      organizationId: `o-${index}`,
      accessProfile: ACCESS,
    })),
  };
  const say = (type: string, event: object) =>
    attempt(portalUserMachine, 'Known', full, { type, at: 1, ...event }).accepted;
  t.false(say('JOIN', { membership: { organizationId: 'new', accessProfile: ACCESS } }));
  t.true(say('JOIN', { membership: { organizationId: 'o-7', accessProfile: ACCESS } }), 'is in it already');
  t.false(say('LEAVE', { organizationId: 'new' }));
});

const say = (context: object, type: string, event: object, at = 9) =>
  attempt(portalUserMachine, 'Known', context, { type, at, ...event });

test('a code of the second factor works once, and wrong ones lock those of the app for a time', (t) => {
  const signIn = { linkId: 'l-1', session: SESSION };
  const waiting = say(withFactor, 'SIGN_IN', signIn).context;
  t.like(waiting, { sessions: [{ sha256: 'aa' }, { sha256: 'bb', pending: true }] });
  const begins = { pending: 'bb', session: { ...SESSION, sha256: 'cc' } };
  const passed = say(waiting, 'PROVE_FACTOR', { proof: { counter: 8 }, begins });
  const { sessions } = passed.context as typeof input;
  t.deepEqual(
    sessions.map(({ sha256 }) => sha256),
    ['aa', 'cc'],
  );
  t.false('pending' in (sessions[1] ?? {}));
  const again = { proof: { counter: 9 }, begins };
  t.false(say(passed.context, 'PROVE_FACTOR', again).accepted, 'no session waits any more');
  for (const counter of [8, 7]) t.false(say(passed.context, 'PROVE_FACTOR', { proof: { counter } }).accepted);
  t.false(
    say(withFactor, 'PROVE_FACTOR', { proof: { counter: 8 }, begins: { ...begins, pending: 'ff' } }).accepted,
  );
  const recovered = say(withFactor, 'PROVE_FACTOR', { proof: { recovery: 'r-1' } });
  t.true(recovered.accepted);
  t.false(say(recovered.context, 'PROVE_FACTOR', { proof: { recovery: 'r-1' } }).accepted);

  let locked: object = withFactor;
  for (let count = 0; count < 5; count++) locked = say(locked, 'PROVE_FACTOR', { proof: null }).context;
  t.false(say(locked, 'PROVE_FACTOR', { proof: { counter: 8 } }).accepted);
  t.true(say(locked, 'PROVE_FACTOR', { proof: { recovery: 'r-1' } }).accepted, 'in spite of the lock');
  t.true(say(locked, 'PROVE_FACTOR', { proof: { counter: 8 } }, 9 + 60_000).accepted, 'later');
  t.false(
    say(withFactor, 'ENROL_FACTOR', { totp: 'other', counter: 9, recovery: [] }).accepted,
    'it is not replaced',
  );
});

test('the signature of a passkey counts once, and with a greater counter than the last', (t) => {
  const prove = (context: object, proof: object) =>
    say(context, 'PROVE_FACTOR', { proof: { passkey: 'k-1', counter: 4, challenge: CHALLENGE, ...proof } });
  const proven = prove(withPasskey, {});
  t.true(proven.accepted);
  t.false(prove(proven.context, { counter: 5 }).accepted, 'the same challenge');
  const next = { challenge: { ...CHALLENGE, sha256: 'c2' } };
  for (const counter of [4, 3, 0])
    t.false(prove(proven.context, { ...next, counter }).accepted, `${counter}`);
  t.true(prove(proven.context, { ...next, counter: 5 }).accepted);
  t.false(prove(withPasskey, { challenge: { ...CHALLENGE, expiresAt: 9 } }).accepted, 'expired');
  t.false(prove(withPasskey, { passkey: 'k-2' }).accepted, 'of somebody else');
  let full: object = input;
  for (let count = 0; count < 11; count++) {
    const added = say(full, 'ADD_PASSKEY', {
      passkey: { id: `k-${count}`, counter: 0 },
      recovery: ['r-1'],
      challenge: { ...CHALLENGE, sha256: `a${count}` },
    });
    t.is(added.accepted, count < 10);
    if (added.accepted) full = added.context;
  }
  // The last one that is removed takes the second factor with it.
  const removed = say(withPasskey, 'REMOVE_PASSKEY', { passkey: 'k-1' });
  t.is((removed.context as { secondFactor?: object }).secondFactor, undefined);
});

test('a passkey of an earlier address, or of a provider, signs in to no organization that is joined later', (t) => {
  const other = { ...profile, email: 'victim@example.org' };
  const change = { revision: 0, profile: other, resource: { userName: 'z' }, active: true };
  const passkeysOf = (context: unknown) =>
    (context as { secondFactor: { passkeys: readonly { id: string; alone?: readonly string[] }[] } })
      .secondFactor.passkeys;
  for (const changed of [
    say(withPasskey, 'PROVISION', { organizationId: 'o-1', ...change }),
    say(withPasskey, 'DESCRIBE', { subject: 's', profile: other }),
  ])
    t.deepEqual(passkeysOf(changed.context)[0]?.alone, ['o-1']);
  const same = say(withPasskey, 'DESCRIBE', { subject: 's', profile });
  t.is(passkeysOf(same.context)[0]?.alone, undefined);
  const added = say(input, 'ADD_PASSKEY', { ...events['ADD_PASSKEY'], proves: 'aa' });
  t.deepEqual(passkeysOf(added.context)[0]?.alone, ['o-1'], 'in a session of a provider');
  const both = {
    ...withPasskey,
    memberships: ['o-1', 'o-2'].map((organizationId) => ({ organizationId, accessProfile: ACCESS })),
    signInLinks: [{ id: 'l-1', expiresAt: 100, passkey: 'k-1', organizations: ['o-1'] }],
  };
  const into = (organizationId: string) =>
    say(both, 'SIGN_IN', { linkId: 'l-1', session: { ...SESSION, organizationId } }).accepted;
  t.deepEqual([into('o-1'), into('o-2')], [true, false]);
  // Nor does one that is added in the session of such a passkey.
  const begun = say({ ...withPasskey, signInLinks: both.signInLinks }, 'SIGN_IN', {
    linkId: 'l-1',
    session: SESSION,
  });
  const second = say(begun.context, 'ADD_PASSKEY', { ...events['ADD_PASSKEY'], proves: 'bb' });
  t.deepEqual(passkeysOf(second.context).find(({ id }) => id === 'k-2')?.alone, ['o-1']);
  const mailed = say(say(input, 'SIGN_IN', { linkId: 'l-1', session: SESSION }).context, 'ADD_PASSKEY', {
    ...events['ADD_PASSKEY'],
    proves: 'bb',
  });
  t.is(passkeysOf(mailed.context)[0]?.alone, undefined, 'a mailed link proves the address');
});

test('a proof by a second factor, and a link that it made, do not outlive its reset', (t) => {
  const proven = say(withFactor, 'PROVE_FACTOR', { proof: { counter: 8 }, proves: 'aa' });
  const sessionsOf = (context: object) => (context as { sessions: readonly object[] }).sessions;
  t.like(sessionsOf(proven.context)[0], { factor: true, provenAt: 9 });
  const [session] = sessionsOf(say(proven.context, 'RESET_FACTOR', {}).context);
  t.like(session, { sha256: 'aa' });
  t.false('factor' in (session ?? {}) || 'provenAt' in (session ?? {}));
  const signInLinks = [{ id: 'l-1', expiresAt: 100, passkey: 'k-1' }];
  const signIn = { linkId: 'l-1', session: SESSION };
  const asked = { ...withPasskey, signInLinks };
  t.true(say(asked, 'SIGN_IN', signIn).accepted);
  for (const [type, event] of [
    ['RESET_FACTOR', {}],
    ['REMOVE_PASSKEY', { passkey: 'k-1' }],
  ] as const)
    t.false(say(say(asked, type, event).context, 'SIGN_IN', signIn).accepted, type);
});

test('an identity at a provider counts for the address at which it was confirmed', (t) => {
  const other = { ...profile, email: 'other@example.org' };
  const change = { revision: 0, profile: other, resource: { userName: 'z' }, active: true };
  const signIn = events['SIGN_IN_AT_PROVIDER'] ?? {};
  for (const { context } of [
    say(input, 'PROVISION', { organizationId: 'o-1', ...change }),
    say(input, 'DESCRIBE', { subject: 's', profile: other }),
  ]) {
    t.like(context, { memberships: [{ endedAt: 9 }] }, 'sessions of the editor end, too');
    t.false(say(context, 'SIGN_IN_AT_PROVIDER', signIn).accepted);
    const asked = { ...(context as object), signInLinks: [{ id: 'l-9', expiresAt: 100, use: 'confirm' }] };
    t.true(say(asked, 'SIGN_IN_AT_PROVIDER', { ...signIn, linkId: 'l-9' }).accepted);
  }
  const same = say(input, 'DESCRIBE', { subject: 's', profile: { ...profile, name: 'Zoe' } });
  t.true(say(same.context, 'SIGN_IN_AT_PROVIDER', signIn).accepted);
  t.like(same.context, { memberships: [{ endedAt: undefined }] });
});

test('a link signs in once, before its expiry, and only to an organization with a role', (t) => {
  const signIn = { linkId: 'l-1', session: SESSION };
  const signedIn = say(input, 'SIGN_IN', signIn);
  t.true(signedIn.accepted);
  t.false(say(signedIn.context, 'SIGN_IN', signIn).accepted, 'used');
  t.false(say(input, 'SIGN_IN', signIn, 100).accepted, 'expired');
  t.false(say(input, 'SIGN_IN', { ...signIn, session: { ...SESSION, organizationId: 'o-2' } }).accepted);
  const known = { administrator: false, manager: false, operator: false };
  const withoutRole = { ...input, memberships: [{ organizationId: 'o-1', accessProfile: known }] };
  t.false(say(withoutRole, 'SIGN_IN', signIn).accepted);
  t.false(say(withoutRole, 'ISSUE_LINK', events['ISSUE_LINK'] ?? {}).accepted);
});

test('at most three unused links are valid, and a fourth is accepted after their expiry', (t) => {
  const signInLinks = ['1', '2', '3'].map((id) => ({ id, expiresAt: 100 }));
  const link = { id: 'new', expiresAt: 200 };
  const full = { ...input, signInLinks };
  t.false(say(full, 'ISSUE_LINK', { link, replacesOldest: false }).accepted);
  t.true(say(full, 'ISSUE_LINK', { link, replacesOldest: false }, 100).accepted);
  const replaced = say(full, 'ISSUE_LINK', { link, replacesOldest: true });
  const context = replaced.context as { signInLinks: readonly { id: string }[] };
  t.deepEqual(
    context.signInLinks.map(({ id }) => id),
    ['2', '3', 'new'],
  );
});

test('sessions end with the membership, its role and the e-mail address alone', (t) => {
  const left = (type: string, event: object) => {
    const { sessions = [] } = say(input, type, event).context as { sessions?: readonly object[] };
    return sessions.length;
  };
  const administrator = { administrator: true, manager: false, operator: false };
  t.is(left('JOIN', { membership: { organizationId: 'o-1', accessProfile: ACCESS } }), 1);
  t.is(left('JOIN', { membership: { organizationId: 'o-2', accessProfile: ACCESS } }), 1);
  t.is(left('JOIN', { membership: { organizationId: 'o-1', accessProfile: administrator } }), 0);
  t.is(left('LEAVE', { organizationId: 'o-1' }), 0);
  t.is(left('DESCRIBE', { subject: 's', profile }), 1);
  t.is(left('DESCRIBE', { subject: 's', profile: { ...profile, email: 'other@example.com' } }), 0);
});

test('the step that ends sessions stores the lines for the log of the organization', (t) => {
  const told = (type: string) => say(input, type, { userId: 'u-1', ...events[type] }).effects;
  for (const type of ['SIGN_OUT', 'END_SESSIONS', 'SIGN_OUT_AT_PROVIDER', 'LEAVE'])
    t.deepEqual(told(type), ['tell'], type);
  t.deepEqual(told('GRANT'), [], 'the same role ends nothing');
});

test('a new session ends the oldest of too many alone, and the log says which', (t) => {
  const sessions = Array.from({ length: 10 }, (_, index) => ({ ...SESSION, sha256: `${index}`.repeat(64) }));
  const full = { ...input, sessions };
  for (const type of ['SIGN_IN', 'SIGN_IN_AT_PROVIDER']) {
    const message = { type, at: 9, userId: 'u-1', ...events[type] };
    const after = say(full, type, message);
    t.deepEqual(after.effects, ['tell']);
    const [line, ...more] = endLines(full as never, after.context, message);
    const { data } = (line as { readonly event: unknown }).event as { readonly data: object };
    t.like(data, { action: 'SessionsEnded', sessionId: '0'.repeat(16) }, type);
    t.deepEqual(more, []);
  }
});

test('who is deactivated keeps the role for later, and gets it back from the identity service alone', (t) => {
  const change = (context: object, type: string, event: object) => {
    const { accepted, context: after } = attempt(portalUserMachine, 'Known', context, {
      type,
      at: 9,
      ...event,
    });
    return accepted ? (after as typeof input) : undefined;
  };
  const provision = { organizationId: 'o-1', profile, resource: { userName: 'z' } };
  const off = change(input, 'PROVISION', { ...provision, revision: 0, active: false });
  t.like(off?.memberships[0], {
    accessProfile: NO_ACCESS,
    endedAt: 9,
    provisioned: { access: ACCESS, revision: 1 },
  });
  t.deepEqual(off?.sessions, []);
  const membership = { organizationId: 'o-1', accessProfile: ACCESS };
  t.is(change(off ?? {}, 'JOIN', { membership }), undefined);
  const atProvider = {
    identity: { issuer: 'i', subject: 's' },
    organizationId: 'o-1',
    accessProfile: ACCESS,
  };
  t.is(change(off ?? {}, 'SIGN_IN_AT_PROVIDER', { ...atProvider, session: SESSION }), undefined);
  const granted = change(off ?? {}, 'GRANT', {
    organizationId: 'o-1',
    accessProfile: { ...ACCESS, administrator: true },
  });
  t.deepEqual(granted?.memberships[0]?.accessProfile, NO_ACCESS);
  t.is(
    change(granted ?? {}, 'PROVISION', { ...provision, revision: 0, active: true }),
    undefined,
    'of another revision',
  );
  const on = change(granted ?? {}, 'PROVISION', { ...provision, revision: 1, active: true });
  t.deepEqual(on?.memberships[0]?.accessProfile, { ...ACCESS, administrator: true });
  // Of two organizations neither changes the address.
  const two = change(input, 'JOIN', { membership: { organizationId: 'o-2', accessProfile: ACCESS } });
  const moved = { ...provision, profile: { ...profile, email: 'y@example.com' }, revision: 0, active: true };
  t.is(change(two ?? {}, 'PROVISION', moved), undefined);
  t.like(change(input, 'PROVISION', moved), { email: 'y@example.com', sessions: [], signInLinks: [] });
});

test('the table of groups and their machine agree, and a change names whose role it affects', async (t) => {
  const group = { displayName: 'Team', externalId: null, members: ['a', 'b'] };
  const made = { ...group, organizationId: 'o-1', createdAt: 1 };
  const context = initialContext(userGroupMachine, made) as { unsettled: readonly string[] };
  t.deepEqual(context.unsettled, [], 'a name without a role');
  const events = { CHANGE: { ...group, revision: 1 }, SETTLED: { revision: 1 }, REMOVE: {} } as const;
  const table = await readTable('machines/portal/accounts/user-group.ts');
  t.deepEqual([...declared(userGroupMachine).events].sort(), Object.keys(events).sort());
  for (const from of ['Known', GROUP_REMOVED])
    for (const [type, event] of Object.entries(events)) {
      const row = table.find((candidate) => candidate.from === from && candidate.event === type);
      const outcome = attempt(userGroupMachine, from, context, { type, at: 9, ...event });
      t.is(outcome.accepted, row !== undefined, `${from} × ${type}`);
      if (row) t.is(outcome.to, row.to);
    }
  const after = (event: object) =>
    attempt(userGroupMachine, 'Known', context, { type: 'CHANGE', at: 9, ...group, revision: 1, ...event })
      .context;
  t.like(after({ displayName: 'Sealwright-Senders' }), { unsettled: ['a', 'b'], revision: 2 });
  t.false(
    attempt(userGroupMachine, 'Known', context, { type: 'CHANGE', at: 9, ...group, revision: 2 }).accepted,
  );
});
