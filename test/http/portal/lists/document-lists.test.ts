/** Lists of documents over HTTP: filters, pages by position, and the export. Source: docs/portal-values.md §12. */
import test from 'ava';
import { type Client, sharedProgram } from '../../../actors/portal/service.ts';
import { startPortal } from '../harness.ts';

interface Page {
  readonly items: readonly {
    readonly id: string;
    readonly name: string;
    readonly externalId: string | null;
  }[];
  readonly totalCount: number;
  readonly nextCursor: string | null;
}

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];

const list = (client: Client, query: string) => client.get<Page>(`/api/documents?${query}`);
const idsOf = ({ items }: Page) => items.map(({ id }) => id);

/** Every page by position, one after the other. */
async function pagesOf(client: Client, query: string): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = ''; cursor !== null && pages.length < 50; ) {
    const page: Page = await list(client, `${query}&Cursor=${cursor}`);
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

test('pages by position are complete in both orders, with filters, and while documents are added and deleted', async (t) => {
  const { acme, organization } = await sharedProgram(t);
  const other = await organization('Other');
  await other.create(FLOW, { externalId: 'case-1' });
  const made: string[] = [];
  for (let index = 0; index < 7; index += 1)
    made.push(await acme.create(FLOW, { tags: [{ value: index % 2 === 0 ? 'even' : 'odd' }] }));

  for (const [query, wanted] of [
    ['Limit=3', made],
    ['Limit=3&Order=Desc', made.toReversed()],
    ['Limit=2&Tags=even', made.filter((_, index) => index % 2 === 0)],
    ['Limit=7', made],
    ['Limit=2&Status=PendingOrRefused&Order=Desc', made.toReversed()],
  ] as const) {
    const pages = await pagesOf(acme, query);
    t.deepEqual(pages.flatMap(idsOf), wanted, query);
    t.true(
      pages.every(({ totalCount }) => totalCount === wanted.length),
      query,
    );
  }
  t.is((await list(acme, 'Limit=3')).nextCursor, null, 'a page by number has no cursor');
  t.is((await list(acme, 'Limit=3&Cursor=null')).nextCursor, null, 'null counts as absent');

  const first = await list(acme, 'Limit=3&Order=Desc&Cursor=');
  await acme.create(FLOW);
  await acme.post(`/api/documents/${made[5]}`, undefined, 'DELETE');
  const second = await list(acme, `Limit=3&Order=Desc&Cursor=${first.nextCursor}`);
  t.deepEqual(
    [...idsOf(first), ...idsOf(second)],
    made.slice(1).toReversed(),
    'nothing is repeated or left out',
  );
});

test('documents are found by external id, creation and any of their texts, within one organization', async (t) => {
  const { acme, organization } = await sharedProgram(t);
  const other = await organization('Other');
  await other.create(FLOW, { externalId: 'case-1' });
  const before = new Date().toISOString();
  const long = `urn:order:${'é'.repeat(180)}`;
  const one = await acme.create(FLOW, { externalId: 'case-1', tags: [{ value: 'Lease' }] });
  const two = await acme.create(FLOW, { externalId: 'case-1' });
  const third = await acme.create(FLOW, { externalId: long });
  const similar = await acme.create(FLOW, { externalId: `${long}x` });
  const after = new Date(Date.now() + 1).toISOString();

  const found = async (query: string) => idsOf(await list(acme, query));
  t.deepEqual(await found('ExternalId=case-1'), [one, two]);
  t.deepEqual(await found('ExternalId=CASE-1'), [], 'compared exactly');
  t.deepEqual(await found(`ExternalId=${encodeURIComponent(long)}`), [third]);
  t.deepEqual(await found('ExternalId=case-1&Tags=lease'), [one]);
  t.deepEqual(await found('ExternalId=case-1&ParticipantQ=ana'), [one, two]);
  t.deepEqual(await found(`CreatedFrom=${before}&CreatedTo=${after}`), [one, two, third, similar]);
  t.deepEqual(await found(`CreatedFrom=${after}`), []);
  t.deepEqual(await found(`CreatedTo=2020-01-31`), []);
  t.deepEqual(
    await found(
      `CreatedFrom=${before}&ParticipantQ=ana@example.org&ParticipantQueryType=Email&Offset=1&Limit=3`,
    ),
    [similar],
  );
  t.deepEqual(await found('Q=LEASE&QueryType=Any'), [one]);
  t.deepEqual(await found('Q=case-&QueryType=Any'), [one, two]);
  await acme.post(`/api/documents/${two}`, undefined, 'DELETE');
  t.deepEqual(await found('ExternalId=case-1'), [one]);
  t.deepEqual(await found('ExternalId=case-1&IsDeleted=true'), [two]);
  const detail = await acme.get<{ externalId: string | null }>(`/api/documents/${one}`);
  t.is(detail.externalId, 'case-1');
  const refused = await acme.send('/api/documents', {
    files: [{ ...(await acme.upload()), displayName: 'X' }],
    flowActions: FLOW,
    externalId: 'x'.repeat(201),
  });
  t.is(refused.status, 400);
});

test('a cursor is refused with other filters or another order, and taken with another page size', async (t) => {
  const { acme } = await sharedProgram(t);
  for (const name of ['even', 'odd', 'even']) await acme.create(FLOW, { tags: [{ value: name }] });
  const { nextCursor } = await list(acme, 'Limit=1&Tags=even&Cursor=');
  const send = (query: string) => acme.fetch(`/api/documents?${query}&Cursor=${nextCursor}`);
  for (const query of [
    'Limit=1&Tags=odd',
    'Limit=1',
    'Limit=1&Tags=even&Order=Desc',
    'Limit=1&Tags=even&Q=x',
  ]) {
    const refused = await send(query);
    t.is(refused.status, 400, query);
    t.like(await refused.json(), { code: 'BadRequest' });
  }
  for (const query of ['Limit=1&Tags=even', 'Limit=9&Tags=even&Order=Asc&Offset=4'])
    t.is((await send(query)).status, 200, query);
});

test('an invented cursor is refused', async (t) => {
  const { call } = await startPortal(t);
  const text = (given: unknown) => Buffer.from(JSON.stringify(given)).toString('base64url');
  for (const cursor of ['x', text([1]), text([-1, 0]), text(['1', 2]), text([1, 2, 3]), 'a'.repeat(101)])
    t.is((await call(`/api/documents?Cursor=${cursor}`)).status, 400, cursor);
  t.is((await call(`/api/documents?Cursor=${text([1, 2])}`)).status, 200);
});
