/** A dry run of definitions against what a store holds, for checks before a release. */
import type { Actor } from './model/actor.ts';
import type { ActorDefinition, HandledEffect } from './model/definition.ts';
import { describeFailure } from './model/failures.ts';
import { takes } from './model/machine-shape.ts';
import type { ActorAddress, EffectKey, Millis, StoredActor, StoreReader } from './model/ports.ts';
import { SEND_EFFECT } from './model/requests.ts';
import {
  deadlinesOf,
  derive,
  parseStateCounter,
  renamedDeadlines,
  STATE_INDEX_PREFIX,
} from './step/derive.ts';
import { hasState, migrationStep } from './step/migrate.ts';
import { checkedMessage, viewOf } from './step/step.ts';

/** Each way that a stored actor and new definitions do not fit. */
export type Misfit =
  /** This program has no such actors. */
  | 'actor.unknown-kind'
  /** A newer version has stored it. */
  | 'actor.newer-version'
  /** A migration is missing, throws, or gives what cannot be stored; or the machine has no such state. */
  | 'actor.no-path'
  /** `rows`, `names`, `counters` or `ends` throws. */
  | 'actor.derived'
  /** Its state has no such deadline any more: it is dropped. */
  | 'deadline.unknown'
  /** A pending effect is among the `effects` of no actor, or is declared there and not among the `handlers` that were given. */
  | 'effect.no-handler'
  /** A pending message is for a kind that this program does not have. */
  | 'message.unknown-kind'
  /** No state of the receiver takes the pending message. */
  | 'message.unknown-event';

export interface Finding {
  readonly code: Misfit;
  /** Kind of the actor that has it. */
  readonly kind: string;
  readonly what: string;
  readonly count: number;
  /** Id of the first actor that has it. */
  readonly first: string;
}

export interface CheckReport {
  /** True: nothing was found. */
  readonly ok: boolean;
  readonly actors: number;
  /** Those of an earlier version, whose migrations succeeded. */
  readonly migrated: number;
  readonly effects: number;
  /** At most 1,000 different ones. */
  readonly findings: readonly Finding[];
}

const PAGE = 256;
const MAX_FINDINGS = 1000;

class Findings {
  readonly #byText = new Map<string, Finding>();
  #hasAny = false;

  add(code: Misfit, { kind, id }: ActorAddress, what: string): void {
    const key = JSON.stringify([code, kind, what]);
    const found = this.#byText.get(key);
    this.#hasAny = true;
    if (found === undefined && this.#byText.size >= MAX_FINDINGS) return;
    this.#byText.set(key, { code, kind, what, count: (found?.count ?? 0) + 1, first: found?.first ?? id });
  }

  get areNone(): boolean {
    return !this.#hasAny;
  }

  list(): readonly Finding[] {
    return [...this.#byText.values()];
  }
}

/**
 * Opens each stored actor with the definitions as a start would: migrates it, restores its state, computes its rows, names and
 * counters, finds its deadlines, and the handler or the receiver of each pending effect. Writes nothing. Whether two actors
 * would need one unique name is not found.
 * @param store a copy; `openLmdbReader` or `openPostgresReader` opens one without the right to write
 * @param options.now time at which new deadlines would begin. @default 0
 * @param options.handlers those of `createRuntime`. @default declared effects count as handled
 */
export async function check(
  store: StoreReader,
  actors: readonly Actor[],
  {
    now = 0,
    handlers,
  }: { readonly now?: Millis; readonly handlers?: readonly HandledEffect<unknown>[] } = {},
): Promise<CheckReport> {
  const handled = new Set(handlers?.map(({ name }) => name));
  for (const { name, handler } of actors.flatMap(({ effects = [] }) => effects))
    if (handlers === undefined || handler !== undefined) handled.add(name);
  const byKind = new Map(actors.map((actor) => [actor.kind, actor]));
  const findings = new Findings();
  const counts = { actors: 0, migrated: 0, effects: 0 };
  const stored = parseStateCounter(await store.counters(STATE_INDEX_PREFIX));
  for (const kind of new Set([...byKind.keys(), ...stored.map((line) => line.kind)])) {
    let after: string | undefined;
    do {
      const page = await store.actors({ kind, limit: PAGE, ...(after !== undefined && { after }) });
      for (const actor of page) {
        counts.actors += 1;
        if (checkActor(byKind.get(kind), actor, now, findings)) counts.migrated += 1;
      }
      after = page.length < PAGE ? undefined : page.at(-1)?.address.id;
    } while (after !== undefined);
  }
  let after: EffectKey | undefined;
  do {
    const page = await store.effects({ limit: PAGE, ...(after !== undefined && { after }) });
    for (const effect of page) checkEffect({ byKind, handled }, effect, findings);
    counts.effects += page.length;
    after = page.length < PAGE ? undefined : page.at(-1)?.key;
  } while (after !== undefined);
  return { ok: findings.areNone, ...counts, findings: findings.list() };
}

/** Returns true when the actor was migrated. */
function checkActor(
  definition: ActorDefinition | undefined,
  stored: StoredActor,
  now: Millis,
  findings: Findings,
): boolean {
  const { address, version } = stored;
  const found = (code: Misfit, what: string): false => {
    findings.add(code, address, what);
    return false;
  };
  if (definition === undefined) return found('actor.unknown-kind', 'this program has no such actors');
  if (version > definition.version)
    return found('actor.newer-version', `version ${version}; this program has ${definition.version}`);
  if (version === definition.version && !hasState(definition, stored.state))
    return found('actor.no-path', `the machine has no state "${stored.state}"`);
  let actor = stored;
  try {
    if (version < definition.version) actor = migrationStep(definition, stored, now).actor;
  } catch (error) {
    const { message } = describeFailure(error);
    const name = `${address.kind}/${address.id}`;
    const what = message.startsWith(name) ? message.slice(name.length).replace(/^:? /, '') : message;
    return found('actor.no-path', what);
  }
  try {
    derive(definition, viewOf(actor));
    definition.ends?.(viewOf(actor));
  } catch (error) {
    return found('actor.derived', `in ${actor.state}: ${describeFailure(error).message}`);
  }
  const { machine } = definition;
  const renamed = renamedDeadlines(machine, { state: actor.state, timers: stored.timers });
  const deadlines = deadlinesOf(machine, actor.state);
  for (const [old, name] of renamed ?? [])
    if (name === undefined || !deadlines.has(name))
      found('deadline.unknown', `the state ${actor.state} has no deadline "${old}"`);
  return version < definition.version;
}

function checkEffect(
  { byKind, handled }: { readonly byKind: ReadonlyMap<string, Actor>; readonly handled: ReadonlySet<string> },
  { actor, effect }: Awaited<ReturnType<StoreReader['effects']>>[number],
  findings: Findings,
): void {
  if (effect.do !== SEND_EFFECT) {
    if (!handled.has(effect.do))
      findings.add('effect.no-handler', actor, `no handler for the effect "${effect.do}"`);
    return;
  }
  const { to, event } = checkedMessage(effect);
  const receiver = byKind.get(to.kind);
  if (receiver === undefined)
    findings.add('message.unknown-kind', actor, `a message "${event.type}" to ${to.kind}`);
  else if (!takes(receiver.machine, event.type))
    findings.add('message.unknown-event', actor, `no state of ${to.kind} takes "${event.type}"`);
}
