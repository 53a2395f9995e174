/** Rules of retention and legal holds, by a clock that is set forward. */
import test, { type ExecutionContext } from 'ava';
import { RETENTION } from '../../../../actors/portal/accounts/organizations.ts';
import type { NewRetention } from '../../../../contracts/portal/retention/retention.ts';
import { signer } from '../../../actors/portal/documents/flow-harness.ts';
import { until } from '../../../actors/portal/service.ts';
import { type ClockedPortal, clientOf, clockedPortal, DAY, typesOf } from '../requests/clocked-portal.ts';

type Rule = Partial<NewRetention['rules'][number]>;
interface Item {
  readonly id: string;
  readonly type: string;
  readonly reason: string | null;
  readonly rule: { readonly days: number } | null;
}

const ALL = { status: null, days: 30 };

async function passes(portal: ClockedPortal, days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) await pass(portal, DAY);
}

/** Sets the clock forward, and waits for the pass that is due. */
async function pass(portal: ClockedPortal, by: number): Promise<void> {
  portal.forward(by);
  const { portal: service, tenant, runtime } = portal.fixture;
  const last = async () => (await runtime.read(RETENTION, tenant.organization.id))?.context;
  const before = (await last())?.last?.pass ?? 0;
  await service.retention.look();
  await until(async () => {
    const now = await last();
    return (now?.last?.pass ?? 0) > before && now?.isRunning === false ? true : undefined;
  });
}

const setRules = ({ client }: ClockedPortal, rules: readonly Rule[], noticeDays = 3) =>
  client.send('/api/retention', { noticeDays, rules }, 'PUT');

async function listed({ client }: ClockedPortal, list: string): Promise<readonly Item[]> {
  return (await client.get<{ items: Item[] }>(`/api/retention/documents?list=${list}&limit=100`)).items;
}

const idsOf = async (portal: ClockedPortal, list: string) => (await listed(portal, list)).map(({ id }) => id);

/** A document that was canceled now. */
async function canceled(portal: ClockedPortal, folderId?: string): Promise<string> {
  const id = await portal.fixture.create([signer('Ana')], {
    disableNotifications: true,
    ...(folderId !== undefined && { folderId }),
  });
  await portal.client.post(`/api/documents/${id}/cancellation`, { reason: 'No.' });
  return id;
}

async function folderOf({ client }: ClockedPortal, name: string, parentId?: string): Promise<string> {
  return (await client.post<{ id: string }>('/api/folders', { name, parentId })).id;
}

async function isDeleted({ client }: ClockedPortal, id: string): Promise<boolean> {
  const answer = await client.fetch(`/api/documents/${id}`);
  return ((await answer.json()) as { code?: string }).code === 'DocumentIsDeleted';
}

const holdOf = ({ client }: ClockedPortal, path: string, reason: string | null) =>
  client.send(`/api/${path}/hold`, { reason }, 'PUT');

test('a rule deletes after a notice, by the same deletion, and the report says which rule did', async (t) => {
  const portal = await clockedPortal(t);
  const { client, fixture } = portal;
  await fixture.portal.users.add(
    fixture.tenant.organization.id,
    { name: 'Boss', identifier: null, email: 'boss@example.org', phone: null },
    { administrator: true, manager: false, operator: false },
  );
  const one = await canceled(portal);
  const two = await canceled(portal);
  const pending = await fixture.create([signer('Ana')]);
  t.is((await setRules(portal, [ALL])).status, 200);
  await passes(portal, 26);
  t.deepEqual(await idsOf(portal, 'Planned'), []);
  await passes(portal, 1);
  t.deepEqual(new Set(await idsOf(portal, 'Planned')), new Set([one, two]));
  t.like(await client.get(`/api/documents/${one}/retention`), { hold: null, deletion: { rule: ALL } });
  const mail = await until(async () => fixture.mails.find(({ to }) => JSON.stringify(to).includes('boss@')));
  t.regex(JSON.stringify(mail), /will be deleted: 2/);
  await passes(portal, 2);
  t.false(await isDeleted(portal, one));
  await passes(portal, 1);
  t.true((await isDeleted(portal, one)) && (await isDeleted(portal, two)));
  t.is(fixture.mails.filter(({ to }) => JSON.stringify(to).includes('boss@')).length, 1);
  t.like(await listed(portal, 'Deleted'), [{ rule: ALL }, { rule: ALL }]);
  t.deepEqual(await idsOf(portal, 'Planned'), []);
  t.false(await isDeleted(portal, pending));
  const lines = await fixture.store.journal({ kind: 'document', id: one }, { after: 0, limit: 50 });
  t.regex(lines.at(-1)?.message ?? '', /^Deleted: rule of retention, 30 days after any final status/);
  const deleted = fixture.events.filter(({ type }) => type === 'DocumentDeleted');
  t.deepEqual(
    deleted.map(({ action }) => action),
    ['DeletedByOrganization', 'DeletedByOrganization'],
  );
  // An organization does not see the lists of another one.
  t.like(await clientOf(portal, 'Other').get('/api/retention/documents?list=Deleted'), { totalCount: 0 });
});

test('nothing is deleted without the days of notice, whatever the clock and the rules do', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const id = await canceled(portal);
  const folder = await folderOf(portal, 'Kept');
  const state = async () => [await isDeleted(portal, id), (await idsOf(portal, 'Planned')).length];
  await setRules(portal, [{ days: 3_650 }]);
  await passes(portal, 1);
  // A clock that jumps ahead, twice.
  await pass(portal, 4_000 * DAY);
  t.deepEqual(await state(), [false, 1]);
  await pass(portal, 4_000 * DAY);
  t.deepEqual(await state(), [false, 1]);
  // The clock is set back: the plan is of no time.
  await pass(portal, -7_990 * DAY);
  t.deepEqual(await state(), [false, 0]);
  // A shorter rule gives notice first.
  await setRules(portal, [{ days: 3 }]);
  await passes(portal, 1);
  t.deepEqual(await state(), [false, 1]);
  // The rule is removed between notice and deletion.
  await setRules(portal, []);
  await passes(portal, 5);
  t.deepEqual(await state(), [false, 0]);
  // The document is moved to where another rule counts.
  await setRules(portal, [{ days: 3 }, { folderId: folder, days: null }]);
  await passes(portal, 1);
  t.deepEqual(await state(), [false, 1]);
  await client.post(`/api/documents/${id}/folder`, { folderId: folder });
  await passes(portal, 5);
  t.deepEqual(await state(), [false, 0]);
  // It is held after the notice.
  await setRules(portal, [{ days: 3 }]);
  await passes(portal, 1);
  t.deepEqual(await state(), [false, 1]);
  await holdOf(portal, `documents/${id}`, 'Proceedings');
  await passes(portal, 5);
  t.deepEqual(await state(), [false, 0]);
  // Without the hold it is told again.
  await holdOf(portal, `documents/${id}`, null);
  await passes(portal, 1);
  t.deepEqual(await state(), [false, 1]);
  await passes(portal, 3);
  t.deepEqual(await state(), [true, 0]);
});

/** The table of docs/decisions/0610-retention-and-holds.md: each way by which something vanishes. */
const WAYS: {
  readonly [way: string]: {
    readonly act: (portal: ClockedPortal, place: Place) => Promise<Response | undefined>;
    /** Answer under a hold of the document, and of the folder around its folder. */
    readonly held: readonly [document: string, folder: string];
  };
} = {
  'DELETE of the document': {
    act: ({ client }, { id }) => client.send(`/api/documents/${id}`, undefined, 'DELETE'),
    held: ['LegalHold', 'LegalHold'],
  },
  'an operation on documents': {
    async act({ client }, { inner }) {
      const made = await client.post<{ id: string }>('/api/documents/operations', {
        action: 'Delete',
        filter: { folderId: inner },
      });
      await until(async () => {
        const { status } = await client.get<{ status: string }>(`/api/documents/operations/${made.id}`);
        return status === 'Completed' ? true : undefined;
      });
      return undefined;
    },
    held: ['kept', 'kept'],
  },
  'a rule': {
    async act(portal) {
      await setRules(portal, [{ days: 1 }], 1);
      await passes(portal, 4);
      return undefined;
    },
    held: ['kept', 'kept'],
  },
  'a new version': {
    async act({ client, fixture }, { id }) {
      return client.send(`/api/documents/${id}/versions`, { file: await fixture.file() });
    },
    held: ['LegalHold', 'LegalHold'],
  },
  'the deletion of its folder with the content': {
    act: ({ client }, { inner }) =>
      client.send(`/api/folders/${inner}/delete`, { deleteAction: 'DeleteContent' }),
    held: ['LegalHold', 'LegalHold'],
  },
  'the deletion of the folder around with the content': {
    act: ({ client }, { outer }) =>
      client.send(`/api/folders/${outer}/delete`, { deleteAction: 'DeleteContent' }),
    held: ['LegalHold', 'LegalHold'],
  },
  'the deletion of its folder, the content moved': {
    act: ({ client }, { inner }) =>
      client.send(`/api/folders/${inner}/delete`, { deleteAction: 'MoveContent' }),
    held: ['kept', 'LegalHold'],
  },
  'a move out of the folder': {
    act: ({ client }, { id }) => client.send(`/api/documents/${id}/folder`, {}),
    held: ['kept', 'LegalHold'],
  },
};

interface Place {
  readonly id: string;
  readonly inner: string;
  readonly outer: string;
}

async function heldPlace(portal: ClockedPortal, way: string): Promise<Place> {
  const outer = await folderOf(portal, `Outer of ${way}`);
  const inner = await folderOf(portal, 'Inner', outer);
  const id = await portal.fixture.create([signer('Ana')], { folderId: inner, disableNotifications: true });
  // A refused document takes a new version.
  await portal.client.post(`/api/documents/${id}/refusal`, { reason: 'No.' });
  return { id, inner, outer };
}

let shared: Promise<ClockedPortal> | undefined;
const sharedPortal = (t: ExecutionContext) => {
  shared ??= clockedPortal({ teardown: (end) => closing.push(end) });
  t.timeout(60_000);
  return shared;
};
const closing: (() => unknown)[] = [];
test.after.always(async () => {
  for (const end of closing.toReversed()) await end();
});

for (const [way, { act, held }] of Object.entries(WAYS))
  for (const [what, expected] of [
    ['documents', held[0]],
    ['folders', held[1]],
  ] as const)
    test.serial(`${way}: ${expected} under a hold of ${what}, and done without`, async (t) => {
      const portal = await sharedPortal(t);
      const place = await heldPlace(portal, `${way} ${what}`);
      const path = what === 'documents' ? `documents/${place.id}` : `folders/${place.outer}`;
      t.is((await holdOf(portal, path, 'Proceedings')).status, 200);
      const answer = await act(portal, place);
      const code: string = answer?.ok === false ? ((await answer.json()) as { code: string }).code : 'kept';
      t.is(code, expected);
      t.false(await isDeleted(portal, place.id));
      t.is((await portal.client.fetch(`/api/documents/${place.id}/content?type=Original`)).status, 200);
      await holdOf(portal, path, null);
      // Moved by the first attempt.
      if (expected === 'kept' && way.includes('move')) return;
      const again = await act(portal, place);
      t.true(again === undefined || again.ok);
      // Folders inside are emptied after the answer.
      if (!way.includes('move') && !way.includes('version'))
        await until(async () => ((await isDeleted(portal, place.id)) ? true : undefined));
    });

test('holds are listed with reason and person, and the history tells no reason', async (t) => {
  const portal = await clockedPortal(t);
  const id = await canceled(portal);
  const folder = await folderOf(portal, 'Court');
  await holdOf(portal, `documents/${id}`, ' Proceedings 14 ');
  await holdOf(portal, `folders/${folder}`, 'Audit');
  t.like(await listed(portal, 'Held'), [
    { type: 'Document', id, reason: 'Proceedings 14' },
    { type: 'Folder', id: folder, reason: 'Audit' },
  ]);
  t.like(await portal.client.get(`/api/documents/${id}/retention`), {
    hold: { reason: 'Proceedings 14', by: { name: 'App' } },
  });
  const history = await portal.client.get(`/api/documents/${id}/history?limit=100`);
  t.regex(JSON.stringify(history), /Put under legal hold/);
  t.notRegex(JSON.stringify(history), /Proceedings/);
  t.is((await typesOf(portal, id)).at(-1), 'Other');
  await holdOf(portal, `folders/${folder}`, null);
  t.is((await listed(portal, 'Held')).length, 1);
  const other = await clientOf(portal, 'Other').send(`/api/documents/${id}/hold`, { reason: null }, 'PUT');
  t.like(await other.json(), { code: 'DocumentNotFound' });
});

for (const [what, body, code] of [
  ['two rules of the same', { rules: [{ days: 1 }, { days: 2 }] }, 'BadRequest'],
  ['no days', { rules: [{ days: 0 }] }, 'BadRequest'],
  ['too many days', { rules: [{ days: 36_501 }] }, 'BadRequest'],
  ['a status that is not final', { rules: [{ status: 'Pending', days: 1 }] }, 'BadRequest'],
  ['no notice', { noticeDays: 0, rules: [] }, 'BadRequest'],
  ['an unknown folder', { rules: [{ folderId: crypto.randomUUID(), days: 1 }] }, 'FolderNotFound'],
  ['too many rules', { rules: Array.from({ length: 51 }, () => ({ days: 1 })) }, 'LimitExceeded'],
] as const)
  test.serial(`rules with ${what} are refused, and those of before stay`, async (t) => {
    const portal = await sharedPortal(t);
    await setRules(portal, [{ status: 'Expired', days: 9 }]);
    const answer = await portal.client.send('/api/retention', body, 'PUT');
    t.like(await answer.json(), { code });
    t.like(await portal.client.get('/api/retention'), { rules: [{ status: 'Expired', days: 9 }] });
  });
