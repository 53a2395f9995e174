/**
 * Looks at actors while they live: how many there are, where each is and why, what it waits for. Reads indexes and
 * single actors only; costs nothing while nobody looks.
 */
import { CENSUS_PREFIX, CENSUS_VIEW, parseCensus, STOPPED_PREFIX, STOPPED_VIEW } from './census.ts';
import type { ActorDefinition } from './definition.ts';
import type { ActorHost } from './host.ts';
import type {
  ActorAddress,
  ActorStore,
  EffectKey,
  JournalLine,
  Json,
  Millis,
  StoredActor,
  StoredEffect,
} from './ports.ts';
import { redacted, redactedText } from './redact.ts';
import { viewOf } from './step.ts';
import { isEffectKey, isKey } from './store/keys.ts';
import type { KindTraffic } from './traffic.ts';

/** History lines shown with an actor, newest ones. */
const HISTORY = 100;

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

export interface ActorSummary {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
  readonly revision: number;
  /** Messages in work or waiting. */
  readonly mailbox: number;
  readonly stopped: StoredActor['stopped'];
  /** For actors found as stuck: the effect that failed. */
  readonly trouble: EffectReport | null;
}

export interface EffectReport {
  readonly key: EffectKey;
  readonly do: string;
  readonly dueAt: Millis;
  readonly failures: number;
  readonly lastError: string | null;
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
  readonly children: readonly ActorAddress[];
  /** Number of the thread it lives on. */
  readonly shard: number;
}

export interface ActorQuery {
  readonly kind: string;
  readonly state?: string | undefined;
  /** Only those with an effect that failed and is tried again. */
  readonly stuck?: boolean | undefined;
  /** Only those supervision has given up. */
  readonly stopped?: boolean | undefined;
  /** As the page before gave it. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface ActorPage {
  readonly items: readonly ActorSummary[];
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
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

  /** One page of the actors of one kind, in the order of state and id; undefined for an unknown kind. */
  async list(query: ActorQuery): Promise<ActorPage | undefined> {
    if (!this.#parts.definitions.has(query.kind)) return undefined;
    if (query.stopped) return this.#stopped(query);
    if (query.stuck) return this.#stuck(query);
    const { store } = this.#parts;
    const { kind, state, limit } = query;
    const prefix = state === undefined ? [kind] : [kind, state];
    if (!isKey(prefix)) return { items: [], next: undefined };
    const after = readCursor(query.after);
    const rows = await store.rows({
      view: CENSUS_VIEW,
      prefix,
      limit: limit + 1,
      ...(after !== undefined && { after: [kind, ...after] }),
    });
    const page = rows.slice(0, limit);
    const items = await this.#summaries(page.map(({ key }) => ({ kind, id: String(key[2]) })));
    const last = page.at(-1);
    return { items, next: rows.length > limit && last ? writeCursor(last.key.slice(1)) : undefined };
  }

  async #stopped({ kind, state, after: given, limit }: ActorQuery): Promise<ActorPage> {
    const after = readCursor(given);
    const rows = await this.#parts.store.rows({
      view: STOPPED_VIEW,
      prefix: [kind],
      limit: limit + 1,
      ...(after !== undefined && { after: [kind, ...after] }),
    });
    const page = rows.slice(0, limit);
    const items = await this.#summaries(page.map(({ key }) => ({ kind, id: String(key[1]) })));
    const last = page.at(-1);
    return {
      items: items.filter((item) => state === undefined || item.state === state),
      next: rows.length > limit && last ? writeCursor(last.key.slice(1)) : undefined,
    };
  }

  async #stuck({ kind, state, after: given, limit }: ActorQuery): Promise<ActorPage> {
    const [after] = readCursor(given) ?? [];
    const begin = typeof after === 'string' && isEffectKey(after) ? after : `${kind}//0/0`;
    const found = await this.#parts.store.troubledEffects({ after: begin, limit: limit + 1 });
    const page = found.slice(0, limit).filter(({ actor }) => actor.kind === kind);
    const items: ActorSummary[] = [];
    for (const effect of page) {
      const known = items.findIndex(({ id }) => id === effect.actor.id);
      if (known >= 0) continue;
      const [summary] = await this.#summaries([effect.actor]);
      if (summary && (state === undefined || summary.state === state))
        items.push({ ...summary, trouble: effectReport(effect) });
    }
    const last = page.at(-1);
    const more = found.length > limit && found.slice(0, limit).length === page.length;
    return { items, next: more && last ? writeCursor([last.key]) : undefined };
  }

  /** One actor with all that is known of it; undefined when there is none. */
  async actor(address: ActorAddress): Promise<ActorReport | undefined> {
    const { store, definitions } = this.#parts;
    const definition = definitions.get(address.kind);
    const stored = await store.load(address);
    if (definition === undefined || stored === undefined) return undefined;
    const effects = await store.pendingEffects(address);
    const history = await store.journal(address, { after: Math.max(0, stored.journalLength - HISTORY) });
    const relatives = definition.relatives?.(viewOf(stored));
    const trouble = effects.find(({ failures }) => failures > 0);
    return {
      ...this.#summary(stored, await this.#depths()),
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
      parent: relatives?.parent ?? null,
      children: relatives?.children ?? [],
      shard: this.#parts.host.shardOf(address),
    };
  }

  async #summaries(addresses: readonly ActorAddress[]): Promise<readonly ActorSummary[]> {
    const depths = await this.#depths();
    const stored = await Promise.all(addresses.map((address) => this.#parts.store.load(address)));
    return stored.filter((actor) => actor !== undefined).map((actor) => this.#summary(actor, depths));
  }

  async #depths(): Promise<ReadonlyMap<string, number>> {
    return new Map((await this.#parts.host.reports()).flatMap(({ mailboxes }) => mailboxes));
  }

  #summary(
    { address, state, revision, stopped }: StoredActor,
    depths: ReadonlyMap<string, number>,
  ): ActorSummary {
    const { kind, id } = address;
    return { kind, id, state, revision, mailbox: depths.get(`${kind}/${id}`) ?? 0, stopped, trouble: null };
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
    sum.lastError ??= one.lastError;
  }
  return sum;
}

function effectReport({ key, effect, dueAt, failures, lastError }: StoredEffect): EffectReport {
  return { key, do: effect.do, dueAt, failures, lastError: lastError && redactedText(lastError) };
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

function writeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** Undefined for no cursor and for text that is none. */
function readCursor(text: string | undefined): readonly (string | number)[] | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    const key: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(key) && isKey(key) ? key : undefined;
  } catch {
    return undefined;
  }
}
