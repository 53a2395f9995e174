/** Runs the effects during which the process crashed, one at a time or alone. */

import { SET_ASIDE } from '../model/backoff.ts';
import { describeFailure } from '../model/failures.ts';
import type { ActorStore, Clock, EffectKey, Log, Millis, StoredEffect } from '../model/ports.ts';
import type { CrashJournal, MarkedEffect } from './crash-journal.ts';
import type { Outbox } from './outbox.ts';

/** Maximum time that others wait for one isolated effect, milliseconds: longer than a task of a pool may take. */
const MAX_WAIT_MS: Millis = 20 * 60_000;

/**
 * Reports the quarantined effect and runs the exclusive one; the outboxes may start afterwards. Never rejects. Returns
 * at once after an orderly stop.
 */
export async function runExclusive(
  journal: CrashJournal,
  store: Pick<ActorStore, 'pendingEffects' | 'deferEffect'>,
  {
    clock,
    log,
    outbox,
  }: { readonly clock: Clock; readonly log: Log; readonly outbox: Pick<Outbox, 'runAlone'> },
): Promise<void> {
  try {
    await reportSetAside(journal, store, clock, log);
    const pending = await findPending(journal.isolated, store);
    journal.forget(new Set(journal.isolated.map(({ key }) => key).filter((key) => !pending.has(key))));
    if (journal.isolated.length === 0) return;
    log.warn(
      'The process crashed twice in a row; the effects in progress run one at a time, beside others.',
      {
        effects: journal.isolated.length,
      },
    );
    const effect = journal.exclusive && pending.get(journal.exclusive.key);
    if (effect === undefined) return;
    log.warn('The process crashed during an isolated effect; it runs before all others.', {
      effect: effect.key,
      do: effect.effect.do,
    });
    await withinLimit(outbox.runAlone(effect), clock);
    journal.endExclusive();
  } catch (error) {
    log.error('Effects could not be run one at a time.', describeFailure(error));
  }
}

/** Finds stored effects by their keys. */
async function findPending(
  effects: readonly MarkedEffect[],
  store: Pick<ActorStore, 'pendingEffects'>,
): Promise<ReadonlyMap<EffectKey, StoredEffect>> {
  const found = new Map<EffectKey, StoredEffect>();
  for (const { actor } of effects)
    for (const effect of await store.pendingEffects(actor)) found.set(effect.key, effect);
  return found;
}

/** Resolves when the run has ended, at the latest after the maximum time. */
async function withinLimit(run: Promise<void>, clock: Clock): Promise<void> {
  const waited = new AbortController();
  await Promise.race([run, clock.sleep(MAX_WAIT_MS, waited.signal).catch(() => {})]);
  waited.abort();
}

/** Returns a function that runs the effects given to it one after the other; it waits for each up to a maximum time. */
export function isolationQueue(clock: Clock): (run: () => Promise<void>) => void {
  let last = Promise.resolve();
  return (run) => {
    last = last.then(() => withinLimit(run(), clock));
  };
}

/** Shows the quarantined effects among the failed ones; an earlier start may have crashed before it did. */
async function reportSetAside(
  { newlySetAside, setAside }: CrashJournal,
  store: Pick<ActorStore, 'pendingEffects' | 'deferEffect'>,
  clock: Clock,
  log: Log,
): Promise<void> {
  const why = 'The process died each time this ran. It waits until an operator runs it again.';
  const pending = await findPending(setAside, store);
  for (const { key, actor, do: name } of setAside) {
    const stored = pending.get(key);
    if (stored === undefined) continue;
    if (key !== newlySetAside?.key && stored.lastError?.startsWith(SET_ASIDE)) continue;
    log.error('An effect is set aside: the process died while nothing else ran.', {
      effect: key,
      actor: `${actor.kind}/${actor.id}`,
      do: name,
    });
    await store.deferEffect(key, clock.now(), `${SET_ASIDE}: ${why}`);
  }
}
