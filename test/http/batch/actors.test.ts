import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { startServer } from '../harness.ts';

const post = (body: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

test('callers with the key read kinds, their actors and one actor', async (t) => {
  const { call, url, service } = await startServer(t, {}, undefined, { serviceClock: new SimulatedClock(7) });
  const idle = await service.add();
  const broken = await service.stopActor();
  t.is((await fetch(`${url}/api/actors`)).status, 401);
  const kinds = (await (await call('/api/actors')).json()) as { kinds: { kind: string }[] };
  t.true(kinds.kinds.some(({ kind }) => kind === 'job'));
  const page = (await (await call('/api/actors?kind=job&stopped=true')).json()) as {
    items: { id: string }[];
  };
  t.deepEqual(
    page.items.map(({ id }) => id),
    [broken],
  );
  const actor = await (await call(`/api/actors/job/${idle.id}`)).json();
  t.like(actor, { state: 'Queued', history: [{ at: '1970-01-01T00:00:00.007Z', message: 'Uploaded.' }] });
  for (const path of ['/api/actors?kind=window', '/api/actors/job/none']) {
    const answer = await call(path);
    t.like(await answer.json(), { status: 404, code: 'actor.not-found' });
  }
  for (const path of ['/api/actors?stuck=maybe', '/api/actors?limit=0', '/api/actors?limit=x'])
    t.like(await (await call(path)).json(), { code: 'validation.filter-invalid' }, path);
});

test('a state that the kind does not have is refused with the list of its states', async (t) => {
  const { call } = await startServer(t);
  const answer = await call('/api/actors?kind=pipeline&state=Ajar');
  t.is(answer.status, 400);
  const body = { code: 'validation.filter-invalid', errors: { state: ['must be one of Running, Paused'] } };
  t.like(await answer.json(), body);
  t.is((await call('/api/actors?kind=pipeline&state=Paused')).status, 200);
});

test('an invalid limit is refused with the rule', async (t) => {
  const { call } = await startServer(t);
  for (const limit of ['0', '-1', '1.5', 'x']) {
    const answer = await call(`/api/actors?kind=job&limit=${limit}`);
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
  const { call, service } = await startServer(t);
  const id = await service.stopActor();
  const path = `/api/actors/job/${id}/restart`;
  t.like(await (await call(path, post({}))).json(), { code: 'validation.body-invalid' });
  t.like(await (await call(path, post({ reason: 'x'.repeat(600) }))).json(), {
    code: 'validation.reason-too-long',
  });
  t.deepEqual(await (await call(path, post({ reason: 'new hinge' }))).json(), {
    kind: 'job',
    id,
    restarted: true,
  });
  t.like(await (await call(path, post({ reason: 'again' }))).json(), {
    status: 409,
    code: 'actor.not-stopped',
  });
  const tooLong = `/api/actors/job/${'j'.repeat(450)}/restart`;
  t.like(await (await call(tooLong, post({ reason: 'none has it' }))).json(), {
    status: 404,
    code: 'actor.not-found',
  });
  const runtime = await (await call('/api/runtime')).json();
  t.like(runtime, { store: { engine: 'memory' }, shards: [{ shard: 0, thread: 'main' }] });
});
