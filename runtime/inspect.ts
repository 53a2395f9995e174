/**
 * Looks at actors while they live: how many there are, where each is and why, what it waits for. Reads indexes and
 * single actors only; costs nothing while nobody looks.
 */
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
import { CENSUS_PREFIX, parseCensus, STOPPED_PREFIX } from './census.ts';
import type { ActorDefinition } from './definition.ts';
import type { ActorHost } from './host.ts';
import type { ActorAddress, ActorStore, JournalLine, Json, Millis } from './ports.ts';
import { redacted, redactedText } from './redact.ts';
import { viewOf } from './step.ts';
import type { KindTraffic } from './traffic.ts';

/** History lines shown with an actor, newest ones, and its children. */
const HISTORY = 100;
const CHILDREN = 100;

/** All actors of one kind together. */
export interface KindReport {
  readonly kind: string;
  /** Version of the machine. */
  readonly version: number;
  readonly count: number;
  readonly states: { readonly [state: string]: number };
  /** Given up by supervision. */
  readonly stopped: number;
  /** With a message in work or waiting. */
  readonly awake: number;
  /** Messages of the fullest mailbox, the one in work included. */
  readonly deepestMailbox: number;
  /** Since the process began. */
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
  /** Without secrets. */
  readonly context: Json;
  /** Events the machine names for the state it is in; a guard may still refuse one. */
  readonly accepts: readonly string[];
  readonly timers: readonly { readonly name: string; readonly due: Millis }[];
  readonly effects: readonly (EffectReport & { readonly effect: Json })[];
  /** The newest lines, oldest of them first. */
  readonly history: readonly JournalLine[];
  readonly parent: ActorAddress | null;
  /** Those that are there and name this one as their parent, newest first where that is known; a hundred at most. */
  readonly children: readonly ActorAddress[];
  /** Number of the thread it lives on. */
  readonly shard: number;
}

export interface InspectorParts {
  readonly store: ActorStore;
  readonly definitions: ReadonlyMap<string, ActorDefinition>;
  readonly host: Pick<ActorHost, 'reports' | 'shardOf'>;
}

export class Inspector {
  readonly #parts: InspectorParts;

  constructor(parts: InspectorParts) {
    this.#parts = parts;
  }

  /** How many actors supervision has given up, and how many effects have failed and are tried again. */
  async trouble(): Promise<{ readonly stopped: number; readonly failing: number }> {
    const { store } = this.#parts;
    const stopped = Object.values(await store.counters(STOPPED_PREFIX));
    return { stopped: stopped.reduce((sum, count) => sum + count, 0), failing: await store.troubledCount() };
  }

  /** Every kind there is, also those without an actor. */
  async kinds(): Promise<readonly KindReport[]> {
    const { store, definitions, host } = this.#parts;
    const census = parseCensus(await store.counters(CENSUS_PREFIX));
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
      for (const line of census) {
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
        ...addedUp(reports.map(({ traffic }) => traffic[kind])),
      };
    });
  }

  /** One page of the actors of one kind, in the order of their ids; undefined for an unknown kind. */
  async list(query: ActorQuery): Promise<ActorPage | undefined> {
    const { store, definitions, host } = this.#parts;
    return definitions.has(query.kind) ? actorPage(store, () => host.reports(), query) : undefined;
  }

  /** One actor with all that is known of it; undefined when there is none. */
  async actor(address: ActorAddress): Promise<ActorReport | undefined> {
    const { store, definitions, host } = this.#parts;
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
      history: history.map((line) => ({ ...line, message: redactedText(line.message) })),
      parent: definition.parent?.(view) ?? null,
      children: await this.#present((children ?? []).slice(0, CHILDREN)),
      shard: host.shardOf(address),
    };
  }

  /** Those of them that are there. */
  async #present(addresses: readonly ActorAddress[]): Promise<readonly ActorAddress[]> {
    const stored = await Promise.all(addresses.map((address) => this.#parts.store.load(address)));
    return addresses.filter((_, at) => stored[at] !== undefined);
  }
}

/** What several threads did for one kind. */
function addedUp(traffic: readonly (KindTraffic | undefined)[]): KindTraffic {
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

/** Of the state and of all states around it; deadlines are not for others to send. */
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
