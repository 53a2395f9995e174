import test from 'ava';
import { startServer } from '../harness.ts';

const post = (body: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

test('callers with the key read kinds, their actors and one actor', async (t) => {
  const { call, url } = await startServer(t);
  t.is((await fetch(`${url}/api/actors`)).status, 401);
  const kinds = (await (await call('/api/actors')).json()) as { kinds: { kind: string }[] };
  t.deepEqual(
    kinds.kinds.map(({ kind }) => kind),
    ['door'],
  );
  const page = (await (await call('/api/actors?kind=door&stopped=true')).json()) as {
    items: { id: string }[];
  };
  t.deepEqual(
    page.items.map(({ id }) => id),
    ['broken'],
  );
  const actor = (await (await call('/api/actors/door/idle')).json()) as { timers: unknown };
  t.deepEqual(actor.timers, [{ name: 'wait', due: '1970-01-01T00:00:00.007Z' }]);
  for (const path of ['/api/actors?kind=window', '/api/actors/door/none']) {
    const answer = await call(path);
    t.like(await answer.json(), { status: 404, code: 'actor.not-found' });
  }
  for (const path of ['/api/actors?stuck=maybe', '/api/actors?limit=0', '/api/actors?limit=x'])
    t.like(await (await call(path)).json(), { code: 'validation.filter-invalid' }, path);
});

test('a state that the kind does not have is refused with the list of its states', async (t) => {
  const { call } = await startServer(t);
  const answer = await call('/api/actors?kind=door&state=Ajar');
  t.is(answer.status, 400);
  const body = { code: 'validation.filter-invalid', errors: { state: ['must be one of Open, Shut'] } };
  t.like(await answer.json(), body);
  t.is((await call('/api/actors?kind=door&state=Open')).status, 200);
});

test('an invalid limit is refused with the rule', async (t) => {
  const { call } = await startServer(t);
  for (const limit of ['0', '-1', '1.5', 'x']) {
    const answer = await call(`/api/actors?kind=door&limit=${limit}`);
    t.like(await answer.json(), { errors: { limit: ['must be a whole number of at least 1'] } }, limit);
  }
});

test('a filter without a kind is refused', async (t) => {
  const { call } = await startServer(t);
  for (const filter of ['state=Shut', 'stuck=true', 'stopped=true', 'after=W10']) {
    const answer = await call(`/api/actors?${filter}`);
    t.like(await answer.json(), { status: 400, code: 'validation.filter-invalid' }, filter);
  }
  t.is((await call('/api/actors?stuck=false&limit=5')).status, 200);
});

test('a stopped actor is restarted only with a reason', async (t) => {
  const { call } = await startServer(t);
  const path = '/api/actors/door/broken/restart';
  t.like(await (await call(path, post({}))).json(), { code: 'validation.body-invalid' });
  t.like(await (await call(path, post({ reason: 'x'.repeat(600) }))).json(), {
    code: 'validation.reason-too-long',
  });
  t.deepEqual(await (await call(path, post({ reason: 'new hinge' }))).json(), {
    kind: 'door',
    id: 'broken',
    restarted: true,
  });
  t.like(await (await call(path, post({ reason: 'again' }))).json(), {
    status: 409,
    code: 'actor.not-stopped',
  });
  const runtime = await (await call('/api/runtime')).json();
  t.like(runtime, { eventLoopUtilisation: 0.5, shards: [{ utilisation: 0.5 }] });
});
