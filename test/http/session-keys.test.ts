import test from 'ava';
import { memorySessionKeys, openSessionKeyRing, type SessionKeyStore } from '../../http/session-keys.ts';
import { createSessions } from '../../http/sessions.ts';
import { SimulatedClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { type LogLine, recorder } from './harness.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function room(store: SessionKeyStore = memorySessionKeys(), clock = new SimulatedClock()) {
  const lines: LogLine[] = [];
  const open = (apiKey = 'key', hours = 8) => {
    const ring = openSessionKeyRing(store, { clock, ids: systemIds, log: recorder(lines) });
    return createSessions({ ring, lifetime: hours * HOUR, apiKey, clock, ids: systemIds });
  };
  const kept = () =>
    (JSON.parse(store.load() ?? '') as { keys: { id: string; key: string; createdAt: string }[] }).keys;
  return { store, clock, lines, open, kept };
}

test('a session outlives the process that began it, and a shorter lifetime shortens it', (t) => {
  const { clock, open } = room();
  const token = open().seal('operator');
  t.deepEqual(open().open(token), { operator: 'operator', worn: false });
  clock.advance(5 * HOUR);
  t.deepEqual(open().open(token), { operator: 'operator', worn: true });
  t.is(open('key', 5).open(token), undefined);
});

test('a session ends with the API key it was begun for', (t) => {
  const { open } = room();
  const token = open('one').seal('operator');
  t.is(open('two').open(token), undefined);
  t.truthy(open('one').open(token));
});

test('sessions of one service mean nothing to another', (t) => {
  const token = room().open().seal('operator');
  t.is(room().open().open(token), undefined);
});

test('no two tokens are alike, and none shows what is in it', (t) => {
  const sessions = room().open();
  const tokens = Array.from({ length: 100 }, () => sessions.seal('operator'));
  t.is(new Set(tokens).size, 100);
  for (const token of tokens) t.false(Buffer.from(token, 'base64url').includes('operator'));
});

test('the key changes every 90 days, and the one before counts until its last cookie has expired', (t) => {
  const { clock, open, kept } = room();
  const sessions = open();
  const [first] = kept();
  clock.advance(90 * DAY - 1);
  const old = sessions.seal('operator');
  t.deepEqual(kept(), [first]);
  clock.advance(1);
  const fresh = sessions.seal('operator');
  t.is(kept().length, 2);
  t.is(kept()[1]?.id, first?.id);
  t.deepEqual(open().open(old), { operator: 'operator', worn: false });
  t.truthy(open().open(fresh));
  clock.advance(90 * DAY);
  sessions.seal('operator');
  t.is(kept().length, 2, 'the first one is forgotten, the second one just got its successor');
  t.false(kept().some(({ id }) => id === first?.id));
});

test('a key that cannot be saved is not used, and is tried again later', (t) => {
  const memory = memorySessionKeys();
  let broken = false;
  const { clock, open, kept, lines } = room({
    load: memory.load,
    save(text) {
      if (broken) throw new Error('no space left');
      memory.save(text);
    },
  });
  const sessions = open();
  clock.advance(91 * DAY);
  broken = true;
  const tokens = [sessions.seal('operator'), sessions.seal('operator')];
  t.is(lines.filter(({ level }) => level === 'warn').length, 1);
  t.is(kept().length, 1);
  for (const token of tokens) t.truthy(open().open(token));
  broken = false;
  sessions.seal('operator');
  t.is(kept().length, 1, 'not at once');
  clock.advance(HOUR);
  sessions.seal('operator');
  t.is(kept().length, 2);
});

test('a ring that cannot be read is made anew, with a warning that shows nothing of it', (t) => {
  for (const text of ['', 'x', '{}', '{"version":1,"keys":[]}', '{"version":1,"keys":[{"id":"secret"}]}']) {
    const { open, lines, kept, store } = room();
    store.save(text);
    const token = open().seal('operator');
    t.is(kept().length, 1);
    t.truthy(open().open(token));
    t.deepEqual(
      lines.map(({ level }) => level),
      ['warn'],
    );
    t.false(JSON.stringify(lines).includes('secret'));
  }
});

test('the kept ring has the documented form', (t) => {
  const { open, kept } = room();
  open();
  const [key] = kept();
  t.regex(key?.id ?? '', /^[0-9a-f]{8}$/);
  t.is(Buffer.from(key?.key ?? '', 'base64url').length, 32);
  t.is(key?.createdAt, '2026-01-01T00:00:00.000Z');
});
