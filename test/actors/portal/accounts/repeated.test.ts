import { systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import type { Tenant } from '../../../../actors/portal/api.ts';
import {
  IDEMPOTENT_REQUEST,
  IdempotentRequestService,
} from '../../../../actors/portal/idempotent-requests.ts';
import type { ApplicationId, OrganizationId } from '../../../../machines/ids.ts';
import { ANSWER_LIFETIME_MS } from '../../../../machines/portal/idempotent-request.ts';
import { PortalRefusal } from '../../../../machines/portal/portal-refusals.ts';
import { type PortalStoreOptions, portalStoreFixture } from '../uploads/upload-harness.ts';

const tenant = (name: string): Tenant => ({
  organization: { id: `org ${name}` as OrganizationId, name },
  application: { id: `app ${name}` as ApplicationId, name, role: 'Normal' },
});
const ME = tenant('me');
const REQUEST = { route: 'POST /api/documents', key: 'my word', fingerprint: 'f1' };

async function requestsFixture(t: ExecutionContext, options: PortalStoreOptions = {}) {
  const place = await portalStoreFixture(t, { ...options, definitions: [IDEMPOTENT_REQUEST] });
  const { runtime, store, faults } = place;
  const requests = new IdempotentRequestService({ actors: runtime, store, ids: systemIds, faults });
  const seeds: string[] = [];
  const make = async (seed: string) => {
    seeds.push(seed);
    return { made: seeds.length };
  };
  return { ...place, requests, seeds, make };
}

test('a repeated request gets the first answer, and is done once', async (t) => {
  const { requests, seeds, make } = await requestsFixture(t);
  t.deepEqual(await requests.answer(ME, REQUEST, make), { made: 1 });
  t.deepEqual(await requests.answer(ME, REQUEST, make), { made: 1 });
  t.is(seeds.length, 1);
});

test('another request under the same idempotency key is refused, before and after the first is answered', async (t) => {
  const { requests, make } = await requestsFixture(t);
  const other = { ...REQUEST, fingerprint: 'f2' };
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const first = requests.answer(ME, REQUEST, () => held);
  await t.throwsAsync(requests.answer(ME, other, make), { code: 'IdempotencyConflict' });
  finish();
  await first;
  await t.throwsAsync(requests.answer(ME, other, make), { code: 'IdempotencyConflict' });
});

test('one of many concurrent requests under one idempotency key is done, and all get its answer', async (t) => {
  const { requests, seeds, make } = await requestsFixture(t);
  const all = await Promise.all(Array.from({ length: 20 }, () => requests.answer(ME, REQUEST, make)));
  t.deepEqual(new Set(all.map((answer) => answer.made)), new Set([1]));
  t.is(seeds.length, 1);
});

test('an idempotency key belongs to one application and one route', async (t) => {
  const { requests, seeds, make } = await requestsFixture(t);
  await requests.answer(ME, REQUEST, make);
  const you = tenant('you');
  await requests.answer({ ...ME, organization: you.organization }, { ...REQUEST, fingerprint: 'f2' }, make);
  await requests.answer({ ...ME, application: you.application }, { ...REQUEST, fingerprint: 'f3' }, make);
  await requests.answer(ME, { ...REQUEST, route: 'POST /api/uploads', fingerprint: 'f4' }, make);
  await requests.answer(ME, { ...REQUEST, key: 'other', fingerprint: 'f5' }, make);
  t.is(seeds.length, 5);
  t.is(new Set(seeds).size, 5);
});

test('a refused request frees its idempotency key', async (t) => {
  const { requests, make } = await requestsFixture(t);
  const refuse = async () => {
    throw new PortalRefusal('UploadNotFound');
  };
  await t.throwsAsync(requests.answer(ME, REQUEST, refuse), { code: 'UploadNotFound' });
  t.deepEqual(await requests.answer(ME, { ...REQUEST, fingerprint: 'f2' }, make), { made: 1 });
});

test('a request with a lost answer is repeated under the same seed, over restarts', async (t) => {
  const first = await requestsFixture(t);
  first.faults.arm('portal.request.done', () => {
    throw new Error('the process dies here');
  });
  await t.throwsAsync(first.requests.answer(ME, REQUEST, first.make), { message: /dies here/ });
  await first.close();
  const second = await requestsFixture(t, { root: first.root });
  t.deepEqual(await second.requests.answer(ME, REQUEST, second.make), { made: 1 });
  t.deepEqual(second.seeds, first.seeds);
  await second.close();
  const third = await requestsFixture(t, { root: first.root });
  t.deepEqual(await third.requests.answer(ME, REQUEST, third.make), { made: 1 });
  t.is(third.seeds.length, 0, 'the answer was stored');
});

test('after a day the answer is removed, and the idempotency key is free', async (t) => {
  const { requests, seeds, make, clock, settle, store } = await requestsFixture(t);
  await requests.answer(ME, REQUEST, make);
  clock.forward(ANSWER_LIFETIME_MS - 60_000);
  t.deepEqual(await requests.answer(ME, REQUEST, make), { made: 1 });
  clock.forward(120_000);
  await settle(async () => (await store.nextTimerDue()) === undefined);
  t.deepEqual(await requests.answer(ME, { ...REQUEST, fingerprint: 'f2' }, make), { made: 2 });
  t.is(seeds.length, 2);
});
