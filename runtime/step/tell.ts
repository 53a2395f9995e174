/** The built-in effect: `{ do: 'tell', to: { kind, id }, event }`, a message from actor to actor. */
import { Fatal } from '../model/failures.ts';
import { jsonType } from '../model/json-type.ts';
import { addressProblem, eventProblem } from '../model/message-checks.ts';
import type { ActorAddress, ActorEvent, StoredEffect } from '../model/ports.ts';

export const SEND_EFFECT = 'tell';

const MESSAGE = jsonType<{ readonly to: ActorAddress; readonly event: ActorEvent }>();

/** Returns receiver and event of a message. Throws `step.malformed-action`, so that no step stores a malformed one. */
export function checkedMessage(effect: StoredEffect['effect']): ReturnType<typeof MESSAGE.read> {
  const message = MESSAGE.read(effect);
  const problem = addressProblem(message.to) ?? eventProblem(message.event);
  if (problem === undefined) return message;
  throw new Fatal(
    'step.malformed-action',
    `The machine's message to another actor cannot be sent: ${problem}`,
  );
}
