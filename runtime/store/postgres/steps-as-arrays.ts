/**
 * Encodes steps as the parameters of the function `commit_steps` (`schema.ts`): one array per column, for all steps of
 * a group.
 */
import { parseEffectKey } from '../../model/keys.ts';
import type { ActorAddress, Bytes, Committed, Revision, Step } from '../../model/ports.ts';
import { STATE_INDEX_VIEW, stateCounterName, stateIndexKey } from '../../step/derive.ts';
import { inBlocks } from '../packed/row-blocks.ts';
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

/**
 * Columns of JSON. They go to the server as one text with a line for each value, an empty one for null: JSON has no
 * line feed, and writing and reading an array of texts takes several times as long.
 */
const JSON_COLUMNS: ReadonlySet<string> = new Set([
  'body',
  'effectBody',
  'armBody',
  'putValue',
  'line',
  'told',
]);

/** Parameters of the call: session, columns of steps, for each group its ends and its columns, texts for others. */
export const COMMIT_STEPS = `SELECT outcomes, taken_names, holders, change FROM commit_steps(${[
  'session',
  ...PER_STEP,
  ...LISTS.flatMap((columns) => ['end', ...columns]),
  'told',
]
  .map((column, at) => (JSON_COLUMNS.has(column) ? `string_to_array($${at + 1}, E'\\n', '')` : `$${at + 1}`))
  .join(', ')})`;

/**
 * Encodes one step with checked keys (`checkStepKeys`).
 * @param hasBlocks all nodes read blocks of rows (`row-blocks.ts`). @default false
 */
export function encodeStep(step: Step, hasBlocks = false): EncodedStep {
  const { actor, rows, timers } = step;
  const { kind, id } = actor.address;
  const own = [kind, id] as const;
  const { remove, put, counters } = withStateIndex(step);
  const rowsPut = [...rows.put, ...put].map(({ view, key, value }) => ({
    key: [view, ...key],
    value: JSON.stringify(value),
  }));
  const stored = hasBlocks ? inBlocks(rowsPut) : rowsPut;
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
      putKey: stored.map(({ key }) => encodeKey(key)),
      putValue: stored.map(({ value }) => value),
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
    return JSON_COLUMNS.has(name) ? all.join('\n') : all;
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
  parameters.push(isReported ? steps.map(changeText).join('\n') : null);
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

/** Facts of a step that every observer reads; the rest is for few of them. */
type ChangeHead = readonly [
  kind: string,
  id: string,
  revision: Revision,
  version: number,
  state: string,
  journalHash: string | null,
  ends: boolean,
  counters: readonly (readonly [string, number])[],
];

/** Only the end of a head has this text: quotation marks inside of a value are escaped, and a head has no members. */
const BEFORE_HEAD = '{"head":';
const AFTER_HEAD = ',"actor":';

/**
 * Text of a step for other nodes: what observers read, its head first. Its work belongs to the node that committed it.
 * Nodes of earlier versions read all but the head.
 */
export function changeText({ step, columns }: EncodedStep): string {
  const { actor, basedOn, rows, names, counters, moved, ends, events } = step;
  const { address, revision, version, state, journalHash = null } = actor;
  const counted = Object.entries(counters);
  const head: ChangeHead = [
    address.kind,
    address.id,
    revision,
    version,
    state,
    journalHash,
    ends === true,
    counted,
  ];
  const body = columns['body']?.[0] ?? JSON.stringify(actor);
  const others = JSON.stringify({ basedOn, rows, names, counters, moved, ends, events }).slice(1);
  return `${BEFORE_HEAD}${JSON.stringify(head)}${AFTER_HEAD}${body},"journal":[${columns['line']}],${others}`;
}

/** Reads the result of `changeText`, which has one line. What is behind the head is parsed when it is read. */
export function parseChange(text: string): Step {
  const none = { effects: [], settles: null, dropsEffects: false, timers: { arm: [], disarm: [] } };
  type Whole = Omit<Step, keyof typeof none>;
  // A node of an earlier version wrote it.
  if (!text.startsWith(BEFORE_HEAD)) return { ...none, ...(JSON.parse(text) as Whole) };
  const [kind, id, revision, version, state, journalHash, ends, counters] = JSON.parse(
    text.slice(BEFORE_HEAD.length, text.indexOf(AFTER_HEAD)),
  ) as ChangeHead;
  let parsed: Whole | undefined;
  const whole = (): Whole => {
    parsed ??= JSON.parse(text) as Whole;
    return parsed;
  };
  return {
    ...none,
    actor: {
      address: { kind, id },
      revision,
      version,
      state,
      ...(journalHash !== null && { journalHash }),
      get context() {
        return whole().actor.context;
      },
      get timers() {
        return whole().actor.timers;
      },
      get consumed() {
        return whole().actor.consumed;
      },
      get journalLength() {
        return whole().actor.journalLength;
      },
      get stopped() {
        return whole().actor.stopped;
      },
    },
    basedOn: revision - 1,
    counters: Object.fromEntries(counters),
    ...(ends && { ends }),
    get journal() {
      return whole().journal;
    },
    get rows() {
      return whole().rows;
    },
    get names() {
      return whole().names;
    },
    get moved() {
      return whole().moved;
    },
    get events() {
      return whole().events;
    },
  };
}

/** Returns the outcome of the step at `index`. */
export function outcomeOf(row: CommitRow, index: number): Committed {
  const outcome = row.outcomes[index];
  if (outcome === 'ok') return { ok: true };
  if (outcome !== 'taken') return { ok: false, reason: outcome ?? 'stale' };
  const [kind, id] = decodeKey(row.holders[index] ?? Buffer.alloc(0));
  return {
    ok: false,
    reason: 'taken',
    name: row.taken_names[index]?.toString() ?? '',
    holder: { kind: String(kind), id: String(id) },
  };
}
