/** Runs the effects suspected of crashing the process, one at a time, before all others. */
import type { CrashJournal } from './crash-journal.ts';
import type { Outbox } from './effects/outbox.ts';
import { describeFailure } from './failures.ts';
import type { ActorStore, Clock, Log, Millis } from './ports.ts';

/** Maximum time that others wait for one suspect, milliseconds: longer than a task of a pool may take. */
const MAX_ALONE: Millis = 20 * 60_000;

export interface SuspectsDependencies {
  readonly journal: CrashJournal;
  readonly store: Pick<ActorStore, 'pendingEffects' | 'deferEffect'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly outbox: Pick<Outbox, 'runAlone'>;
}

/** Runs the suspects. Never rejects. Returns at once after an orderly stop. */
export async function runSuspects(
  dependencies: SuspectsDependencies,
  isStopping: () => boolean,
): Promise<void> {
  const { journal, store, clock, log } = dependencies;
  try {
    await reportSetAside(dependencies);
    const { suspects } = journal;
    if (suspects.length === 0) return;
    log.warn('The process died twice in a row; what was under way runs one at a time first.', {
      effects: suspects.length,
    });
    for (const { key, actor } of suspects) {
      if (isStopping()) return;
      const pending = await store.pendingEffects(actor);
      const effect = pending.find((one) => one.key === key);
      if (effect === undefined || journal.isSetAside(key)) continue;
      const waited = new AbortController();
      await Promise.race([
        dependencies.outbox.runAlone(effect),
        clock.sleep(MAX_ALONE, waited.signal).catch(() => {}),
      ]);
      waited.abort();
    }
    journal.endTrial();
  } catch (error) {
    log.error('Effects under suspicion could not be run one at a time.', describeFailure(error));
  }
}

/** Shows the quarantined effect among the failed effects. */
async function reportSetAside({ journal, store, clock, log }: SuspectsDependencies): Promise<void> {
  const { newlySetAside } = journal;
  if (newlySetAside === undefined) return;
  const { key, actor } = newlySetAside;
  const message =
    'effect.set-aside: The process died each time this ran. It waits until an operator runs it again.';
  log.error('An effect is set aside: the process died while nothing else ran.', {
    effect: key,
    actor: `${actor.kind}/${actor.id}`,
    do: newlySetAside.do,
  });
  await store.deferEffect(key, clock.now(), message);
}
