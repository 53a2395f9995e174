/** Reads the outcomes of messages. */
import type { ActorView, StepOutcome } from './definition.ts';

type Accepted<Context> = Extract<StepOutcome<Context>, { readonly accepted: true }>;
export type Refused = Extract<StepOutcome, { readonly accepted: false }>;

/** Returns the step. @throws the error that `refusal` makes when there is none */
export function accepted<Context>(
  outcome: StepOutcome<Context>,
  refusal: (refused: Refused) => Error,
): Accepted<Context> {
  if (outcome.accepted) return outcome;
  throw refusal(outcome);
}

/**
 * Resolves with the actor once its step is durable.
 * @param refusal makes the error of a message that made no step; undefined where that is none
 */
export function durable<Context>(
  sent: Promise<StepOutcome<Context>>,
  refusal: (refused: Refused) => Error,
): Promise<ActorView<Context>>;
export function durable<Context>(
  sent: Promise<StepOutcome<Context>>,
  refusal: (refused: Refused) => Error | undefined,
): Promise<ActorView<Context> | undefined>;
export async function durable<Context>(
  sent: Promise<StepOutcome<Context>>,
  refusal: (refused: Refused) => Error | undefined,
): Promise<ActorView<Context> | undefined> {
  const outcome = await sent;
  if (outcome.accepted) {
    await outcome.durable;
    return outcome.actor;
  }
  const error = refusal(outcome);
  if (error !== undefined) throw error;
  return undefined;
}

/** Resolves with the actor once its step is durable, with undefined when the message made no step. */
export function durableIfAccepted<Context>(
  sent: Promise<StepOutcome<Context>>,
): Promise<ActorView<Context> | undefined> {
  return durable(sent, () => undefined);
}
