/**
 * Encodes steps as the parameters of the function `commit_steps` (`schema.ts`): one array per column, for all steps of
 * a group.
 */
import { parseEffectKey } from '../../model/keys.ts';
import type { ActorAddress, Bytes, Committed, Step } from '../../model/ports.ts';
import { STATE_INDEX_VIEW, stateCounterName, stateIndexKey } from '../../step/derive.ts';
import { decodeKey, encodeKey } from './key-bytes.ts';

/** Key of an actor. */
export function actorKey({ kind, id }: ActorAddress): Bytes {
  return encodeKey([kind, id]);
}

/** Key of an effect. Throws `store.key-malformed`. */
export function effectKey(key: string): Bytes {
  return encodeKey(parseEffectKey(key));
}

/** Content of the column `body` of an effect. */
export interface EffectBody {
  readonly key: string;
  readonly actor: ActorAddress;
  readonly effect: unknown;
}

/** A step with checked keys and JSON values, so that its sender may change its objects. */
export interface EncodedStep {
  readonly step: Step;
  readonly columns: { readonly [column: string]: readonly unknown[] };
}

/** Columns with one value per step. */
const PER_STEP = ['key', 'basedOn', 'body', 'settles', 'drops'] as const;

/** Groups of columns with any number of values per step; their order is that of the parameters. */
const LISTS = [
  ['take'],
  ['release'],
  ['effectKey', 'effectQueue', 'effectDue', 'effectFailures', 'effectError', 'effectBody'],
  ['disarm'],
  ['armKey', 'armDue', 'armBody'],
  ['remove'],
  ['putKey', 'putValue'],
  ['lineId', 'line'],
  ['counterName', 'counterChange'],
] as const;

/** Placeholders of the call: session, columns of steps, for each group its ends and its columns, texts for others. */
export const COMMIT_STEPS = `SELECT outcomes, taken_names, holders, change FROM commit_steps(${Array.from(
  { length: 2 + PER_STEP.length + LISTS.reduce((sum, columns) => sum + 1 + columns.length, 0) },
  (_, at) => `$${at + 1}`,
).join(', ')})`;

/** Encodes one step with checked keys (`checkStepKeys`). */
export function encodeStep(step: Step): EncodedStep {
  const { actor, rows, timers } = step;
  const { kind, id } = actor.address;
  const own = [kind, id] as const;
  const { remove, put, counters } = withStateIndex(step);
  const arm = timers.arm.map(({ name, due, event }) => ({
    key: encodeKey([due, ...own, name]),
    due,
    body: JSON.stringify({ actor: actor.address, name, event }),
  }));
  return {
    step,
    columns: {
      key: [actorKey(actor.address)],
      basedOn: [step.basedOn],
      body: [step.ends ? null : JSON.stringify(actor)],
      settles: [step.settles === null ? null : effectKey(step.settles)],
      drops: [step.dropsEffects],
      take: step.names.take.map((name) => Buffer.from(name)),
      release: step.names.release.map((name) => Buffer.from(name)),
      effectKey: step.effects.map(({ key }) => effectKey(key)),
      effectQueue: step.effects.map(({ partition }) =>
        partition === undefined ? null : Buffer.from(partition),
      ),
      effectDue: step.effects.map(({ dueAt }) => dueAt),
      effectFailures: step.effects.map(({ failures }) => failures),
      effectError: step.effects.map(({ lastError }) =>
        lastError === null ? null : JSON.stringify(lastError),
      ),
      effectBody: step.effects.map(({ key, actor: address, effect }) =>
        JSON.stringify({ key, actor: address, effect } satisfies EffectBody),
      ),
      disarm: timers.disarm.map(({ name, due }) => encodeKey([due, ...own, name])),
      armKey: arm.map(({ key }) => key),
      armDue: arm.map(({ due }) => due),
      armBody: arm.map(({ body }) => body),
      remove: [...rows.remove, ...remove].map(({ view, key }) => encodeKey([view, ...key])),
      putKey: [...rows.put, ...put].map(({ view, key }) => encodeKey([view, ...key])),
      putValue: [...rows.put, ...put].map(({ value }) => JSON.stringify(value)),
      lineId: step.journal.map((line) => line.id),
      line: step.journal.map((line) => JSON.stringify(line)),
      counterName: counters.map(([name]) => Buffer.from(name)),
      counterChange: counters.map(([, by]) => by),
    },
  };
}

/** Rows and counters derived from the actor's state (`derive.ts`), with the counters of the step. */
function withStateIndex({ actor, moved, counters }: Step) {
  const { kind, id } = actor.address;
  const counted = Object.entries(counters);
  const remove: { view: string; key: readonly string[] }[] = [];
  const put: { view: string; key: readonly string[]; value: null }[] = [];
  if (moved?.from) {
    counted.push([stateCounterName(kind, moved.from), -1]);
    remove.push({ view: STATE_INDEX_VIEW, key: stateIndexKey(kind, moved.from, id) });
  }
  if (moved?.to) {
    counted.push([stateCounterName(kind, moved.to), 1]);
    put.push({ view: STATE_INDEX_VIEW, key: stateIndexKey(kind, moved.to, id), value: null });
  }
  return { remove, put, counters: counted };
}

/** Builds the parameters of `COMMIT_STEPS`. `isReported`: the steps are reported to other nodes. */
export function commitParameters(
  session: number,
  steps: readonly EncodedStep[],
  isReported: boolean,
): unknown[] {
  const parameters: unknown[] = [session];
  // `flatMap` costs several times as much.
  const column = (name: string) => {
    const all: unknown[] = [];
    for (const { columns } of steps) for (const value of columns[name] ?? []) all.push(value);
    return all;
  };
  for (const name of PER_STEP) parameters.push(column(name));
  for (const group of LISTS) {
    let end = 0;
    parameters.push(
      steps.map(({ columns }) => {
        end += columns[group[0]]?.length ?? 0;
        return end;
      }),
    );
    for (const name of group) parameters.push(column(name));
  }
  parameters.push(isReported ? steps.map(({ step }) => changeText(step)) : null);
  return parameters;
}

/** The row that `COMMIT_STEPS` returns. */
export interface CommitRow {
  readonly outcomes: readonly ('ok' | 'stale' | 'duplicate' | 'taken')[];
  readonly taken_names: readonly (Bytes | null)[];
  readonly holders: readonly (Bytes | null)[];
  /** Number of the row of `changes`; null when no other session exists, or nothing was stored. */
  readonly change: number | null;
}

/** Text of a step for other nodes: what observers read. Its work belongs to the node that committed it. */
export function changeText({
  actor,
  basedOn,
  journal,
  rows,
  names,
  counters,
  moved,
  ends,
  events,
}: Step): string {
  return JSON.stringify({ actor, basedOn, journal, rows, names, counters, moved, ends, events });
}

/** Reads the result of `changeText`. */
export function parseChange(text: string): Step {
  const none = { effects: [], settles: null, dropsEffects: false, timers: { arm: [], disarm: [] } };
  return { ...none, ...(JSON.parse(text) as Omit<Step, keyof typeof none>) };
}

/** Returns the outcome of the step at `index`. */
export function outcomeOf(row: CommitRow, index: number, durable: Promise<void>): Committed {
  const outcome = row.outcomes[index];
  if (outcome === 'ok') return { ok: true, durable };
  if (outcome !== 'taken') return { ok: false, reason: outcome ?? 'stale' };
  const [kind, id] = decodeKey(row.holders[index] ?? Buffer.alloc(0));
  return {
    ok: false,
    reason: 'taken',
    name: row.taken_names[index]?.toString() ?? '',
    holder: { kind: String(kind), id: String(id) },
  };
}
