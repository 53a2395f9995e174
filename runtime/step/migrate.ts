/**
 * Migrates actors stored by earlier versions of their machines, before any reads: actor by actor, each in one commit,
 * so that the next start continues after a crash.
 */
import type { ActorDefinition } from '../model/definition.ts';
import { describeFailure, Fatal, Retryable, wayBack } from '../model/failures.ts';
import { jsonProblem, jsonType } from '../model/json.ts';
import type {
  ActorStore,
  EffectKey,
  Json,
  Log,
  Millis,
  Row,
  RowQuery,
  Step,
  StoredActor,
} from '../model/ports.ts';
import { SEND_EFFECT } from '../model/requests.ts';
import {
  currentDeadlines,
  type DerivedRecords,
  deadlinesOf,
  derive,
  difference,
  parseStateCounter,
  STATE_INDEX_PREFIX,
  STATE_INDEX_VIEW,
  type StateCount,
  stateMove,
} from './derive.ts';
import { viewOf } from './step.ts';

const CONTEXT = jsonType<{ readonly [member: string]: Json }>();

const NODE_INFO = jsonType<{ readonly version?: string }>();

/** Actors read and committed together. */
const BATCH = 256;

/**
 * Lists stored states that the definitions have no migration for, one line of text each: an unknown kind, a newer
 * version, a missing migration or a state that the machine no longer has.
 */
function missingPaths(
  definitions: readonly ActorDefinition[],
  stateCounts: readonly StateCount[],
): readonly string[] {
  const byKind = new Map(definitions.map((definition) => [definition.kind, definition]));
  const missing: string[] = [];
  for (const { kind, version, state, count } of stateCounts) {
    const why = obstacle(byKind.get(kind), version, state);
    if (why !== undefined) missing.push(`${count} of ${kind} in ${state} (version ${version}): ${why}`);
  }
  return missing;
}

function obstacle(
  definition: ActorDefinition | undefined,
  version: number,
  state: string,
): string | undefined {
  if (definition === undefined) return 'this program has no such actors';
  if (version > definition.version)
    return `a newer program wrote it; this one has version ${definition.version}`;
  for (let from = version; from < definition.version; from += 1) {
    if (definition.migrations?.[from] === undefined)
      return `no migration leads from version ${from} to ${from + 1}`;
  }
  if (version === definition.version && !hasState(definition, state)) return 'the machine has no such state';
  return undefined;
}

/** `a.b` is the state b inside a; the empty name is the state of a machine without states. */
export function hasState(definition: ActorDefinition, state: string): boolean {
  let node = definition.machine.root;
  for (const part of state === '' ? [] : state.split('.')) {
    const inner = node.states[part];
    if (inner === undefined) return false;
    node = inner as typeof node;
  }
  return true;
}

/**
 * Migrates every actor that is older than its definition. While nodes of another version of the program run, nothing is
 * migrated here: those nodes could no longer read what is. The host then migrates each actor before its next step.
 * Then arms the deadlines of actors whose state has got one since; see `addDeadlines`.
 * @throws {Fatal} `store.no-path` with a line for each state without a migration; nothing was changed then
 */
export async function migrateStore(
  store: ActorStore,
  definitions: readonly ActorDefinition[],
  {
    log,
    now,
  }: {
    readonly log: Pick<Log, 'info'>;
    /** Time at which new deadlines begin. */
    readonly now: Millis;
  },
): Promise<{
  readonly migrated: number;
  /** Actors of the newest version that got a deadline. */
  readonly rearmed: number;
}> {
  const nodes = (await store.nodes?.list()) ?? [];
  const areMixed = new Set(nodes.map(({ info }) => versionOf(info))).size > 1;
  const stored = parseStateCounter(await store.counters(STATE_INDEX_PREFIX));
  const newest = new Map(definitions.map((definition) => [definition.kind, definition.version]));
  // Actors that a newer version has written are left to the nodes of that version.
  const stateCounts = areMixed
    ? stored.filter((line) => line.version <= (newest.get(line.kind) ?? -1))
    : stored;
  const missing = missingPaths(definitions, stateCounts);
  if (missing.length > 0) {
    throw new Fatal(
      'store.no-path',
      `The store holds what this program cannot take over:\n${missing.join('\n')}${wayBack(store.upgradeCopy?.path)}`,
    );
  }
  let migrated = 0;
  if (areMixed) return { migrated, rearmed: 0 };
  await keepBeforeUpgrade(store, definitions, log);
  for (const definition of definitions) {
    const old = stateCounts.filter(
      ({ kind, version }) => kind === definition.kind && version < definition.version,
    );
    const expected = old.reduce((sum, { count }) => sum + count, 0);
    if (expected === 0) continue;
    log.info('Stored actors are brought to the version of this program.', {
      Kind: definition.kind,
      Count: expected,
      Version: definition.version,
    });
    migrated += await migrateKind(store, definition, now);
  }
  let rearmed = 0;
  for (const definition of definitions)
    rearmed += await addDeadlines(store, definition, { stateCounts: stored, log, now });
  store.upgradeCopy?.complete();
  return { migrated, rearmed };
}

/** Copies the store, where it can, before the first of its actors is brought to a newer version. */
export async function keepBeforeUpgrade(
  store: ActorStore,
  definitions: readonly ActorDefinition[],
  log: Pick<Log, 'info'>,
): Promise<void> {
  if (store.upgradeCopy === undefined) return;
  const newest = new Map(definitions.map((definition) => [definition.kind, definition.version]));
  const stored = parseStateCounter(await store.counters(STATE_INDEX_PREFIX));
  if (!stored.some(({ kind, version }) => version < (newest.get(kind) ?? version))) return;
  log.info('The store as it was before the upgrade is kept.', { Path: store.upgradeCopy.make() });
}

/**
 * Refuses stored effects without a handler, which would be tried for ever. While nodes of another version run, these may
 * have the handlers. Reads all pending effects.
 * @param dormant kinds whose effects wait
 * @throws {Fatal} `store.no-path`, with a line for each name
 */
export async function assertHandlers(
  store: ActorStore,
  handlers: object,
  dormant: ReadonlySet<string>,
): Promise<void> {
  const others = (await store.nodes?.list())?.filter(({ isThis }) => !isThis) ?? [];
  if (others.length > 0) return;
  const orphans = new Map<string, { readonly actor: string; count: number }>();
  let after: EffectKey | undefined;
  for (;;) {
    const page = await store.effects({ limit: BATCH, ...(after !== undefined && { after }) });
    for (const { effect, actor } of page) {
      if (effect.do === SEND_EFFECT || effect.do in handlers || dormant.has(actor.kind)) continue;
      const orphan = orphans.get(effect.do) ?? { actor: `${actor.kind}/${actor.id}`, count: 0 };
      orphan.count += 1;
      orphans.set(effect.do, orphan);
    }
    after = page.at(-1)?.key;
    if (page.length < BATCH || after === undefined) break;
  }
  if (orphans.size === 0) return;
  const lines = [...orphans].map(([name, { actor, count }]) => `"${name}": ${count}, the first of ${actor}`);
  throw new Fatal(
    'store.no-path',
    `The store holds effects without a handler:\n${lines.join('\n')}\nKeep these effects in \`effects\` of an actor until none is stored, or end their actors with the earlier version.${wayBack(store.upgradeCopy?.path)}`,
  );
}

/** Version of the program of a node; see `NodeStatus.info`. */
function versionOf(info: Json): string {
  return NODE_INFO.read(info).version ?? '';
}

async function migrateKind(store: ActorStore, definition: ActorDefinition, now: Millis): Promise<number> {
  let migrated = 0;
  let after: string | undefined;
  for (;;) {
    const actors = await store.actors({
      kind: definition.kind,
      limit: BATCH,
      ...(after !== undefined && { after }),
    });
    const steps = actors
      .filter(({ version }) => version < definition.version)
      .map((actor) => migrationStep(definition, actor, now));
    migrated += await commitAll(store, definition, steps);
    const last = actors.at(-1);
    if (last === undefined || actors.length < BATCH) return migrated;
    after = last.address.id;
  }
}

/** @returns number of committed steps */
async function commitAll(
  store: ActorStore,
  definition: ActorDefinition,
  steps: readonly Step[],
): Promise<number> {
  let committed = 0;
  for (const outcome of await Promise.all(steps.map((step) => store.commit(step)))) {
    if (outcome.ok) committed += 1;
    else if (outcome.reason !== 'stale' || store.nodes === undefined) {
      // A node that stepped the actor meanwhile has migrated it.
      throw new Fatal(
        'store.no-path',
        `An actor of ${definition.kind} could not be migrated: ${outcome.reason}.`,
      );
    }
  }
  return committed;
}

/**
 * Arms deadlines that a state has got without a new version of the machine. All actors of a state have its deadlines or
 * none has the new one, so one is read: the last, which is also the last that is changed.
 */
async function addDeadlines(
  store: ActorStore,
  definition: ActorDefinition,
  {
    stateCounts,
    log,
    now,
  }: { readonly stateCounts: readonly StateCount[]; readonly log: Pick<Log, 'info'>; readonly now: Millis },
): Promise<number> {
  const { kind, machine, version } = definition;
  let all = 0;
  const isBehind = (actor: StoredActor | undefined): actor is StoredActor =>
    actor?.version === version && currentDeadlines(machine, actor, now).begun > 0;
  for (const { state } of stateCounts.filter((line) => line.kind === kind && line.version === version)) {
    if (![...deadlinesOf(machine, state).values()].some(({ leaves }) => leaves)) continue;
    const read = async (page: Pick<RowQuery, 'limit' | 'reverse' | 'after'>) => {
      const rows = await store.rows({ view: STATE_INDEX_VIEW, prefix: [kind, state], ...page });
      const actors = await Promise.all(rows.map(({ key }) => store.load({ kind, id: String(key[2]) })));
      return { rows, behind: actors.filter(isBehind) };
    };
    if ((await read({ limit: 1, reverse: true })).behind.length === 0) continue;
    let changed = 0;
    let after: Row['key'] | undefined;
    do {
      const { rows, behind } = await read({ limit: BATCH, ...(after && { after }) });
      const steps = behind.map((actor) => migrationStep(definition, actor, now));
      changed += await commitAll(store, definition, steps);
      after = rows.length < BATCH ? undefined : rows.at(-1)?.key;
    } while (after !== undefined);
    all += changed;
    log.info('Stored actors got a deadline that is new in their state.', {
      Kind: kind,
      State: state,
      Count: changed,
    });
  }
  return all;
}

/**
 * Builds the step that migrates an actor which a node of an earlier version stored after the start; undefined for one of
 * this version. Throws a `Retryable`, `actor.newer-version`: the actor belongs to the nodes of that version.
 */
export function migrationOf(definition: ActorDefinition, stored: StoredActor, now: Millis): Step | undefined {
  const { address, version } = stored;
  if (version > definition.version)
    throw new Retryable(
      'actor.newer-version',
      `${address.kind}/${address.id} has version ${version}; this node knows versions up to ${definition.version}.`,
    );
  return version === definition.version ? undefined : migrationStep(definition, stored, now);
}

/**
 * Builds the step that migrates a stored actor to the definition's version. Its effects, journal and consumed
 * messages are unchanged, its deadlines become those of its state. Pure.
 * @throws {Fatal} `store.no-path` when a migration throws, or gives a state that the machine does not have, or a context
 *   that JSON cannot hold
 */
export function migrationStep(definition: ActorDefinition, stored: StoredActor, now: Millis): Step {
  const { kind, id } = stored.address;
  let state = stored.state;
  let context = stored.context;
  let before: Partial<DerivedRecords> | undefined;
  for (let from = stored.version; from < definition.version; from += 1) {
    const migration = definition.migrations?.[from];
    if (migration === undefined)
      throw new Fatal('store.no-path', `${kind}/${id}: no migration leads from version ${from}.`);
    try {
      if (from === stored.version) before = migration.facts?.({ id, state, context });
      ({ state, context } = migration.migrate({ state, context: CONTEXT.read(context) }));
    } catch (error) {
      const { message } = describeFailure(error);
      throw new Fatal('store.no-path', `${kind}/${id}: the migration from version ${from} threw: ${message}`);
    }
    const problem = jsonProblem(context, 'context');
    if (problem !== undefined)
      throw new Fatal(
        'store.no-path',
        `${kind}/${id}: the migration from version ${from} gives what cannot be stored: ${problem}`,
      );
  }
  if (!hasState(definition, state))
    throw new Fatal('store.no-path', `${kind}/${id} would be in ${state}, which its machine has not.`);
  const { timers, changes } = currentDeadlines(definition.machine, { ...stored, state, context }, now);
  const actor: StoredActor = {
    ...stored,
    timers,
    revision: stored.revision + 1,
    version: definition.version,
    state,
    context,
  };
  const derived = derive(definition, viewOf(actor));
  const facts = difference({ ...derived, ...before }, derived);
  return {
    actor,
    basedOn: stored.revision,
    journal: [],
    effects: [],
    settles: null,
    dropsEffects: false,
    timers: changes,
    ...facts,
    moved: stateMove(stored, actor),
  };
}
