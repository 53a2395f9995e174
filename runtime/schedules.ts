/** Recurring messages to actors. A schedule is an actor itself: its next time is a stored deadline, each run one step. */
import { assign, setup } from 'xstate';
import type { Runtime, Schedules } from './create-runtime.ts';
import { type Actor, defineActor, type EventOf } from './model/actor.ts';
import { lastCron, nextCron } from './model/cron.ts';
import { Fatal } from './model/failures.ts';
import { jsonType } from './model/json.ts';
import { addressProblem, eventProblem } from './model/message-checks.ts';
import { numberProblem } from './model/options.ts';
import type { ActorAddress, ActorEvent, AfterQuery, Json, Millis } from './model/ports.ts';
import { marked, SEND_EFFECT } from './model/requests.ts';

/** Kind of the actors that are schedules. */
const KIND = 'runtime.schedule';

/** Age up to which a run counts as late, not as missed, milliseconds. */
const LATE_MS = 60_000;

const MIN_INTERVAL_MS = 1000;

/** Schedules read together. */
const PAGE = 256;

type When =
  | { readonly everyMs: Millis; readonly cron?: never; readonly timeZone?: never }
  | { readonly cron: string; readonly timeZone?: string; readonly everyMs?: never };

type WithoutDue<Event> = Event extends unknown ? Omit<Event, 'due'> : never;

export type ScheduleOptions<Receiver extends Actor> = When & {
  readonly to: Receiver;
  /** Id of the receiver. One that does not exist gets a dead letter. */
  readonly id: string;
  /** The message; the runtime adds `due`, the time for which it is. */
  readonly event: WithoutDue<EventOf<Receiver>>;
  /**
   * Runs whose time passed while no process ran: `one` for the last of them, `all` one after the other, `none` of those
   * that are more than a minute old. @default one
   */
  readonly missed?: 'one' | 'all' | 'none';
  /**
   * A run that the receiver does not accept because its state is still that of the last run: `skip` leaves it out, `queue`
   * keeps it and those after it, in their order, until it is accepted. @default it becomes a dead letter
   */
  readonly overlap?: 'skip' | 'queue';
};

interface Spec {
  readonly everyMs?: Millis;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly missed: 'one' | 'all' | 'none';
  /** JSON leaves it out where it is not given. */
  readonly overlap?: 'skip' | 'queue' | undefined;
  /** Version of the list that it is from. @default 1 */
  readonly version?: number;
  readonly to: ActorAddress;
  readonly event: ActorEvent;
}

/** A schedule for `schedules`; `schedule` makes one. */
export interface Schedule {
  readonly name: string;
  readonly spec: object;
}

/**
 * Defines a schedule: every `everyMs` from its first start, or at the times of `cron` (minute, hour, day of month, month,
 * day of week) in a time zone, UTC by default. The name is stored. Throws `schedule.malformed`.
 */
export function schedule<Receiver extends Actor>(name: string, options: ScheduleOptions<Receiver>): Schedule {
  const { to, id, event, missed = 'one', overlap, everyMs, cron, timeZone = 'UTC' } = options;
  const address = { kind: to?.kind, id };
  const problem =
    name === ''
      ? 'A schedule needs a name.'
      : (addressProblem({ kind: KIND, id: name }) ??
        addressProblem(address) ??
        eventProblem(event) ??
        (cron === undefined
          ? numberProblem({ everyMs: everyMs ?? Number.NaN }, { everyMs: [MIN_INTERVAL_MS] })
          : undefined) ??
        choiceProblem(options));
  if (problem !== undefined) throw new Fatal('schedule.malformed', `"${name}": ${problem}`);
  if (cron !== undefined) nextCron(cron, timeZone, 0);
  const when = cron === undefined ? { everyMs } : { cron, timeZone };
  return { name, spec: { ...when, missed, ...(overlap && { overlap }), to: address, event } };
}

function choiceProblem({
  missed = 'one',
  overlap = 'skip',
  cron,
  everyMs,
  timeZone,
}: object & {
  readonly missed?: unknown;
  readonly overlap?: unknown;
  readonly cron?: unknown;
  readonly everyMs?: unknown;
  readonly timeZone?: unknown;
}): string | undefined {
  if (!['one', 'all', 'none'].includes(String(missed)))
    return `\`missed\` is ${String(missed)}, not one, all or none.`;
  if (!['skip', 'queue'].includes(String(overlap)))
    return `\`overlap\` is ${String(overlap)}, not skip or queue.`;
  if (cron === undefined ? timeZone !== undefined : everyMs !== undefined)
    return 'It has `everyMs`, or `cron` with `timeZone`, not both.';
  return undefined;
}

function nextTime({ everyMs = 0, cron, timeZone = 'UTC' }: Spec, due: Millis, after: Millis): Millis {
  if (cron !== undefined) return nextCron(cron, timeZone, after);
  return due + Math.max(0, Math.floor((after - due) / everyMs) + 1) * everyMs;
}

/** Returns the time for which a run at `at` is: the stored one, or the last one that has passed. */
function runTime({ everyMs = 0, cron, timeZone = 'UTC', missed }: Spec, due: Millis, at: Millis): Millis {
  if (missed === 'all' || at <= due) return due;
  if (cron !== undefined) return lastCron(cron, timeZone, due, at) ?? due;
  return due + Math.floor((at - due) / everyMs) * everyMs;
}

/** A list of a lower version leaves a stored schedule as it is. */
function versionOf({ version = 1 }: Spec): number {
  return version;
}

/** True for schedules with the same times. */
function haveSameTimes(one: Spec, other: Spec): boolean {
  return one.everyMs === other.everyMs && one.cron === other.cron && one.timeZone === other.timeZone;
}

interface Context {
  readonly spec: Spec;
  /** Next run. */
  readonly due: Millis;
  /** Last run; null before the first. */
  readonly last: Millis | null;
  readonly at: Millis;
}

const CONTEXT = jsonType<Context>();

/** The runtime stamps each event. */
function timeOf(event: object, context: Context): Millis {
  return (event as { readonly at?: Millis }).at ?? context.at;
}

/** A run of a schedule, which is a message to its actor. */
interface SentRun {
  readonly to: ActorAddress;
  readonly event: object;
  readonly overlap?: 'skip' | 'queue' | undefined;
}

const SCHEDULE = defineActor(KIND, {
  version: 1,
  machine: setup({
    types: {} as {
      context: Context;
      input: { spec: Spec; at: Millis };
      events: { type: 'CONFIGURE'; spec: Spec };
    },
    // At least 1: a deadline at the time of the one before would be taken for that one, and tried again later.
    delays: { due: ({ context, event }) => Math.max(1, context.due - timeOf(event, context)) },
    guards: {
      isOther: ({ context, event }) =>
        versionOf(event.spec) >= versionOf(context.spec) &&
        JSON.stringify(context.spec) !== JSON.stringify(event.spec),
      isMissed: ({ context, event }) => {
        const at = timeOf(event, context);
        return context.spec.missed === 'none' && at - runTime(context.spec, context.due, at) > LATE_MS;
      },
    },
    actions: {
      send: marked<SentRun>({
        request: (params) => ({
          kind: 'effect',
          effect: { do: SEND_EFFECT, ...(params as { readonly [member: string]: Json }) },
        }),
      }),
      configure: assign(({ context, event }) => {
        const at = timeOf(event, context);
        const due = haveSameTimes(context.spec, event.spec)
          ? context.due
          : nextTime(event.spec, at + (event.spec.everyMs ?? 0), at);
        return { spec: event.spec, due };
      }),
      skip: assign(({ context, event }) => ({
        due: nextTime(context.spec, context.due, timeOf(event, context)),
      })),
      run: assign(({ context, event }) => {
        const last = runTime(context.spec, context.due, timeOf(event, context));
        return { last, due: nextTime(context.spec, context.due, last) };
      }),
    },
  }).createMachine({
    context: ({ input: { spec, at } }) => {
      return { spec, at, last: null, due: nextTime(spec, at + (spec.everyMs ?? 0), at) };
    },
    initial: 'waiting',
    states: {
      waiting: {
        on: { CONFIGURE: { guard: 'isOther', target: 'waiting', reenter: true, actions: 'configure' } },
        after: {
          due: [
            { guard: 'isMissed', target: 'waiting', reenter: true, actions: 'skip' },
            {
              target: 'waiting',
              reenter: true,
              actions: [
                'run',
                {
                  type: 'send',
                  params: ({ context: { spec, last } }) => ({
                    to: spec.to,
                    ...(spec.overlap && { overlap: spec.overlap }),
                    event: { ...spec.event, due: last },
                  }),
                },
              ],
            },
          ],
        },
      },
    },
  }),
});

/** The actors that are schedules; `shardActors` needs it beside those of the program. */
export const scheduleActor: Actor = SCHEDULE;

/** A schedule as it is stored. */
export interface StoredSchedule {
  readonly name: string;
  /** Next run. */
  readonly due: Millis;
  /** Time for which the last run was; null before the first. */
  readonly last: Millis | null;
  readonly to: ActorAddress;
}

/**
 * Recurring messages for `createRuntime({ schedules })`. The list of the node that started last counts: stored schedules
 * that are not in it end. An empty list ends all of them; without a list, a store that has some is refused. Throws
 * `runtime.options`.
 * @param options.version a list of a lower version than that of a stored schedule neither ends nor changes it: increase
 *   it with each change of the list where nodes are replaced one by one. @default 1
 */
export function schedules(
  list: readonly Schedule[],
  { version = 1 }: { readonly version?: number } = {},
): Schedules {
  const problem = numberProblem({ version }, { version: [1] });
  if (problem !== undefined) throw new Fatal('runtime.options', problem);
  const names = new Set(list.map(({ name }) => name));
  if (names.size < list.length) throw new Fatal('runtime.options', 'Two schedules have one name.');
  return {
    actor: scheduleActor,
    async store({ system, store }, kinds, now) {
      const specs = list.map(({ name, spec }) => ({
        address: { kind: KIND, id: name },
        spec: { ...(spec as Spec), ...(version > 1 && { version }) },
      }));
      for (const { address, spec } of specs)
        if (!kinds.has(spec.to.kind))
          throw new Fatal(
            'runtime.options',
            `"${address.id}": "${spec.to.kind}" is not among the \`actors\` of this runtime.`,
          );
      for (const { address, spec } of specs) {
        const outcome = await system.create(address, { spec, at: now });
        if (!outcome.accepted) await system.send(address, { type: 'CONFIGURE', spec });
      }
      const stored = await pagesOf(
        (page) => store.actors({ kind: KIND, ...page }),
        ({ address }) => address.id,
      );
      for (const { address, context } of stored)
        if (!names.has(address.id) && versionOf(CONTEXT.read(context).spec) <= version)
          await system.end(address);
    },
  };
}

/** Lists the stored schedules by name, of a runtime that has `schedules`. */
export async function storedSchedules(runtime: Pick<Runtime, 'list'>): Promise<readonly StoredSchedule[]> {
  const stored = await pagesOf(
    (page) => runtime.list(SCHEDULE, page),
    ({ id }) => id,
  );
  return stored.map(({ id, context: { due, last, spec } }) => ({ name: id, due, last, to: spec.to }));
}

async function pagesOf<One>(
  read: (page: AfterQuery) => Promise<readonly One[]>,
  idOf: (one: One) => string,
): Promise<readonly One[]> {
  const found: One[] = [];
  for (;;) {
    const last = found.at(-1);
    const page = await read({ limit: PAGE, ...(last !== undefined && { after: idOf(last) }) });
    if (page.length === 0) return found;
    found.push(...page);
  }
}
