/** Resources of one organization look to another like unknown ones, on every endpoint. Source: docs/portal-values.md §2. */
import test from 'ava';
import { type Client, startProgram } from '../../actors/portal/service.ts';
import { portalTable } from '../descriptions.ts';
import {
  belongings,
  type Ids,
  OF_NOBODY,
  REQUESTS,
  type Request,
  unknownIds,
} from './accounts/requests-by-id.ts';

/** Status and body, with the requested ids removed. */
async function answerTo(client: Client, [route, path, body]: Request, ids: Ids): Promise<string> {
  const [method = ''] = route.split(' ');
  const answer =
    body === undefined
      ? await client.fetch(path(ids), { method })
      : await client.send(path(ids), body(ids), method);
  let text = `${answer.status} ${await answer.text()}`;
  for (const [name, id] of Object.entries(ids)) text = text.replaceAll(id, `<${name}>`);
  // A created resource has an id of its own.
  return text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>');
}

test('every endpoint answers for resources of another organization as for unknown ones, and does not change them', async (t) => {
  const program = await startProgram(t, { settings: { 'Portal:WebhookAllowPrivate': true } });
  const mine = await program.organization('Mine');
  const yours = await program.organization('Yours');
  const ids = await belongings(mine, mine.organizationId);
  const before = await mine.get(`/api/documents/${ids.document}`);
  for (const request of REQUESTS) {
    // Validation by key is limited to ten a second.
    const foreign = await answerTo(yours, request, ids);
    t.is(foreign, await answerTo(yours, request, unknownIds()), request[0]);
    t.notRegex(foreign, /Mine|Vertrag|ann@/, request[0]);
  }
  t.deepEqual(await mine.get(`/api/documents/${ids.document}`), before);
  const folders = await mine.get<{ totalCount: number }>('/api/folders');
  t.is(folders.totalCount, 1);
  t.like(await mine.get(`/api/organizations/${ids.organization}`), { webhooks: [{ id: ids.webhook }] });
  t.is((await mine.get<{ totalCount: number }>('/api/organizations/users')).totalCount, 1);
  // The same requests by the owner are not all refused, because the resources exist.
  t.regex(await answerTo(mine, REQUESTS[0] as Request, ids), /^200 /);
});

test('every route with ids of organizations is tested with foreign ids', (t) => {
  const tried = new Set(REQUESTS.map(([route]) => route));
  const routes = portalTable()
    .filter(({ auth }) => auth === 'application' || auth === 'known-or-ticket')
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !OF_NOBODY.has(route));
  t.deepEqual([...tried].sort(), routes.sort());
});
