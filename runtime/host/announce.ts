/** Tells the observer of committed steps. */
import { describeFailure } from '../model/failures.ts';
import type { Log, Step } from '../model/ports.ts';

/** The step is stored, and its sender is answered, even if the observer throws. */
export function announce(
  { committed, log }: { readonly committed: (step: Step) => void; readonly log: Log },
  step: Step,
): void {
  try {
    committed(step);
  } catch (error) {
    log.error('An observer of committed steps threw.', describeFailure(error));
  }
}
