import test from 'ava';
import { getInitialSnapshot, transition } from 'xstate';
import {
  MAX_WEBHOOKS,
  type WebhookSetContext,
  webhookSetMachine,
} from '../../../machines/portal/webhook-set.ts';
import { assertAgreement, attempt, initialContext } from '../table.ts';

const target = { url: 'https://x.test/hook', authType: 'NoAuth', token: null, secret: null };
const EVENTS: { readonly [type: string]: object } = {
  ADD: { id: 'new', target },
  REPLACE: { id: 'w1', target: { ...target, url: 'https://y.test' } },
  REMOVE: { id: 'w1' },
  DISABLE: { id: 'w1', reason: '410' },
  CONFIGURE: { webhook: { id: 'c', target } },
};

function withWebhooks(...ids: readonly string[]): WebhookSetContext {
  let snapshot = getInitialSnapshot(webhookSetMachine);
  for (const id of ids)
    snapshot = transition(webhookSetMachine, snapshot, { type: 'ADD', at: 1, id, target } as never)[0];
  return snapshot.context;
}

test('the webhook set accepts exactly the events of its table in each state', async (t) => {
  const context = withWebhooks('w1');
  const file = 'machines/portal/webhook-set.ts';
  await assertAgreement(t, { file, machine: webhookSetMachine, events: EVENTS, contextOf: () => context });
});

test('the webhook set refuses a sixth webhook and messages about unknown ones', (t) => {
  const full = withWebhooks(...Array.from({ length: MAX_WEBHOOKS }, (_, n) => `w${n}`));
  const refused = (context: object, type: string, more: object) =>
    !attempt(webhookSetMachine, 'Kept', context, { type, at: 2, ...more }).accepted;
  t.is(full.webhooks.length, MAX_WEBHOOKS);
  t.true(refused(full, 'ADD', EVENTS['ADD'] ?? {}));
  const none = initialContext(webhookSetMachine, undefined);
  for (const type of ['REPLACE', 'REMOVE', 'DISABLE']) t.true(refused(none, type, EVENTS[type] ?? {}), type);
  t.true(refused(none, 'CONFIGURE', { webhook: null }));
});

test('a disabled webhook is active again after its replacement, and one from the settings is removed with them', (t) => {
  let snapshot = webhookSetMachine.resolveState({ value: 'Kept', context: withWebhooks('w1') });
  const tell = (event: object) => {
    [snapshot] = transition(webhookSetMachine, snapshot, { at: 5, ...event } as never);
    return snapshot.context.webhooks.map(({ id, disabled, configured }) => [
      id,
      disabled !== null,
      configured,
    ]);
  };
  t.deepEqual(tell({ type: 'DISABLE', id: 'w1', reason: '410' }), [['w1', true, false]]);
  t.deepEqual(tell({ type: 'REPLACE', ...EVENTS['REPLACE'] }), [['w1', false, false]]);
  t.deepEqual(tell({ type: 'CONFIGURE', ...EVENTS['CONFIGURE'] }), [
    ['c', false, true],
    ['w1', false, false],
  ]);
  t.deepEqual(tell({ type: 'CONFIGURE', webhook: null }), [['w1', false, false]]);
});
