import test from 'ava';
import { systemIds } from '#runtime/model/ids.js';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import {
  deriveSessionKeyRing,
  memorySessionKeys,
  openSessionKeyRing,
  type SessionKeyStore,
} from '../../../http/core/access/session-keys.ts';
import { createSessions } from '../../../http/core/access/sessions.ts';
import { type LogLine, recorder } from '../harness.ts';
import { memoryEndedSessions } from './ended-sessions.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function sessionFixture(store: SessionKeyStore = memorySessionKeys(), clock = new SimulatedClock()) {
  const lines: LogLine[] = [];
  const ended = await memoryEndedSessions(clock);
  const open = (apiKey = 'key', hours = 8, personHours = 12) => {
    const ring = openSessionKeyRing(store, { clock, ids: systemIds, log: recorder(lines) });
    const lifetime = hours * HOUR;
    return createSessions({
      ring,
      ended,
      lifetime,
      personLifetime: personHours * HOUR,
      apiKey,
      clock,
      ids: systemIds,
    });
  };
  const kept = () =>
    (JSON.parse(store.load() ?? '') as { keys: { id: string; key: string; createdAt: string }[] }).keys;
  return { store, clock, lines, open, kept };
}

test('a session survives a restart of the process, and a shorter configured lifetime shortens it', async (t) => {
  const { clock, open } = await sessionFixture();
  const token = open().issue('operator');
  t.like(open().read(token), { operator: 'operator', worn: false });
  clock.advance(5 * HOUR);
  t.like(open().read(token), { operator: 'operator', worn: true });
  t.is(open('key', 5).read(token), undefined);
});

test('the session of a person has a role, and ends at a time that renewing does not move', async (t) => {
  const { clock, open } = await sessionFixture();
  const person = { role: 'viewer', key: 'k', since: clock.now() } as const;
  let token = open().issue('ana@example.com', undefined, person);
  const first = open().read(token);
  t.like(first, { operator: 'ana@example.com', person });
  for (let hours = 0; hours < 10; hours += 5) {
    clock.advance(5 * HOUR);
    token = open().issue('ana@example.com', first?.id, open().read(token)?.person);
  }
  clock.advance(2 * HOUR - 1);
  t.like(open().read(token), { person });
  clock.advance(1);
  t.is(open().read(token), undefined);
  const short = { ...person, since: clock.now(), until: clock.now() + HOUR };
  token = open().issue('ana@example.com', undefined, short);
  clock.advance(HOUR - 1);
  token = open().issue('ana@example.com', undefined, open().read(token)?.person);
  t.like(open().read(token), { person: short });
  clock.advance(1);
  t.is(open().read(token), undefined, 'the end of the session at the provider');
});

test('the sessions of a person, or of a session at the provider, end at once; later ones and those of others stay', async (t) => {
  const { clock, open } = await sessionFixture();
  const begin = (key: string, sessionKey?: string) =>
    open().issue('ana', undefined, {
      role: 'operator',
      key,
      since: clock.now(),
      ...(sessionKey !== undefined && { sessionKey }),
    });
  const first = begin('ana', 's1');
  const second = begin('ana', 's2');
  const other = begin('ben', 's3');
  await open().endPerson('s2');
  t.deepEqual(
    [first, second, other].map((token) => open().read(token) !== undefined),
    [true, false, true],
  );
  await open().endPerson('ana');
  clock.advance(1);
  const later = begin('ana', 's1');
  t.deepEqual(
    [first, other, later].map((token) => open().read(token) !== undefined),
    [false, true, true],
  );
  // A longer time to the next sign-in, configured afterwards, does not bring an ended session back.
  await open('key', 8, 1).endPerson('ana');
  clock.advance(2 * HOUR);
  await open().endPerson('eve');
  t.deepEqual(
    [later, other].map((token) => open().read(token) !== undefined),
    [false, true],
  );
});

test('a session ends with the API key that started it', async (t) => {
  const { open } = await sessionFixture();
  const token = open('one').issue('operator');
  t.is(open('two').read(token), undefined);
  t.truthy(open('one').read(token));
});

test('sessions of one service are refused by another', async (t) => {
  const token = (await sessionFixture()).open().issue('operator');
  t.is((await sessionFixture()).open().read(token), undefined);
});

test('tokens of equal content differ, and none reveals the content', async (t) => {
  const sessions = (await sessionFixture()).open();
  const tokens = Array.from({ length: 100 }, () => sessions.issue('operator'));
  t.is(new Set(tokens).size, 100);
  for (const token of tokens) t.false(Buffer.from(token, 'base64url').includes('operator'));
});

test('the key is rotated every 90 days, and the previous one counts until its last cookie expires', async (t) => {
  const { clock, open, kept } = await sessionFixture();
  const sessions = open();
  const [first] = kept();
  clock.advance(90 * DAY - 1);
  const old = sessions.issue('operator');
  t.deepEqual(kept(), [first]);
  clock.advance(1);
  const fresh = sessions.issue('operator');
  t.is(kept().length, 2);
  t.is(kept()[1]?.id, first?.id);
  t.like(open().read(old), { operator: 'operator', worn: false });
  t.truthy(open().read(fresh));
  clock.advance(90 * DAY);
  sessions.issue('operator');
  t.is(kept().length, 2, 'the first one is forgotten, the second one just got its successor');
  t.false(kept().some(({ id }) => id === first?.id));
});

test('a key that cannot be saved is not used, and saving is retried', async (t) => {
  const memory = memorySessionKeys();
  let broken = false;
  const { clock, open, kept, lines } = await sessionFixture({
    load: memory.load,
    save(text) {
      if (broken) throw new Error('no space left');
      memory.save(text);
    },
  });
  const sessions = open();
  clock.advance(91 * DAY);
  broken = true;
  const tokens = [sessions.issue('operator'), sessions.issue('operator')];
  t.is(lines.filter(({ level }) => level === 'warn').length, 1);
  t.is(kept().length, 1);
  for (const token of tokens) t.truthy(open().read(token));
  broken = false;
  sessions.issue('operator');
  t.is(kept().length, 1, 'not at once');
  clock.advance(HOUR);
  sessions.issue('operator');
  t.is(kept().length, 2);
});

test('an unreadable key ring is replaced, with a warning without its content', async (t) => {
  for (const text of ['', 'x', '{}', '{"version":1,"keys":[]}', '{"version":1,"keys":[{"id":"secret"}]}']) {
    const { open, lines, kept, store } = await sessionFixture();
    store.save(text);
    const token = open().issue('operator');
    t.is(kept().length, 1);
    t.truthy(open().read(token));
    t.deepEqual(
      lines.map(({ level }) => level),
      ['warn'],
    );
    t.false(JSON.stringify(lines).includes('secret'));
  }
});

test('the saved key ring has the documented form', async (t) => {
  const { open, kept } = await sessionFixture();
  open();
  const [key] = kept();
  t.regex(key?.id ?? '', /^[0-9a-f]{8}$/);
  t.is(Buffer.from(key?.key ?? '', 'base64url').length, 32);
  t.is(key?.createdAt, '2026-01-01T00:00:00.000Z');
});

test('nodes derive the same keys from their secret, a new one every 90 days, and accept tokens for their time', (t) => {
  const clock = new SimulatedClock();
  const parts = { clock, log: recorder([]) };
  const secret = Buffer.alloc(32, 7);
  const one = deriveSessionKeyRing(secret, undefined, parts);
  const two = deriveSessionKeyRing(secret, undefined, parts);
  const ids = new Set<string>();
  for (let day = 0; day < 360; day += 1) {
    const { id } = one.current();
    ids.add(id);
    clock.advance(DAY - 1);
    t.deepEqual(two.find(id)?.secret, one.find(id)?.secret);
    t.truthy(two.find(id), `day ${day}`);
    clock.advance(1);
  }
  t.true(ids.size >= 4 && ids.size <= 5);
  const [first = ''] = ids;
  t.is(two.find(first), undefined, 'its last token has expired');
  t.is(deriveSessionKeyRing(Buffer.alloc(32, 8), undefined, parts).find(one.current().id), undefined);
});

test('a node whose clock is behind at a rotation accepts tokens of one whose clock is ahead', (t) => {
  const secret = Buffer.alloc(32, 7);
  const clock = new SimulatedClock();
  const ring = (ahead: number) =>
    deriveSessionKeyRing(secret, undefined, { clock: { now: () => clock.now() + ahead }, log: recorder([]) });
  const rotation = 90 * DAY;
  clock.advance(rotation - (clock.now() % rotation) - 1000);
  const { id } = ring(2000).current();
  t.not(ring(0).current().id, id);
  t.truthy(ring(0).find(id));
});

test('a session of an earlier version, whose keys were in a file, goes on', async (t) => {
  const { open, store, clock } = await sessionFixture();
  const token = open().issue('operator');
  const ring = deriveSessionKeyRing(Buffer.alloc(32, 7), store.load(), { clock, log: recorder([]) });
  const sessions = createSessions({
    ring,
    ended: await memoryEndedSessions(clock),
    lifetime: HOUR,
    apiKey: 'key',
    clock,
    ids: systemIds,
  });
  t.like(sessions.read(token), { operator: 'operator' });
  t.is(open().read(sessions.issue('operator')), undefined);
});
