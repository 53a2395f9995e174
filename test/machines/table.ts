/**
 * Reads the transition table out of a machine's docstring and compares it with the machine itself:
 * every row happens as written, and every state × event without a row changes nothing.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type AnyStateMachine, getInitialSnapshot, transition } from 'xstate';

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

/** Rows of the first `| from | event | to | effects |` table of the file. */
export async function readTable(file: string): Promise<readonly TableRow[]> {
  const lines = (await readFile(`${root}${file}`, 'utf8'))
    .split('\n')
    .map((line) => line.replace(/^ \* ?/, ''));
  const start = lines.findIndex((line) => /^\| from +\| event/.test(line));
  if (start < 0) throw new Error(`${file} has no transition table`);
  const rows: TableRow[] = [];
  for (const line of lines.slice(start + 2)) {
    if (!line.startsWith('|')) break;
    const [, from = '', event = '', to = '', effects = '', condition = ''] = line
      .split('|')
      .map((cell) => cell.trim());
    rows.push({
      from,
      event,
      to,
      effects: effects
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
      condition,
    });
  }
  return rows;
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
  const actions: readonly { readonly type: string; readonly params: unknown }[] = executed as never;
  const effects = actions
    .filter((action) => action.type === 'effect')
    .map((action) => (action.params as { do: string }).do);
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
