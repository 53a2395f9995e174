/** The small parts: clocks, ids, fault points, mailboxes, pauses, restart windows. */

import { declareFaultPoints, Faults, systemClock, systemIds } from '@sealwright/runtime';
import { RUNTIME_FAULT_POINTS, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { Mailboxes } from '#runtime/host/mailboxes.js';
import { Supervisor } from '#runtime/host/supervisor.js';
import { effectPause } from '#runtime/model/backoff.js';
import { declaredFaultPoints } from '#runtime/model/faults.js';

const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('simulated time fires alarms in order of their time, also newly armed ones', (t) => {
  const clock = new SimulatedClock(0);
  const rang: string[] = [];
  clock.after(30, () => rang.push(`c@${clock.now()}`));
  clock.after(10, () => {
    rang.push(`a@${clock.now()}`);
    clock.after(10, () => rang.push(`b@${clock.now()}`));
  });
  const cancel = clock.after(15, () => rang.push('never'));
  cancel();
  clock.advance(29);
  t.deepEqual(rang, ['a@10', 'b@20']);
  clock.advance(1);
  t.deepEqual(rang, ['a@10', 'b@20', 'c@30']);
  t.is(clock.now(), 30);
});

test('a jump of the simulated wall clock fires no alarm', (t) => {
  const clock = new SimulatedClock(0);
  let rang = false;
  clock.after(10, () => {
    rang = true;
  });
  clock.setWallClock(1000);
  t.is(clock.now(), 1000);
  t.is(clock.elapsed(), 0);
  t.false(rang);
});

test('sleep ends at its time, or rejects with its abort reason', async (t) => {
  const clock = new SimulatedClock(0);
  const slept = clock.sleep(10);
  clock.advance(10);
  await slept;
  const abort = new AbortController();
  const aborted = clock.sleep(10, abort.signal);
  abort.abort(new Error('enough'));
  await t.throwsAsync(aborted, { message: 'enough' });
  t.is(clock.pending, 0);
  await t.throwsAsync(clock.sleep(10, abort.signal), { message: 'enough' });
  await t.throwsAsync(systemClock.sleep(10_000, abort.signal), { message: 'enough' });
});

test('an alarm of the system clock fires and can be cancelled', async (t) => {
  await new Promise<void>((resolve) => systemClock.after(0, resolve));
  const cancel = systemClock.after(2 ** 40, () => t.fail('a delay longer than any timer rang at once'));
  await new Promise<void>((resolve) => systemClock.after(2, resolve));
  cancel();
  t.true(systemClock.elapsed() > 0);
});

test('ids are UUIDs of version 4, random from the system and repeatable from a seed', (t) => {
  t.regex(systemIds.uuid(), UUID4);
  const one = seededIds(7);
  const two = seededIds(7);
  const other = seededIds(8);
  const series = Array.from({ length: 1000 }, () => one.uuid());
  t.deepEqual(
    series,
    Array.from({ length: 1000 }, () => two.uuid()),
  );
  t.is(new Set(series).size, 1000);
  t.true(series.every((id) => UUID4.test(id)));
  t.not(other.uuid(), series[0]);
  t.is(one.bytes(5).length, 5);
});

test('an unarmed fault point does nothing', (t) => {
  const faults = new Faults();
  t.is(faults.at('step.committed.before-reply'), undefined);
  faults.arm('effect.leased.before-run', 'throw');
  t.is(faults.at('step.committed.before-reply'), undefined);
});

test('an armed fault point acts once at its pass', async (t) => {
  const faults = Faults.parse('step.committed.before-reply=throw:3, store.group.in-transaction=throw');
  faults.at('step.committed.before-reply');
  faults.at('step.committed.before-reply');
  t.throws(() => faults.at('step.committed.before-reply'), { code: 'fault.injected' });
  t.notThrows(() => faults.at('step.committed.before-reply'));
  t.throws(() => faults.atSync('store.group.in-transaction'), { code: 'fault.injected' });
  let passed = 0;
  faults.arm('step.committed.before-reply', async () => {
    passed++;
  });
  await faults.at('step.committed.before-reply');
  t.is(passed, 1);
  faults.arm('step.committed.before-reply', 'throw');
  faults.disarm();
  t.notThrows(() => faults.at('step.committed.before-reply'));
});

test('a fault armed for one subject does not act for others', (t) => {
  const faults = Faults.parse('effect.leased.before-run/mail=throw:2');
  const pass = (subject?: string) => faults.at('effect.leased.before-run', subject);
  pass('mail');
  pass('call');
  pass();
  t.throws(() => pass('mail'), { code: 'fault.injected' });
  pass('mail');
  t.throws(() => Faults.parse('effect.leased/mail=kill'), { code: 'fault.unknown' });
});

test('a misspelt fault is refused', (t) => {
  t.throws(() => Faults.parse('step.commited=kill'), { code: 'fault.unknown' });
  for (const text of [
    'x',
    'step.committed.before-reply',
    'step.committed.before-reply=explode',
    'a=kill:0',
    'a=kill:-1',
  ]) {
    t.throws(() => Faults.parse(text), { code: 'fault.malformed' }, text);
  }
  t.notThrows(() => Faults.parse(undefined));
  t.notThrows(() => Faults.parse(''));
});

test('a thread arms the faults that it has declared, and leaves the others out', (t) => {
  const text =
    'portal.upload.kept=kill:2, step.committed.before-reply=throw,effect.leased.before-run/mail=throw';
  const faults = Faults.parseDeclared(text);
  t.throws(() => faults.at('step.committed.before-reply'), { code: 'fault.injected' });
  t.throws(() => faults.at('effect.leased.before-run', 'mail'), { code: 'fault.injected' });
  t.notThrows(() => Faults.parseDeclared(''));
  t.throws(() => Faults.parseDeclared('step.committed.before-reply=explode'), { code: 'fault.malformed' });
});

test('every declared fault point has a description of its place', (t) => {
  const mine = declareFaultPoints({ 'test.somewhere': 'Here.' });
  t.is(declaredFaultPoints()['test.somewhere'], mine['test.somewhere']);
  for (const name of Object.keys(RUNTIME_FAULT_POINTS)) t.truthy(declaredFaultPoints()[name]);
});

test('a mailbox with hundreds of messages keeps their order, and continues after a failing one', async (t) => {
  const boxes = new Mailboxes();
  const order: number[] = [];
  const all = Array.from({ length: 500 }, (_, n) =>
    boxes.post('a', 1000, async () => {
      order.push(n);
      if (n % 100 === 7) throw new Error(`number ${n}`);
      return n;
    }),
  );
  t.is(boxes.depth('a'), 500);
  const outcomes = await Promise.allSettled(all);
  t.deepEqual(
    order,
    [...order].sort((left, right) => left - right),
  );
  t.is(outcomes.filter(({ status }) => status === 'rejected').length, 5);
  t.is(boxes.depth('a'), 0);
  t.is(boxes.awake, 0);
});

test('pauses grow from a second to five minutes and are never longer', (t) => {
  const ids = seededIds(3);
  for (let failures = 1; failures < 60; failures++) {
    const full = Math.min(300_000, 1000 * 2 ** (failures - 1));
    const pause = effectPause(failures, ids);
    t.true(pause > full * 0.74 && pause <= full, `${failures}: ${pause}`);
  }
});

test('a supervisor forgets exceptions that are older than the window, and restarted actors', (t) => {
  const supervisor = new Supervisor({ restarts: 1, within: 100 });
  t.is(supervisor.recordFailure('a', 0), 'restart');
  t.is(supervisor.recordFailure('a', 100), 'restart');
  t.is(supervisor.recordFailure('a', 150), 'stop');
  t.is(supervisor.recordFailure('a', 160), 'restart', 'a stop wipes the slate');
  supervisor.clear('a');
  t.is(supervisor.recordFailure('a', 170), 'restart');
  t.is(supervisor.recordFailure('b', 170), 'restart');
});
