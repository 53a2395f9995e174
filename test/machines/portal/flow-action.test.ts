import test from 'ava';
import { transition } from 'xstate';
import {
  CODE_LIFETIME_MS,
  CODE_TRIES,
  type FlowActionContext,
  flowActionMachine,
  MAIL_LINK_LIFETIME_MS,
  MAX_CODES_PER_HOUR,
  MAX_WRONG_CODES,
} from '../../../machines/portal/flow-action.ts';
import { assertAgreement, attempt, initialContext } from '../table.ts';

const fresh = initialContext(flowActionMachine, {
  documentId: 'd',
  flowActionId: 'a',
  userId: 'u',
}) as FlowActionContext;
const sent: FlowActionContext = { ...fresh, generation: 1, expiresAt: 1000 + CODE_LIFETIME_MS, sent: [1000] };
const send = (at: number, resend = false) => ({ type: 'SEND', at, resend, notice: {} }) as const;
const guess = (at: number, isRight = false, generation = 1) =>
  ({ type: 'GUESS', at, generation, isRight }) as const;

test('the table of flow actions and their machine agree in every state and on every event', async (t) => {
  const events = { SEND: send(2000, true), GUESS: guess(2000), FORGET: {} };
  const file = 'machines/portal/flow-action.ts';
  await assertAgreement(t, { file, machine: flowActionMachine, events, contextOf: () => sent });
});

test('a valid code is not mailed again, unless another one is requested', (t) => {
  t.false(attempt(flowActionMachine, 'Open', sent, send(2000)).accepted);
  t.deepEqual(attempt(flowActionMachine, 'Open', sent, send(2000, true)).effects, ['notify']);
  t.deepEqual(attempt(flowActionMachine, 'Open', sent, send(1000 + CODE_LIFETIME_MS)).effects, ['notify']);
});

test('a code is valid for ten minutes and five attempts, and another one starts anew', (t) => {
  t.true(attempt(flowActionMachine, 'Open', sent, guess(1000 + CODE_LIFETIME_MS - 1, true)).accepted);
  t.false(attempt(flowActionMachine, 'Open', sent, guess(1000 + CODE_LIFETIME_MS, true)).accepted);
  t.false(attempt(flowActionMachine, 'Open', sent, guess(2000, true, 2)).accepted);
  let snapshot = flowActionMachine.resolveState({ value: 'Open', context: sent });
  for (let tries = 0; tries < CODE_TRIES; tries++)
    [snapshot] = transition(flowActionMachine, snapshot, guess(2000));
  t.is(snapshot.context.wrong, CODE_TRIES);
  t.false(attempt(flowActionMachine, 'Open', snapshot.context, guess(2000, true)).accepted);
  [snapshot] = transition(flowActionMachine, snapshot, send(3000) as never);
  t.like(snapshot.context, { generation: 3000, wrong: 0 });
  t.true(attempt(flowActionMachine, 'Open', snapshot.context, guess(3001, true, 3000)).accepted);
});

test('a right code is used up where one is asked once, and a wrong one is not', (t) => {
  const once = (isRight: boolean) => ({ ...guess(2000, isRight), isOnce: true });
  const { context } = attempt(flowActionMachine, 'Open', sent, once(true));
  t.false(attempt(flowActionMachine, 'Open', context, once(true)).accepted);
  const wrong = attempt(flowActionMachine, 'Open', sent, once(false)).context;
  t.true(attempt(flowActionMachine, 'Open', wrong, once(true)).accepted);
  const stays = attempt(flowActionMachine, 'Open', sent, guess(2000, true)).context;
  t.true(attempt(flowActionMachine, 'Open', stays, guess(2000, true)).accepted);
});

test('a code for nobody counts as any other, and nothing is mailed', (t) => {
  const { notice: _, ...silent } = send(2000, true);
  const mailed = attempt(flowActionMachine, 'Open', sent, send(2000, true));
  const kept = attempt(flowActionMachine, 'Open', sent, silent);
  t.deepEqual(kept.context, mailed.context);
  t.deepEqual([mailed.effects, kept.effects], [['notify'], []]);
});

test('codes over the hourly limit are not mailed, and later ones are', (t) => {
  let snapshot = flowActionMachine.resolveState({ value: 'Open', context: fresh });
  for (let count = 0; count < MAX_CODES_PER_HOUR; count++)
    [snapshot] = transition(flowActionMachine, snapshot, send(1000 + count, true) as never);
  t.false(attempt(flowActionMachine, 'Open', snapshot.context, send(5000, true)).accepted);
  t.true(attempt(flowActionMachine, 'Open', snapshot.context, send(1000 + 60 * 60_000, true)).accepted);
});

test('after fifty wrong guesses of any codes no code is sent or accepted, and the count is kept for as long as a link', (t) => {
  const HOUR = 60 * 60_000;
  let snapshot = flowActionMachine.resolveState({ value: 'Open', context: fresh });
  let at = 1000;
  for (let wrong = 0; wrong < MAX_WRONG_CODES; wrong += 1) {
    if (wrong % CODE_TRIES === 0) {
      at += HOUR;
      const mailed = attempt(flowActionMachine, 'Open', snapshot.context, send(at, true));
      t.deepEqual(mailed.effects, ['notify'], `after ${wrong} wrong guesses`);
      [snapshot] = transition(flowActionMachine, snapshot, send(at, true) as never);
    }
    const last = snapshot.context;
    t.true(attempt(flowActionMachine, 'Open', last, guess(at, true, last.generation)).accepted);
    const [next, actions] = transition(flowActionMachine, snapshot, guess(at, false, last.generation));
    const forget = actions.find(({ type }) => type === 'xstate.raise')?.params as { readonly delay: number };
    t.is(forget.delay, MAIL_LINK_LIFETIME_MS);
    snapshot = next;
  }
  const { context } = snapshot;
  t.false(attempt(flowActionMachine, 'Open', context, send(at + HOUR, true)).accepted);
  t.false(attempt(flowActionMachine, 'Open', context, guess(at, true, context.generation)).accepted);
  // A context of an earlier version, which did not count them.
  const { wrongInAll: _, ...earlier } = { ...context, wrong: 1 };
  t.true(attempt(flowActionMachine, 'Open', earlier, guess(at, true, context.generation)).accepted);
});
