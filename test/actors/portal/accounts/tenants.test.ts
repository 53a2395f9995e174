import { type Calls, systemIds } from '@sealwright/runtime';
import test from 'ava';
import { Administration } from '../../../../actors/portal/accounts/administration.ts';
import { OperatorKeyList } from '../../../../actors/portal/accounts/operator-keys.ts';
import { TenantDirectory } from '../../../../actors/portal/accounts/tenants.ts';
import { bootstrapTenants } from '../../../../actors/portal/tenants-bootstrap.ts';
import { type PortalStoreFixture, portalStoreFixture } from '../uploads/upload-harness.ts';

async function application(it: PortalStoreFixture, name = 'My App') {
  const organization = await it.administration.createOrganization({ name: `${name} Org` });
  return {
    organization: organization.id,
    id: (await it.administration.createApplication(organization.id, { name, role: 'Normal' })).id,
  };
}

test('a key is matched whole and exactly, and identifies its application and organization', async (t) => {
  const it = await portalStoreFixture(t);
  const { organization, id } = await application(it, 'My App with spaces');
  const { key } = await it.administration.createSecret(organization, id);
  t.regex(key, /^My App with spaces\|[0-9a-f]{64}$/);
  for (let round = 0; round < 2; round++) {
    const { keyId, ...tenant } = (await it.tenants.identify(key)) ?? {};
    t.regex(keyId ?? '', /^[0-9a-f-]{36}$/);
    t.deepEqual(tenant, {
      organization: { id: organization, name: 'My App with spaces Org' },
      application: { id, name: 'My App with spaces', role: 'Normal' },
    });
    const wrong = [
      '',
      '|',
      key.slice(0, -1),
      `${key}0`,
      key.replace('My', 'my'),
      key.toUpperCase(),
      key.split('|')[1] ?? '',
      `Nobody|${key.split('|')[1]}`,
      ` ${key}`,
      'x'.repeat(100_000),
    ];
    for (const other of wrong) t.is(await it.tenants.identify(other), undefined, other.slice(0, 40));
  }
});

test('operators list the keys of all organizations, first to expire first, without secret data', async (t) => {
  const it = await portalStoreFixture(t);
  const one = await application(it, 'One');
  const two = await application(it, 'Two');
  const soon = it.clock.now() + 3_600_000;
  await it.administration.createSecret(one.organization, one.id);
  const { id, key } = await it.administration.createSecret(two.organization, two.id, { expiresAt: soon });
  const { items, complete } = await new OperatorKeyList(it.administration).keys();
  t.true(complete);
  t.is(items.length, 2);
  t.like(items[0], {
    id,
    organization: 'Two Org',
    application: 'Two',
    expiresAt: soon,
    expiry: 'soon',
    lastUsedAt: null,
    limited: false,
  });
  t.like(items[1], { organization: 'One Org', expiry: 'never' });
  t.false(JSON.stringify(items).includes((key.split('|')[1] ?? '').slice(0, 8)));
});

test('no qualification is demanded where nobody can reach one', async (t) => {
  const { runtime, store, clock, lists, administration } = await portalStoreFixture(t);
  const { id } = await administration.createOrganization({ name: 'One' });
  const without = new Administration({ actors: runtime, store, clock, ids: systemIds }, lists, false);
  const refused = { code: 'BadRequest', message: /Signing:Trust:Lists/ };
  await t.throwsAsync(without.configure(id, { requiredQualification: 'QESig' }), refused);
  t.is((await without.configure(id, { requiredQualification: null })).requiredQualification, null);
});

test('secrets are stored as digests only', async (t) => {
  const it = await portalStoreFixture(t);
  const { organization, id } = await application(it);
  const { key } = await it.administration.createSecret(organization, id);
  const stored = JSON.stringify(await it.store.load({ kind: 'organization', id: organization }));
  t.false(stored.includes(key.split('|')[1] ?? ''));
  t.true(stored.includes((key.split('|')[1] ?? '').slice(0, 8)));
});

test('two secrets are valid at a time, a third is refused, and a revoked one is invalid at once', async (t) => {
  const it = await portalStoreFixture(t);
  const { organization, id } = await application(it);
  const made: { readonly id: string; readonly key: string }[] = [];
  for (let at = 0; at < 2; at++) made.push(await it.administration.createSecret(organization, id));
  await t.throwsAsync(it.administration.createSecret(organization, id), { code: 'KeyLimitReached' });
  // A secret of the settings takes the place of the oldest.
  made.push(await it.administration.addSecret(organization, id, 'c'.repeat(64)));
  const good = async () =>
    Promise.all(made.map(async ({ key }) => (await it.tenants.identify(key)) !== undefined));
  t.deepEqual(await good(), [false, true, true]);
  await it.administration.revokeSecret(organization, id, made[1]?.id ?? '');
  t.deepEqual(await good(), [false, false, true]);
  await t.throwsAsync(it.administration.revokeSecret(organization, id, made[1]?.id ?? ''), {
    code: 'ApplicationNotFound',
  });
  await it.close();
  const again = await portalStoreFixture(t, { root: it.root });
  t.is(await again.tenants.identify(made[1]?.key ?? ''), undefined);
  t.truthy(await again.tenants.identify(made[2]?.key ?? ''));
});

test('a revocation during the lookup of a key is effective afterwards', async (t) => {
  const directories: TenantDirectory[] = [];
  const it = await portalStoreFixture(t, {
    observe: (step) => {
      for (const directory of directories) directory.observe(step);
    },
  });
  const { organization, id } = await application(it);
  for (const isRevoked of [true, false]) {
    const { id: secret, key } = await it.administration.createSecret(organization, id);
    // The lookup has read the application with its key, and has not kept it yet.
    let meanwhile = isRevoked
      ? () => it.administration.revokeSecret(organization, id, secret)
      : async () => {};
    const actors = it.runtime;
    const read: Calls['read'] = async (actor, one) => {
      const found = await actors.read(actor, one);
      await meanwhile();
      meanwhile = async () => {};
      return found;
    };
    const slow = { read, send: actors.send.bind(actors) } as Calls;
    const directory = new TenantDirectory({ actors: slow, store: it.store, clock: it.clock });
    directories.push(directory);
    t.truthy(await directory.identify(key), 'it was valid when the lookup began');
    t.is((await directory.identify(key)) === undefined, isRevoked);
  }
});

test('the last use of a secret is recorded', async (t) => {
  const it = await portalStoreFixture(t);
  const { organization, id } = await application(it);
  const { key } = await it.administration.createSecret(organization, id);
  const lastUse = async () =>
    (await it.administration.organization(organization)).applications[0]?.keys[0]?.lastUseDate;
  t.is(await lastUse(), null);
  await it.tenants.identify(key);
  await it.settle(async () => typeof (await lastUse()) === 'number');
  t.pass();
});

test('names are unique over the instance without regard to case, and have a safe form', async (t) => {
  const { administration } = await portalStoreFixture(t);
  const one = await administration.createOrganization({ name: 'Café' });
  const two = await administration.createOrganization({ name: 'Other' });
  await t.throwsAsync(administration.createOrganization({ name: ' CAFE\u0301 ' }), { code: 'NameTaken' });
  await administration.createApplication(one.id, { name: 'App', role: 'Normal' });
  const again = { name: 'aPP', role: 'Normal' } as const;
  await t.throwsAsync(administration.createApplication(one.id, again), { code: 'NameTaken' });
  await t.throwsAsync(administration.createApplication(two.id, again), { code: 'NameTaken' });
  for (const name of ['', '  ', 'a|b', 'a\nb', 'x'.repeat(101), 'a\ud800']) {
    await t.throwsAsync(administration.createOrganization({ name }), { code: 'BadRequest' });
    await t.throwsAsync(administration.createApplication(one.id, { name, role: 'Normal' }), {
      code: 'BadRequest',
    });
  }
});

test('one of several concurrent callers for one name gets it', async (t) => {
  const { administration } = await portalStoreFixture(t);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () => administration.createOrganization({ name: 'Same' })),
  );
  t.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  t.is((await administration.organizations({ limit: 10, offset: 0 })).totalCount, 1);
});

test('only applications of Sys Admin may monitor and administer', async (t) => {
  const { administration } = await portalStoreFixture(t);
  const ordinary = await administration.createOrganization({ name: 'Ordinary' });
  const system = await administration.createOrganization({ name: 'Sys Admin' });
  for (const role of ['Monitor', 'Administrator'] as const) {
    const input = { name: `The ${role}`, role };
    await t.throwsAsync(administration.createApplication(ordinary.id, input), { code: 'BadRequest' });
    t.is((await administration.createApplication(system.id, input)).role, role);
  }
});

test('organizations are listed oldest first, found by part of their name, and counted', async (t) => {
  const { administration } = await portalStoreFixture(t);
  for (let at = 0; at < 7; at++) {
    await administration.createOrganization({ name: at % 2 === 0 ? `Even ${at}` : `Odd ${at}` });
  }
  const names = async (q: string | undefined, limit: number, offset: number) => {
    const { items, totalCount } = await administration.organizations({ q, limit, offset });
    return [totalCount, ...items.map(({ name }) => name.split(' ')[0])];
  };
  t.deepEqual((await names(undefined, 3, 2)).length, 2);
  t.deepEqual(await names('eVeN', 3, 0), [4, 'Even', 'Even', 'Even']);
  t.deepEqual(await names('even', 3, 1), [4, 'Even']);
  t.deepEqual(await names('nothing', 3, 0), [0]);
  const unknown = '00000000-0000-4000-8000-000000000000' as never;
  await t.throwsAsync(administration.organization(unknown), { code: 'OrganizationNotFound' });
});

test('a start creates the entries of its settings once, and removes none', async (t) => {
  const it = await portalStoreFixture(t);
  const wanted = {
    organizations: [{ name: 'Acme', embedOrigins: ['https://a.example'], language: 'pt' as const }],
    applications: [
      {
        organization: 'Acme',
        application: 'Script',
        role: 'Normal' as const,
        secret: 'topsecret',
        from: 'configured' as const,
      },
      {
        organization: 'Sys Admin',
        application: 'monitor',
        role: 'Monitor' as const,
        secret: 'm'.repeat(64),
        from: 'stored' as const,
      },
    ],
  };
  for (let start = 0; start < 3; start++) await bootstrapTenants(it.administration, wanted);
  const { items, totalCount } = await it.administration.organizations({ limit: 10, offset: 0 });
  t.is(totalCount, 2);
  t.deepEqual(
    items.flatMap(({ applications }) => applications.map(({ name, keys }) => [name, keys.length])),
    [
      ['Script', 1],
      ['monitor', 1],
    ],
  );
  t.is(items[0]?.applications[0]?.keys[0]?.prefix, 'to');
  const tenant = await it.tenants.identify('Script|topsecret');
  t.deepEqual(await it.tenants.embedOrigins(tenant?.organization.id ?? ('' as never)), ['https://a.example']);
  t.is((await it.tenants.identify(`monitor|${'m'.repeat(64)}`))?.application.role, 'Monitor');

  // Revoked by an operator: a secret of the settings comes back, one of the program's own does not.
  for (const { id, applications } of items) {
    for (const { id: application, keys } of applications) {
      await it.administration.revokeSecret(id, application, keys[0]?.id ?? '');
    }
  }
  await bootstrapTenants(it.administration, wanted);
  t.truthy(await it.tenants.identify('Script|topsecret'));
  t.is(await it.tenants.identify(`monitor|${'m'.repeat(64)}`), undefined);
});

test('an address for answers that was typed outlasts starts until another one is configured', async (t) => {
  const it = await portalStoreFixture(t);
  const start = (replyTo?: string) =>
    bootstrapTenants(it.administration, { organizations: [{ name: 'Acme', replyTo }], applications: [] });
  await start('Help <help@example.org>');
  const { id } = (await it.administration.findOrganization('Acme')) ?? t.fail() ?? { id: '' as never };
  t.is(await it.administration.replyTo(id), 'Help <help@example.org>');
  t.is(await it.tenants.replyTo(id), 'help@example.org', 'pages lead to the address alone');
  for (const typed of ['typed@example.org', null]) {
    await it.administration.setReplyTo(id, typed, 'Ana');
    await start('Help <help@example.org>');
    await start();
    t.is(await it.administration.replyTo(id), typed);
  }
  await start('other@example.org');
  t.is(await it.administration.replyTo(id), 'other@example.org');
});
