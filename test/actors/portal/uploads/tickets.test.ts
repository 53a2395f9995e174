import { systemIds } from '@sealwright/runtime';
import test from 'ava';
import { TICKET_LIFETIME_MS, type TicketKind, Tickets } from '../../../../actors/portal/shared/tickets.ts';
import { portalKeys, SecretBox } from '../../../../actors/shared/secrets/secret-box.ts';

const NOW = Date.UTC(2026, 4, 17, 12, 0, 0);
const ID = '2f1c0d7e-6f1a-4b9b-8a0e-3d5f6a7b8c9d';
const tickets = new Tickets(Buffer.alloc(32, 1));

test('a ticket returns its claims until it expires', (t) => {
  const ticket = tickets.issue('sign', [ID, 'ABCDEFGHIJ0123456789', '', 'ção'], NOW);
  const claims = [ID, 'ABCDEFGHIJ0123456789', '', 'ção'];
  const expiresAt = NOW + 24 * 3_600_000;
  t.deepEqual(tickets.read('sign', ticket, NOW), { claims, expiresAt, expired: false });
  t.false(tickets.read('sign', ticket, expiresAt - 1)?.expired);
  t.true(tickets.read('sign', ticket, expiresAt)?.expired);
  t.is(tickets.read('download', ticket, NOW), undefined);
});

test('tickets are short enough for addresses', (t) => {
  for (const kind of Object.keys(TICKET_LIFETIME_MS) as TicketKind[]) {
    const ticket = tickets.issue(kind, [ID, ID, ID], NOW);
    t.regex(ticket, /^[A-Za-z0-9_-]{1,110}$/);
  }
});

test('a ticket with a changed byte, cut off, or of another key is invalid', (t) => {
  const ticket = tickets.issue('download', [ID], NOW);
  const bytes = Buffer.from(ticket, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    t.is(tickets.read('download', changed.toString('base64url'), NOW), undefined);
    t.is(tickets.read('download', bytes.subarray(0, at).toString('base64url'), NOW), undefined);
  }
  t.is(new Tickets(Buffer.alloc(32, 2)).read('download', ticket, NOW), undefined);
  for (const text of [
    '',
    'x',
    `${ticket}=`,
    `${ticket}x`,
    `${ticket}&a=b`,
    '%00',
    'é'.repeat(40),
    'a'.repeat(100_000),
  ]) {
    t.is(tickets.read('download', text, NOW), undefined);
  }
});

test('claims over the size limit are refused when the ticket is made', (t) => {
  t.throws(() => tickets.issue('report', ['x'.repeat(255)], NOW), { instanceOf: RangeError });
  t.throws(() => new Tickets(Buffer.alloc(31)), { instanceOf: TypeError });
});

test('an encrypted secret decrypts in its context only, and two encryptions of it differ', (t) => {
  const keys = portalKeys(Buffer.alloc(32, 9));
  const sealed = new SecretBox(keys.sealing, systemIds);
  const text = sealed.encrypt('bearer token', 'webhook/1/token');
  t.not(text, sealed.encrypt('bearer token', 'webhook/1/token'));
  t.is(sealed.decrypt(text, 'webhook/1/token'), 'bearer token');
  t.is(sealed.decrypt(sealed.encrypt('', 'empty'), 'empty'), '');
  t.throws(() => sealed.decrypt(text, 'webhook/2/token'), { code: 'sealed.unreadable' });
  const changed = `${text.startsWith('B') ? 'C' : 'B'}${text.slice(1)}`;
  t.throws(() => sealed.decrypt(changed, 'webhook/1/token'), { code: 'sealed.unreadable' });
  t.throws(() => sealed.decrypt(text.slice(0, 20), 'webhook/1/token'), { code: 'sealed.unreadable' });
  const other = new SecretBox(portalKeys(Buffer.alloc(32, 8)).sealing, systemIds);
  t.throws(() => other.decrypt(text, 'webhook/1/token'), { code: 'sealed.unreadable' });
  t.is(new Set([keys.codes, keys.sealing, keys.tickets].map((key) => key.toString('hex'))).size, 3);
});
