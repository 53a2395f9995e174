/**
 * Encodes a step for the writing thread as one text of several lines. The first line holds the operations and their
 * keys, the others are the values as they are stored, so that the writing thread neither parses nor encodes them. JSON
 * holds no line breaks, so nothing need be escaped.
 */
import type {
  EffectKey,
  Millis,
  Revision,
  Row,
  StateIndexEntry,
  Step,
  StoredEffect,
} from '../../model/ports.ts';
import type { EffectValue, Key } from './lmdb-tables.ts';

/** Operations of a step; absent operations are omitted. Lists of keys correspond to values in the lines below. */
export interface StepPlan {
  readonly actor: Key;
  readonly revision: Revision;
  readonly basedOn: Revision;
  readonly settles?: EffectKey | undefined;
  readonly dropsEffects?: true | undefined;
  readonly ends?: true | undefined;
  /** Numbers of the lines. */
  readonly journal?: readonly number[] | undefined;
  readonly effects?: readonly (readonly [key: EffectKey, dueAt: Millis, partition?: string])[] | undefined;
  readonly arm?: readonly (readonly [name: string, due: Millis])[] | undefined;
  readonly disarm?: readonly (readonly [name: string, due: Millis])[] | undefined;
  readonly put?: readonly Key[] | undefined;
  readonly remove?: readonly Key[] | undefined;
  readonly take?: readonly string[] | undefined;
  readonly release?: readonly string[] | undefined;
  /** Pairs, because names that never come again would become shapes of objects for V8. */
  readonly counters?: readonly (readonly [name: string, by: number])[] | undefined;
  readonly moved?: readonly [from: StateIndexEntry | null, to: StateIndexEntry | null] | undefined;
  readonly events?: Step['events'];
  readonly call?: Step['call'];
}

export interface PlannedStep {
  readonly type: 'step';
  readonly plan: StepPlan;
  /**
   * Order of the values: the actor, also at its end, for observers; then journal, effects, armed timers, rows put.
   */
  readonly values: readonly string[];
}

export function planStep(step: Step): PlannedStep {
  const { actor, journal, effects, timers, rows, names, counters, moved } = step;
  const values = [JSON.stringify(actor)];
  for (const line of journal) values.push(JSON.stringify(line));
  for (const { effect, failures, lastError } of effects)
    values.push(JSON.stringify({ effect, failures, lastError } satisfies EffectValue));
  for (const { event } of timers.arm) values.push(JSON.stringify(event));
  let last: { readonly value: Row['value']; readonly text: string } | undefined;
  for (const { value } of rows.put) {
    // Several rows of an actor often have one value.
    if (last?.value !== value) last = { value, text: value === null ? 'null' : JSON.stringify(value) };
    values.push(last.text);
  }
  const plan: StepPlan = {
    actor: [actor.address.kind, actor.address.id],
    revision: actor.revision,
    basedOn: step.basedOn,
    settles: step.settles ?? undefined,
    dropsEffects: step.dropsEffects || undefined,
    ends: step.ends,
    journal: some(journal, ({ id }) => id),
    effects: some(effects, ({ key, dueAt, partition }) =>
      partition === undefined ? ([key, dueAt] as const) : ([key, dueAt, partition] as const),
    ),
    arm: some(timers.arm, ({ name, due }) => [name, due] as const),
    disarm: some(timers.disarm, ({ name, due }) => [name, due] as const),
    put: some(rows.put, rowKey),
    remove: some(rows.remove, rowKey),
    take: some(names.take, (name) => name),
    release: some(names.release, (name) => name),
    counters: some(Object.entries(counters), (pair) => pair),
    moved: moved === null ? undefined : [moved.from, moved.to],
    events: step.events,
    call: step.call,
  };
  return { type: 'step', plan, values };
}

export function stepText(step: Step): string {
  const { plan, values } = planStep(step);
  return `${JSON.stringify(plan)}\n${values.join('\n')}`;
}

export function readStepText(text: string): PlannedStep {
  const [plan = '', ...values] = text.split('\n');
  return { type: 'step', plan: JSON.parse(plan), values };
}

/** Decodes the step, for observers of writes of other threads. */
export function stepOfText(text: string): Step {
  const { plan, values } = readStepText(text);
  const [kind, id] = plan.actor.map(String);
  const address = { kind: kind ?? '', id: id ?? '' };
  let next = 0;
  const value = () => JSON.parse(values[next++] ?? 'null');
  const rowOf = ([view, ...key]: Key) => ({ view: String(view), key });
  return {
    actor: value(),
    basedOn: plan.basedOn,
    journal: (plan.journal ?? []).map(() => value()),
    effects: (plan.effects ?? []).map(([key, dueAt, partition]): StoredEffect => {
      const effect: EffectValue = value();
      return { key, actor: address, dueAt, ...effect, ...(partition !== undefined && { partition }) };
    }),
    settles: plan.settles ?? null,
    dropsEffects: plan.dropsEffects ?? false,
    timers: {
      arm: (plan.arm ?? []).map(([name, due]) => ({ name, due, event: value() })),
      disarm: (plan.disarm ?? []).map(([name, due]) => ({ name, due })),
    },
    rows: {
      put: (plan.put ?? []).map((key) => ({ ...rowOf(key), value: value() })),
      remove: (plan.remove ?? []).map(rowOf),
    },
    names: { take: plan.take ?? [], release: plan.release ?? [] },
    counters: Object.fromEntries(plan.counters ?? []),
    moved: plan.moved ? { from: plan.moved[0], to: plan.moved[1] } : null,
    ...(plan.ends && { ends: true }),
    ...(plan.events && { events: plan.events }),
    ...(plan.call !== undefined && { call: plan.call }),
  };
}

function rowKey({ view, key }: Step['rows']['remove'][number]): Key {
  return [view, ...key];
}

/** Undefined for an empty list, which JSON then omits. */
function some<From, To>(list: readonly From[], of: (one: From) => To): readonly To[] | undefined {
  return list.length === 0 ? undefined : list.map(of);
}
