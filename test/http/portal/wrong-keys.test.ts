import test from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { PER_ADDRESS } from '../../../http/core/access/wrong-keys.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { assertRefused } from '../refused.ts';
import { startPortal } from './harness.ts';
import { IDS } from './memory-portal.ts';

test('after 120 wrong keys a minute the portal refuses further ones with 429 and accepts the right key', async (t) => {
  const { call } = await startPortal(t, {}, { clock: new SimulatedClock() });
  const list = (key: string) => call('/api/documents', { headers: { 'x-api-key': key } });
  for (let guess = 0; guess < PER_ADDRESS.permits; guess += 1) {
    const answer = await list(`My App|${guess}`);
    t.is(answer.status, 401);
    await answer.arrayBuffer();
  }
  const refused = await list('My App|one more');
  t.regex(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  await assertRefused(t, refused, 'TooManyRequests');
  t.is((await call('/api/documents')).status, 200);
});

for (const [what, path, header, token] of [
  ['sessions of the editor', '/api/editor-sessions/current', 'x-editor-session', ''],
  ['sessions of users', '/api/documents', 'cookie', 'sealwright-user='],
] as const) {
  test(`guesses of ${what} are counted as wrong keys`, async (t) => {
    const { call } = await startPortal(t, {}, { clock: new SimulatedClock() });
    const guess = (text: string) =>
      call(path, {
        headers: { 'x-api-key': '', [header]: `${token}${text}`, 'sec-fetch-site': 'same-origin' },
      });
    for (let count = 0; count < PER_ADDRESS.permits; count += 1) {
      const answer = await guess(`guess-${count}`);
      t.is(answer.status, 401);
      await answer.arrayBuffer();
    }
    await assertRefused(t, await guess('one more'), 'TooManyRequests');
  });
}

test('invalid addresses in lists are refused as the description states', async (t) => {
  const { call, send, set } = await startPortal(t);
  const refuse = () => {
    throw new PortalRefusal('InvalidFlowAction');
  };
  set('documents.setNotifiedEmails', refuse);
  set('pendingReminders.notify', refuse);
  const emails = { emails: ['none'] };
  const path = `/api/documents/${IDS.document}/notified-emails`;
  await assertRefused(t, await send(path, emails, { method: 'PUT' }), 'InvalidFlowAction');
  await assertRefused(t, await send('/api/users/notify-pending', emails), 'InvalidFlowAction');
  await assertRefused(t, await call('/api/documents/%zz'), 'NotFound');
});
