import test from 'ava';
import { MAX_MEMBERSHIPS, portalUserMachine, USER_REMOVED } from '../../../machines/portal/portal-user.ts';
import { attempt, declared, initialContext, readTable } from '../table.ts';

const ACCESS = { administrator: false, manager: false, operator: true };
const profile = { name: 'Zoë', identifier: null, email: 'z@example.com', phone: null };
const input = {
  ...profile,
  subject: null,
  createdAt: 1,
  memberships: [{ organizationId: 'o-1', accessProfile: ACCESS }],
};
const events: Readonly<Record<string, object>> = {
  DESCRIBE: { subject: 's', profile },
  JOIN: { membership: { organizationId: 'o-2', accessProfile: ACCESS } },
  LEAVE: { organizationId: 'o-1' },
  REMOVE: {},
};

test('the table of people and their machine agree in every state and on every event', async (t) => {
  const table = await readTable('machines/portal/portal-user.ts');
  const { states, events: names } = declared(portalUserMachine);
  t.deepEqual([...states].sort(), ['Known', USER_REMOVED]);
  t.deepEqual([...names].sort(), Object.keys(events).sort());
  const context = initialContext(portalUserMachine, input);
  for (const from of states) {
    for (const type of names) {
      const row = table.find((candidate) => candidate.from === from && candidate.event === type);
      const outcome = attempt(portalUserMachine, from, context, { type, at: 9, ...events[type] });
      t.is(outcome.accepted, row !== undefined, `${from} × ${type}`);
      if (row) t.deepEqual([outcome.to, outcome.effects], [row.to, row.effects]);
    }
  }
});

test('people join so many organizations and no more, and leave only those they are in', (t) => {
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
