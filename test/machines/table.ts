/**
 * Reads the transition table out of a machine's docstring and compares it with the machine itself:
 * every row happens as written, and every state × event without a row changes nothing.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { type AnyStateMachine, getInitialSnapshot, transition } from 'xstate';
import { markOf } from '#runtime/model/requests.js';

export interface TableRow {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly effects: readonly string[];
  /** Text after the last bar: a condition in words. */
  readonly condition: string;
}

/** The repository's root, found from a compiled test (`dist…/test/machines/`). */
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Rows of the first `| from | message | to | effects |` table of the file. */
export async function readTable(file: string): Promise<readonly TableRow[]> {
  const cells = await cellsBelow(file, /^\| from +\| message/);
  return cells.map(([from = '', event = '', to = '', effects = '', condition = '']) => ({
    from,
    event,
    to,
    effects: effects
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
    condition,
  }));
}

/** Names of the cases of the first `| case | … |` table of the file, in its order. */
export async function readCases(file: string): Promise<readonly string[]> {
  return (await cellsBelow(file, /^\| case +\|/)).map(([name = '']) => name);
}

async function cellsBelow(file: string, heading: RegExp): Promise<readonly (readonly string[])[]> {
  const lines = (await readFile(`${root}${file}`, 'utf8'))
    .split('\n')
    .map((line) => line.replace(/^ \* ?/, ''));
  const start = lines.findIndex((line) => heading.test(line));
  if (start < 0) throw new Error(`${file} has no such table`);
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim()),
  );
}

export interface Outcome {
  readonly to: string;
  readonly effects: readonly string[];
  readonly context: object;
  /** False when the machine does not want the event: same snapshot and nothing asked for. */
  readonly accepted: boolean;
}

/** Runs one event in one state by pure transition. */
export function attempt(
  machine: AnyStateMachine,
  from: string,
  context: object,
  event: { readonly type: string; readonly [field: string]: unknown },
): Outcome {
  const snapshot = machine.resolveState({ value: from, context });
  const [next, executed] = transition(machine, snapshot, event as never);
  const actions: readonly { readonly params: unknown; readonly exec: unknown }[] = executed as never;
  const effects = actions.flatMap(({ params, exec }) => {
    const request = markOf(exec)?.request(params);
    return request?.kind === 'effect' ? [String(request.effect.do)] : [];
  });
  const after = next.context as object;
  return {
    to: next.value as string,
    effects,
    context: after,
    accepted: next !== snapshot || actions.length > 0,
  };
}

/** Context of a machine just made from its input. */
export function initialContext(machine: AnyStateMachine, input: unknown): object {
  return getInitialSnapshot(machine, input as never).context as object;
}

/** Every state and event name the machine itself declares. */
export function declared(machine: AnyStateMachine): {
  readonly states: readonly string[];
  readonly events: readonly string[];
} {
  return { states: Object.keys(machine.states), events: [...machine.events] };
}

export interface Agreement {
  readonly file: string;
  readonly machine: AnyStateMachine;
  /** The rest of one message of every type, complete enough for each transition. */
  readonly events: Readonly<Record<string, object>>;
  /** Context in which a message of the type is accepted, where the state permits it. */
  readonly contextOf: (type: string) => object;
}

/** Sends every message in every state: each does what its row in the table of the file says, or nothing without a row. */
export async function assertAgreement(t: ExecutionContext, { file, machine, events, contextOf }: Agreement) {
  const table = await readTable(file);
  const { states, events: names } = declared(machine);
  t.deepEqual([...states].sort(), [...new Set(table.flatMap(({ from, to }) => [from, to]))].sort());
  const keys = table.map(({ from, event, condition }) => `${from} ${event} ${condition}`);
  t.is(keys.length, new Set(keys).size, 'no row twice');
  const own = names.filter((name) => !name.startsWith('xstate.'));
  t.deepEqual([...own].sort(), Object.keys(events).sort());
  for (const from of states) {
    for (const type of own) {
      const row = table.find((candidate) => candidate.from === from && candidate.event === type);
      const outcome = attempt(machine, from, contextOf(type), { type, at: 9, ...events[type] });
      t.is(outcome.accepted, row !== undefined, `${from} × ${type}`);
      if (row) t.deepEqual([outcome.to, outcome.effects], [row.to, row.effects], `${from} × ${type}`);
    }
    const deadlines = names.filter((name) => name.startsWith('xstate.after.') && name.endsWith(`.${from}`));
    const written = table.filter((row) => row.from === from && row.event.startsWith('after '));
    t.is(deadlines.length, written.length, `deadlines in ${from}`);
    for (const [index, type] of deadlines.entries())
      t.is(attempt(machine, from, contextOf(type), { type, at: 9 }).to, written[index]?.to ?? '');
  }
}
