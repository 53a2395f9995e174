/** Reads the answers to messages. */
import type { Actor, Answer, View } from './actor.ts';
import type { ActorAddress } from './ports.ts';

/** Reason for which a message made no step. */
export type Refused =
  | { readonly reason: 'not-accepted' | 'duplicate' | 'stopped' | 'unknown-actor' | 'exists' }
  | { readonly reason: 'taken'; readonly name: string; readonly holder: ActorAddress };

/** The answer to a message that made no step; with the actor, where there is one. */
export type RefusedAnswer<Definition extends Actor> = Extract<
  Answer<Definition>,
  { readonly accepted: false }
>;

/**
 * Resolves with the actor once its step is durable.
 * @param refusal makes the error of a message that made no step; undefined where that is none
 */
export function accepted<Definition extends Actor>(
  sent: Promise<Answer<Definition>>,
  refusal: (refused: RefusedAnswer<Definition>) => Error,
): Promise<View<Definition>>;
export function accepted<Definition extends Actor>(
  sent: Promise<Answer<Definition>>,
  refusal: (refused: RefusedAnswer<Definition>) => Error | undefined,
): Promise<View<Definition> | undefined>;
export async function accepted<Definition extends Actor>(
  sent: Promise<Answer<Definition>>,
  refusal: (refused: RefusedAnswer<Definition>) => Error | undefined,
): Promise<View<Definition> | undefined> {
  const answer = await sent;
  if (answer.accepted) return answer;
  const error = refusal(answer as RefusedAnswer<Definition>);
  if (error !== undefined) throw error;
  return undefined;
}
