/**
 * Inspects actors: their number, states, reasons, and pending work. Reads indexes and single actors only; costs nothing
 * while unused.
 */
import type { ActorHost, KindTraffic } from '../host/actor-host.ts';
import type { Actor } from '../model/actor.ts';
import type { ActorDefinition } from '../model/definition.ts';
import { stateNames } from '../model/machine-shape.ts';
import type { ActorAddress, ActorStore, JournalLine, Json, Millis } from '../model/ports.ts';
import { parseStateCounter, STATE_INDEX_PREFIX, STOPPED_PREFIX } from '../step/derive.ts';
import { viewOf } from '../step/step.ts';
import {
  type ActorPage,
  type ActorQuery,
  type ActorSummary,
  actorPage,
  type EffectReport,
  effectReport,
  mailboxDepths,
  summaryOf,
} from './actor-pages.ts';
import { type MachineChart, machineChart } from './machine-chart.ts';
import {
  type EffectQuery,
  effectsPage,
  type Page,
  type PendingEffect,
  type PendingTimer,
  type TimerQuery,
  timersPage,
} from './pending-work.ts';
import { redacted, redactedText } from './redact.ts';

/** Newest history lines shown with an actor, and number of its children. */
const HISTORY = 100;
const CHILDREN = 100;

/** Summary of all actors of one kind. */
export interface KindReport {
  readonly kind: string;
  /** Version of the machine. */
  readonly version: number;
  readonly count: number;
  readonly states: { readonly [state: string]: number };
  /** Stopped actors. */
  readonly stopped: number;
  /** Actors with a message in progress. */
  readonly awake: number;
  /** Messages of the fullest mailbox, including the one in progress. */
  readonly deepestMailbox: number;
  /** Since the start of the process. */
  readonly accepted: number;
  readonly refused: number;
  readonly restarts: number;
  /** Messages a second over the last minute. */
  readonly perSecond: number;
  readonly lastError: { readonly actor: string; readonly message: string } | null;
}

export interface ActorReport extends ActorSummary {
  /** Version of the machine that wrote the state. */
  readonly version: number;
  /** The context, redacted. */
  readonly context: Json;
  /** Events the machine names for this state; a guard may still refuse one. */
  readonly accepts: readonly string[];
  readonly timers: readonly { readonly name: string; readonly due: Millis }[];
  readonly effects: readonly (EffectReport & { readonly effect: Json })[];
  /** The newest lines, in ascending order, without their details: those of documents name people and addresses. */
  readonly history: readonly Omit<JournalLine, 'data'>[];
  readonly parent: ActorAddress | null;
  /** Existing actors that name this one as their parent, newest first where the order is known; at most a hundred. */
  readonly children: readonly ActorAddress[];
  /** Number of the thread that hosts the actor. */
  readonly shard: number;
}

export class Inspector {
  constructor(
    private readonly store: ActorStore,
    private readonly definitions: ReadonlyMap<string, ActorDefinition>,
    private readonly host: Pick<ActorHost, 'reports' | 'shardOf'>,
  ) {}

  /** Number of stopped actors, and of failed effects that are retried. */
  async stoppedActors(): Promise<{ readonly stopped: number; readonly failing: number }> {
    const { store } = this;
    const stopped = Object.values(await store.counters(STOPPED_PREFIX));
    return {
      stopped: stopped.reduce((sum, count) => sum + count, 0),
      failing: await store.failedEffectCount(),
    };
  }

  /** Lists all kinds, also those without an actor. */
  async kinds(): Promise<readonly KindReport[]> {
    const { store, definitions, host } = this;
    const stateCounts = parseStateCounter(await store.counters(STATE_INDEX_PREFIX));
    const stopped = await store.counters(STOPPED_PREFIX);
    const awake = new Map<string, { count: number; deepest: number }>();
    const reports = await host.reports();
    for (const [actor, depth] of reports.flatMap(({ mailboxes }) => mailboxes)) {
      const kind = actor.slice(0, actor.indexOf('/'));
      const seen = awake.get(kind) ?? { count: 0, deepest: 0 };
      awake.set(kind, { count: seen.count + 1, deepest: Math.max(seen.deepest, depth) });
    }
    return [...definitions.values()].map(({ kind, version }) => {
      const states: { [state: string]: number } = {};
      let count = 0;
      for (const line of stateCounts) {
        if (line.kind !== kind) continue;
        states[line.state] = (states[line.state] ?? 0) + line.count;
        count += line.count;
      }
      return {
        kind,
        version,
        count,
        states,
        stopped: stopped[STOPPED_PREFIX + kind] ?? 0,
        awake: awake.get(kind)?.count ?? 0,
        deepestMailbox: awake.get(kind)?.deepest ?? 0,
        ...sumReports(reports.map(({ traffic }) => traffic[kind])),
      };
    });
  }

  /** Returns the definition of a kind, for calls that name it by a text; undefined for an unknown kind. */
  definition(kind: string): Actor | undefined {
    return this.definitions.get(kind);
  }

  /** Lists the states of actors of this kind; undefined for an unknown kind. */
  states(kind: string): readonly string[] | undefined {
    const definition = this.definitions.get(kind);
    return definition && stateNames(definition);
  }

  /** Returns states and transitions of this kind; undefined for an unknown kind. */
  chart(kind: string): MachineChart | undefined {
    const definition = this.definitions.get(kind);
    return definition && machineChart(definition);
  }

  /** One page of the actors of one kind, in the order of their ids; undefined for an unknown kind. */
  async list(query: ActorQuery): Promise<ActorPage | undefined> {
    const { store, definitions, host } = this;
    return definitions.has(query.kind) ? actorPage(store, () => host.reports(), query) : undefined;
  }

  /** Returns the details of one actor; undefined when there is none. */
  async actor(address: ActorAddress): Promise<ActorReport | undefined> {
    const { store, definitions, host } = this;
    const definition = definitions.get(address.kind);
    const stored = await store.load(address);
    if (definition === undefined || stored === undefined) return undefined;
    const effects = await store.pendingEffects(address);
    const history = await store.journal(address, { after: Math.max(0, stored.journalLength - HISTORY) });
    const view = viewOf(stored);
    const children = await definition.children?.(view, store, CHILDREN);
    const trouble = effects.find(({ failures }) => failures > 0);
    return {
      ...summaryOf(stored, mailboxDepths(await host.reports())),
      trouble: trouble ? effectReport(trouble) : null,
      version: stored.version,
      context: redacted(stored.context, definition.secrets),
      accepts: acceptedEvents(definition, stored.state),
      timers: Object.entries(stored.timers).map(([name, due]) => ({ name, due })),
      effects: effects.map((effect) => ({
        ...effectReport(effect),
        effect: redacted(effect.effect, definition.secrets),
      })),
      history: history.map(({ data: _, ...line }) => ({ ...line, message: redactedText(line.message) })),
      parent: definition.parent?.(view) ?? null,
      children: await this.#present((children ?? []).slice(0, CHILDREN)),
      shard: host.shardOf(address),
    };
  }

  /** Deadlines of all actors and nodes, earliest first. Throws `runtime.options`. */
  timers(query: TimerQuery = {}): Promise<Page<PendingTimer>> {
    return timersPage(this.store, query);
  }

  /** Pending effects of all actors and nodes, by kind, id and revision of the actor. Throws `runtime.options`. */
  effects(query: EffectQuery = {}): Promise<Page<PendingEffect>> {
    return effectsPage(this.store, this.definitions, query);
  }

  /** Returns those that exist. */
  async #present(addresses: readonly ActorAddress[]): Promise<readonly ActorAddress[]> {
    const stored = await Promise.all(addresses.map((address) => this.store.load(address)));
    return addresses.filter((_, at) => stored[at] !== undefined);
  }
}

/** Sums the traffic of several threads for one kind. */
function sumReports(traffic: readonly (KindTraffic | undefined)[]): KindTraffic {
  const sum = {
    accepted: 0,
    refused: 0,
    restarts: 0,
    perSecond: 0,
    lastError: null as KindTraffic['lastError'],
  };
  for (const one of traffic) {
    if (one === undefined) continue;
    sum.accepted += one.accepted;
    sum.refused += one.refused;
    sum.restarts += one.restarts;
    sum.perSecond += one.perSecond;
    sum.lastError ??= one.lastError && { ...one.lastError, message: redactedText(one.lastError.message) };
  }
  return sum;
}

/** Lists the events of the state and of its parent states, without deadlines. */
function acceptedEvents(definition: ActorDefinition, state: string): readonly string[] {
  let node = definition.machine.root;
  const nodes = [node];
  for (const part of state === '' ? [] : state.split('.')) {
    const inner = node.states[part];
    if (inner === undefined) break;
    node = inner as typeof node;
    nodes.push(node);
  }
  const events = nodes.flatMap((one) => [...one.transitions.keys()].map(String));
  return [...new Set(events)].filter((name) => !name.startsWith('xstate.')).sort();
}
