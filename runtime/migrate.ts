/**
 * Brings what earlier versions of machines have stored to the versions of now, before anybody reads it: actor by
 * actor, each in one commit, so that a crash in the middle leaves some of each and the next start goes on.
 */
import { CENSUS_PREFIX, type CensusLine, moveOf, parseCensus } from './census.ts';
import type { ActorDefinition } from './definition.ts';
import { type DerivedFacts, derive, difference } from './derive.ts';
import { Fatal } from './failures.ts';
import type { ActorStore, Log, Step, StoredActor } from './ports.ts';
import { viewOf } from './step.ts';

/** Actors read and committed together. */
const BATCH = 256;

/**
 * States in the store that the definitions know no way to, one line of text each.
 * An unknown kind, a newer version, a missing migration or a state the machine no longer has.
 */
export function missingPaths(
  definitions: readonly ActorDefinition[],
  census: readonly CensusLine[],
): readonly string[] {
  const byKind = new Map(definitions.map((definition) => [definition.kind, definition]));
  const missing: string[] = [];
  for (const { kind, version, state, count } of census) {
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

/** `a.b` is the state b inside a; the empty name is that of a machine without states. */
function hasState(definition: ActorDefinition, state: string): boolean {
  let node = definition.machine.root;
  for (const part of state === '' ? [] : state.split('.')) {
    const inner = node.states[part];
    if (inner === undefined) return false;
    node = inner as typeof node;
  }
  return true;
}

/**
 * Migrates everything that is older than its definition. Nobody else may write meanwhile.
 * @throws {Fatal} `store.no-path` with a line for each state that no way leads to; nothing was changed then
 */
export async function migrateStore(
  store: ActorStore,
  definitions: readonly ActorDefinition[],
  log: Pick<Log, 'info'>,
): Promise<{ readonly migrated: number }> {
  const census = parseCensus(await store.counters(CENSUS_PREFIX));
  const missing = missingPaths(definitions, census);
  if (missing.length > 0) {
    throw new Fatal(
      'store.no-path',
      `The store holds what this program cannot take over:\n${missing.join('\n')}`,
    );
  }
  let migrated = 0;
  for (const definition of definitions) {
    const old = census.filter(
      ({ kind, version }) => kind === definition.kind && version < definition.version,
    );
    const expected = old.reduce((sum, { count }) => sum + count, 0);
    if (expected === 0) continue;
    log.info('Stored actors are brought to the version of this program.', {
      Kind: definition.kind,
      Count: expected,
      Version: definition.version,
    });
    migrated += await migrateKind(store, definition);
  }
  return { migrated };
}

async function migrateKind(store: ActorStore, definition: ActorDefinition): Promise<number> {
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
      .map((actor) => migrationStep(definition, actor));
    const outcomes = await Promise.all(steps.map((step) => store.commit(step)));
    for (const outcome of outcomes) {
      if (!outcome.ok)
        throw new Fatal(
          'store.no-path',
          `An actor of ${definition.kind} could not be migrated: ${outcome.because}.`,
        );
      await outcome.durable;
    }
    migrated += steps.length;
    const last = actors.at(-1);
    if (last === undefined || actors.length < BATCH) return migrated;
    after = last.address.id;
  }
}

/**
 * The step that turns a stored actor into one of the definition's version. Its timers, effects, journal and consumed
 * messages stay as they are. Pure.
 * @throws {Fatal} `store.no-path` when a migration leads to a state the machine has not
 */
export function migrationStep(definition: ActorDefinition, stored: StoredActor): Step {
  const { kind, id } = stored.address;
  let state = stored.state;
  let context = stored.context;
  let before: Partial<DerivedFacts> | undefined;
  for (let from = stored.version; from < definition.version; from += 1) {
    const migration = definition.migrations?.[from];
    if (migration === undefined)
      throw new Fatal('store.no-path', `${kind}/${id}: no migration leads from version ${from}.`);
    if (from === stored.version) before = migration.facts?.({ id, state, context });
    ({ state, context } = migration.migrate({ state, context }));
  }
  if (!hasState(definition, state))
    throw new Fatal('store.no-path', `${kind}/${id} would be in ${state}, which its machine has not.`);
  const actor: StoredActor = {
    ...stored,
    revision: stored.revision + 1,
    version: definition.version,
    state,
    context,
  };
  const now = derive(definition, viewOf(actor));
  const facts = difference({ ...now, ...before }, now);
  return {
    actor,
    basedOn: stored.revision,
    journal: [],
    effects: [],
    settles: null,
    dropsEffects: false,
    timers: { arm: [], disarm: [] },
    ...facts,
    moved: moveOf(stored, actor),
  };
}
