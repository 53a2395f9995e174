/** Outcomes of messages that need no step of the machine. */

import type { StepOutcome } from '../model/definition.ts';
import type { StoredActor } from '../model/ports.ts';
import { viewOf } from '../step/step.ts';
import type { MessageDelivery } from './actor-host.ts';

/** Answers what is known without the machine. */
export function answerWithoutStep(stored: StoredActor, delivery: MessageDelivery): StepOutcome | undefined {
  if (stored.stopped !== null) return refused('stopped', stored);
  if (delivery.id !== undefined && stored.consumed.includes(delivery.id)) return refused('duplicate', stored);
  // The deadline was canceled or moved since it was read.
  if (delivery.timer !== undefined && stored.timers[delivery.timer.name] !== delivery.timer.due) {
    return refused('duplicate', stored);
  }
  return undefined;
}

/** Builds the outcome of a message that changes nothing. */
export function refused(reason: 'not-accepted' | 'duplicate' | 'stopped', stored: StoredActor): StepOutcome {
  return { accepted: false, reason, actor: viewOf(stored) };
}
