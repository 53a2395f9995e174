import test from 'ava';
import { PORTAL_REFUSALS } from '../../../contracts/portal/refusals.ts';
import { portalCode } from '../../../http/portal/problem.ts';
import { ask } from '../ask.ts';
import { portalTable } from '../descriptions.ts';
import { assertRefused } from '../refused.ts';
import { ADDED, ADDED_CODES, CODES, ENDPOINTS, PLATFORM_CODES } from './contract.ts';
import { startPortal } from './harness.ts';
import { ADMIN_KEY, IDS, KEY, MONITOR_KEY } from './memory-portal.ts';

const routes = new Map(portalTable().map((route) => [`${route.method} ${route.path}`, route]));

test('the table of codes equals that of the portal document and the additions, status by status', (t) => {
  const statuses = Object.fromEntries(
    Object.entries(PORTAL_REFUSALS).map(([code, { status }]) => [code, status]),
  );
  t.deepEqual(statuses, { ...CODES, ...ADDED_CODES });
});

test('every message of the table is one line of ASCII', (t) => {
  for (const { title } of Object.values(PORTAL_REFUSALS)) t.regex(title, /^[\x20-\x7e]+$/);
  t.is(PORTAL_REFUSALS.InvalidIdentifier.title, 'CPF is invalid');
});

test('every portal code is answered by some route or before routing', (t) => {
  const refused = new Set<string>([...routes.values()].flatMap(({ refusals }) => refusals.map(portalCode)));
  for (const code of Object.keys(PORTAL_REFUSALS)) {
    t.true(refused.has(code) || PLATFORM_CODES.includes(code), code);
  }
  for (const code of refused) t.true(Object.hasOwn(PORTAL_REFUSALS, code), code);
});

test('the portal serves the operations of its document and the additions, to the documented callers', (t) => {
  const served = Object.fromEntries([...routes].map(([name, { auth }]) => [name, auth]));
  t.deepEqual(served, { ...ENDPOINTS, ...ADDED });
});

test('a request without a key or with a wrong one gets 401 from each operation that is not public', async (t) => {
  // Each accepts at most 120 wrong keys a minute from one address.
  const ports = [(await startPortal(t)).port, (await startPortal(t)).port];
  for (const [index, [name, { method, path, auth }]] of [...routes].entries()) {
    const port = ports[index % ports.length] as number;
    const target = path.replace(/\{\w+\}/g, IDS.document);
    for (const key of ['', 'No App|0']) {
      const answer = await ask(port, method, {
        path: target,
        headers: key === '' ? {} : { 'X-Api-Key': key },
      });
      if (auth === 'anonymous') t.not(answer.status, 401, name);
      else if (auth === 'known-or-ticket') t.true([400, 401].includes(answer.status), name);
      else {
        t.is(answer.status, 401, name);
        t.deepEqual(Object.keys(JSON.parse(answer.text)), ['code', 'message', 'details']);
        t.is(answer.headers['www-authenticate'], 'ApiKey header="X-Api-Key"');
      }
    }
  }
});

test('a monitoring key reaches exactly the monitoring operations, and no other key reaches them', async (t) => {
  const { url } = await startPortal(t);
  const allowed: { readonly [auth: string]: readonly string[] } = {
    application: [KEY, ADMIN_KEY],
    monitor: [MONITOR_KEY],
    administrator: [ADMIN_KEY],
  };
  for (const { method, path, auth } of routes.values()) {
    const keys = allowed[auth];
    if (keys === undefined) continue;
    for (const key of [KEY, MONITOR_KEY, ADMIN_KEY]) {
      if (keys.includes(key)) continue;
      const target = `${url}${path.replace(/\{\w+\}/g, IDS.document)}`;
      const answer = await fetch(target, { method, headers: { 'x-api-key': key } });
      await assertRefused(t, answer, 'Forbidden');
    }
  }
  const upload = new FormData();
  upload.append('content', new File(['x'], 'x.pdf'));
  const init = { method: 'POST', headers: { 'x-api-key': MONITOR_KEY }, body: upload };
  await assertRefused(t, await fetch(`${url}/api/uploads`, init), 'Forbidden');
  const body = JSON.stringify({ flowActionId: IDS.action });
  const approval = await fetch(`${url}/api/documents/keys/K/approval`, { ...init, body });
  await assertRefused(t, approval, 'UnsupportedMediaType');
});
