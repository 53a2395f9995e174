/** Long lists of the portal, which are kept in memory, follow its steps. */
import test from 'ava';
import { stepOf } from '../../contract/steps.ts';
import { portalFixture } from './documents/flow-harness.ts';

/** From so many rows on, a list is kept. */
const MANY = 1_000;

test.serial(
  'long lists of folders, users and organizations have what was made since they were searched',
  async (t) => {
    const { portal, store, tenant } = await portalFixture(t);
    const organization = tenant.organization.id;
    const ids = Array.from({ length: MANY }, () => crypto.randomUUID());
    const others = ids.flatMap((id, at) => [
      { view: 'folders', key: [organization, at, id], value: { id, name: `Other ${at}`, parentId: null } },
      {
        view: 'organization-users',
        key: [organization, at, id],
        value: { name: `Other ${at}`, email: `${at}@example.com`, identifier: null },
      },
      { view: 'organizations', key: [at, id], value: { id, name: `Other ${at}` } },
    ]);
    const counters = {
      [`folders/${organization}`]: MANY,
      [`organization-users/${organization}`]: MANY,
      organizations: MANY,
    };
    const committed = await store.commit(
      stepOf({ kind: 'others', id: 'all' }, 0, { rows: { put: others, remove: [] }, counters }),
    );
    t.true(committed.ok);
    const page = { q: 'zebra', limit: 10, offset: 0 };
    const found = async () => [
      await portal.folders.list(tenant, page),
      await portal.users.members(organization, page),
      await portal.administration.organizations(page),
    ];
    const nobody = { items: [], totalCount: 0 };
    t.deepEqual(await found(), [nobody, nobody, nobody]);
    const folder = await portal.folders.create(tenant, 'Zebra', null);
    const user = await portal.users.add(
      organization,
      { name: 'Zoe Zebra', identifier: null, email: 'zoe@example.org', phone: null },
      { administrator: false, manager: false, operator: true },
    );
    const made = await portal.administration.createOrganization({ name: 'Zebras' });
    t.like(await found(), [
      { items: [folder], totalCount: 1 },
      { items: [{ id: user.id }], totalCount: 1 },
      { items: [{ id: made.id }], totalCount: 1 },
    ]);
    await portal.folders.remove(tenant, folder.id, { deleteAction: 'DeleteContent' });
    await portal.users.remove(organization, user.id);
    t.deepEqual((await found()).slice(0, 2), [nobody, nobody]);
  },
);
