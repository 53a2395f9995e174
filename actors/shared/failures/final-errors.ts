/** Ends effects whose failure nobody foresaw. The runtime repeats an effect after any error that is not `Fatal`. */
import { describeFailure, type EffectRun, Fatal, isFatal, isRetryable } from '@sealwright/runtime';

/**
 * Makes the errors of a handler final that say nothing about a repetition, from the given attempt on: where a repetition
 * could do the work twice, or where the receiver of the failure has a schedule of its own. `Retryable` is repeated.
 * Source: docs/decisions/0322-errors-of-effects.md.
 */
export function finalErrors<Input, Outcome>(
  run: (input: Input, attempt: EffectRun) => Promise<Outcome>,
  fromAttempt = 1,
): typeof run {
  return async (input, attempt) => {
    try {
      return await run(input, attempt);
    } catch (error) {
      if (isRetryable(error) || isFatal(error) || attempt.failures + 1 < fromAttempt) throw error;
      const { code, message } = describeFailure(error);
      throw new Fatal(code, message);
    }
  };
}
