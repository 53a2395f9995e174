import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { SharedAnswers } from '../../../http/batch/shared-answers.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { startServer } from '../harness.ts';
import { memoryPortalWebhooks } from './memory-portal-webhooks.ts';
import { callsOf } from './test-service.ts';

class AnswersFixture {
  readonly clock = new SimulatedClock(0);
  step = 1;
  reads = 0;
  readonly shared: SharedAnswers;

  constructor() {
    const fixture = this;
    const changes = {
      get version() {
        return String(fixture.step);
      },
      includes: (read: string, asked: string) => Number(read) >= Number(asked),
    };
    this.shared = new SharedAnswers(changes, this.clock);
  }

  ask(version: string | undefined, name = 'actors') {
    return this.shared.answer(version, [name], async () => {
      this.reads += 1;
      return { read: this.reads, name };
    });
  }
}

test('requests with the same version share one read, and those without a version read separately', async (t) => {
  const fixture = new AnswersFixture();
  const [one, two] = await Promise.all([fixture.ask('1'), fixture.ask('1')]);
  t.deepEqual(one, two);
  t.is(one.text, JSON.stringify(one.body));
  t.deepEqual(await fixture.ask('1'), one);
  t.is(fixture.reads, 1);
  t.deepEqual((await fixture.ask(undefined)).body, { read: 2, name: 'actors' });
  t.deepEqual((await fixture.ask('1', 'other')).body, { read: 3, name: 'other' });
});

test('an answer older than the version, or than ten seconds, is not shared', async (t) => {
  const fixture = new AnswersFixture();
  await fixture.ask('1');
  fixture.step = 2;
  t.deepEqual((await fixture.ask('2')).body, { read: 2, name: 'actors' });
  t.deepEqual((await fixture.ask('1')).body, { read: 2, name: 'actors' }, 'a later one serves, too');
  await fixture.clock.advance(10_000);
  t.deepEqual((await fixture.ask('1')).body, { read: 3, name: 'actors' });
});

test('a refusal is answered to all waiting requests, and is not cached', async (t) => {
  const fixture = new AnswersFixture();
  let refused = true;
  const ask = () =>
    fixture.shared.answer('1', ['gone'], async () => {
      if (refused) throw new Refusal('actor.not-found', 'There is no such actor.');
      return {};
    });
  const answers = await Promise.allSettled([ask(), ask()]);
  t.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  refused = false;
  t.is((await ask()).status, 200);
});

test('open pages share lists of jobs and statistics, separately for each filter', async (t) => {
  const { call, service } = await startServer(t, {}, new SimulatedClock());
  const lists = callsOf(service.jobs, 'list');
  await service.add({ fileName: 'first.pdf' });
  const { version } = service.inspection.changes;
  const read = async (path: string) => {
    const answer = await call(path);
    t.is(answer.status, 200, path);
    return answer.json();
  };
  const list = `/api/jobs?pageSize=10&version=${version}`;
  const first = await read(list);
  t.like(first, { totalCount: 1 });
  await service.add({ fileName: 'second.pdf' });
  t.deepEqual(await read(list), first);
  t.is(lists.length, 1);
  t.false('version' in (lists[0]?.[0] ?? {}), 'the version is no filter');
  t.like(await read('/api/jobs?pageSize=10'), { totalCount: 2 });
  t.like(await read(`/api/jobs?pageSize=10&status=Failed&version=${version}`), { totalCount: 0 });
  t.is(lists.length, 3);
  for (const path of [
    '/api/statistics?window=15m',
    '/api/statistics/series?window=24h&intervals=4',
    '/api/failures?',
    '/api/pipeline/state?',
    '/api/folders?',
    '/api/mails?status=Waiting',
    '/api/webhooks/deliveries?pageSize=5',
    '/api/webhooks/portal?',
  ]) {
    const shared = await read(`${path}&version=${version}`);
    t.deepEqual(await read(`${path}&version=${version}`), shared, path);
  }
});

test('deliveries are shared within an organization and a filter only, and a read after a change sees it', async (t) => {
  const counts = new Map<string, number>();
  const portalWebhooks = {
    ...memoryPortalWebhooks(),
    async deliveriesOf(organization: string) {
      const reads = (counts.get(organization) ?? 0) + 1;
      counts.set(organization, reads);
      return { items: [], totalCount: reads };
    },
  };
  const { call, service } = await startServer(t, {}, new SimulatedClock(), { portalWebhooks });
  const lists = callsOf(service.webhooks, 'list');
  const before = `version=${service.inspection.changes.version}`;
  const total = async (path: string) => {
    const answer = await call(path);
    t.is(answer.status, 200, path);
    return ((await answer.json()) as { totalCount: number }).totalCount;
  };
  const of = (organization: string, more: string) =>
    total(`/api/webhooks/portal/${organization}/deliveries?${more}`);
  t.is(await of('one', before), 1);
  t.is(await of('one', before), 1, 'shared');
  t.is(await of('two', before), 1, 'read for another organization');
  t.deepEqual(
    [...counts],
    [
      ['one', 1],
      ['two', 1],
    ],
  );
  t.is(await of('one', `${before}&status=Failed`), 2, 'another filter');
  t.is(await of('one', ''), 3, 'without a version');
  await service.add();
  const after = `version=${service.inspection.changes.version}`;
  t.is(await of('one', after), 4, 'after a change');
  const list = `/api/webhooks/deliveries?${after}`;
  t.is(await total(list), 0);
  t.is(await total(list), 0);
  t.is(await total(`${list}&status=Pending`), 0);
  t.is(lists.length, 2);
  t.false('version' in (lists[0]?.[0] ?? {}), 'the version is no filter');
});
