/**
 * Machines, messages, clocks and deaths made by dice, held against a model. SEALWRIGHT_RANDOM_SEEDS sets how many seeds
 * are tried, SEALWRIGHT_RANDOM_SEED the first of them: a seed that failed is tried alone with
 * `SEALWRIGHT_RANDOM_SEED=<seed> SEALWRIGHT_RANDOM_SEEDS=1`. A seed fixes all that is done, not how fast the disk is.
 */

import type { StoredActor } from '@sealwright/runtime';
import test from 'ava';
import { roundsOf } from '../../project/rounds.ts';
import { KINDS, NAMES, PEERS, peerOf, type RandomContext, replay } from './random-chart.ts';
import { RandomSimulation } from './random-simulation.ts';

const FIRST = Number(process.env['SEALWRIGHT_RANDOM_SEED'] ?? 1);
const SEEDS = Number(process.env['SEALWRIGHT_RANDOM_SEEDS'] ?? roundsOf(2, 60));
const TURNS = 120;

const contextOf = (actor: StoredActor) => actor.context as unknown as RandomContext;

async function actorsOf({ store }: RandomSimulation): Promise<readonly StoredActor[]> {
  const kinds = Array.from({ length: KINDS }, (_, n) => store.actors({ kind: `k${n}`, limit: 10_000 }));
  return (await Promise.all(kinds)).flat();
}

/** Everything stored that the model does not say. */
async function differences(simulation: RandomSimulation): Promise<readonly string[]> {
  // First, since the store has to write them: all that is read after it is of the same moment.
  const { heard = 0, ...counters } = await simulation.store.counters('');
  const found = [...simulation.breaches];
  const actors = await actorsOf(simulation);
  const holders = new Map<string, string>();
  const sentMessages = new Map<string, { all: number; dropped: number }>();
  const pendingTells = new Map<string, number>();
  const deadlines = await simulation.store.dueTimers(Number.MAX_SAFE_INTEGER, 10_000);
  for (const actor of actors) {
    const { kind, id } = actor.address;
    const chart = simulation.charts[Number(kind.slice(1))];
    if (chart === undefined) throw new Error(`no chart of ${kind}`);
    const expect = (isSo: boolean, text: string) => {
      if (!isSo) found.push(`${kind}/${id}: ${text}`);
    };
    let model: ReturnType<typeof replay>;
    try {
      model = replay(chart, contextOf(actor).heard);
    } catch (error) {
      expect(false, (error as Error).message);
      continue;
    }
    expect(actor.state === model.state, `is in ${actor.state}, not ${model.state}`);
    expect(contextOf(actor).asked === model.asked, 'counts other effects');
    const armed = Object.values(actor.timers).sort();
    expect(
      String(armed) === String([...model.timers].sort()),
      `deadlines ${armed}, not ${[...model.timers]}`,
    );
    const stored = deadlines.filter((one) => one.actor.kind === kind && one.actor.id === id);
    expect(String(stored.map(({ due }) => due).sort()) === String(armed), 'other deadlines are stored');
    expect(actor.journalLength === model.notes, 'another number of notes');
    expect((await simulation.store.journal(actor.address)).length === model.notes, 'another journal');
    if (model.name !== undefined) {
      expect(!holders.has(model.name), `${model.name} is held twice`);
      holders.set(model.name, id);
    }
    const pending = await simulation.store.pendingEffects(actor.address);
    const open = new Set<number>();
    for (const { effect } of pending) {
      if (effect.do !== 'tell') open.add(Number(effect['n']));
      else {
        const to = (effect['to'] as { id: string }).id;
        pendingTells.set(to, (pendingTells.get(to) ?? 0) + 1);
      }
    }
    for (const [n, name] of model.effects) {
      if (name === 'tell') continue;
      const outcomes = model.outcomes.get(n) ?? 0;
      expect(outcomes <= 1, `effect ${n} came back ${outcomes} times`);
      if (open.has(n)) expect(outcomes === 0 && !model.dropped.has(n), `effect ${n} is pending too long`);
      else expect(outcomes === 1 || model.dropped.has(n), `effect ${n} is lost`);
    }
    for (const n of [...open, ...model.outcomes.keys()])
      expect(model.effects.has(n), `nobody asked for effect ${n}`);
    for (const [to, { all, dropped }] of model.sentMessages) {
      const before = sentMessages.get(to) ?? { all: 0, dropped: 0 };
      sentMessages.set(to, { all: before.all + all, dropped: before.dropped + dropped });
    }
  }
  for (const name of NAMES) {
    const holder = (await simulation.store.holder(name))?.id;
    if (holder !== holders.get(name)) found.push(`${name} is held by ${holder}, not ${holders.get(name)}`);
  }
  for (let peer = 0; peer < PEERS; peer++) {
    const { id } = peerOf(peer);
    const actor = actors.find((one) => one.address.id === id);
    const heard = actor === undefined ? [] : contextOf(actor).heard;
    const { all, dropped } = sentMessages.get(id) ?? { all: 0, dropped: 0 };
    const came = heard.filter(([type]) => type === 'HEAR').length + (pendingTells.get(id) ?? 0);
    if (came > all || came < all - dropped) found.push(`${id}: ${all} messages sent, ${came} came or wait`);
    for (const message of simulation.sent.filter(({ to }) => to.id === id)) {
      const taken = heard.filter(([type, what]) => type.startsWith('E') && what === message.id).length;
      if (taken > 1) found.push(`${message.id} was taken ${taken} times`);
      if (taken === 0 && message.accepted + message.duplicates > 0) found.push(`${message.id} is lost`);
      if (message.accepted > 1) found.push(`${message.id} was acknowledged ${message.accepted} times`);
      if (taken === 1 && message.refused === message.sends) found.push(`${message.id} was refused`);
    }
  }
  const rows = await simulation.store.rows({ view: 'random', limit: 10_000 });
  const facts = actors.map((actor) => [
    [actor.address.kind, actor.state, actor.address.id],
    contextOf(actor).heard.length,
  ]);
  const asText = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).sort();
  if (String(asText(rows.map(({ key, value }) => [key, value]))) !== String(asText(facts)))
    found.push('the rows say something else');
  if (heard !== actors.reduce((sum, actor) => sum + contextOf(actor).heard.length, 0))
    found.push('the counter says something else');
  const census = Object.entries(counters).filter(([name]) => name.startsWith('actors/'));
  if (census.reduce((sum, [, count]) => sum + count, 0) !== actors.length)
    found.push('the state index says something else');
  return found;
}

test('random machines under random messages, clocks and crashes are stored as the model predicts', async (t) => {
  t.timeout(600_000);
  let deaths = 0;
  let messages = 0;
  let actors = 0;
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const simulation = new RandomSimulation(t, seed);
    const look = async () => {
      t.deepEqual(await differences(simulation), [], `seed ${seed}`);
    };
    await simulation.run(TURNS, look);
    await look();
    deaths += simulation.deaths;
    messages += simulation.sent.length;
    actors += (await actorsOf(simulation)).length;
    await simulation.close();
  }
  t.true(deaths > SEEDS);
  t.log(`seeds ${FIRST} to ${FIRST + SEEDS - 1}: ${actors} actors, ${messages} messages, ${deaths} deaths`);
});
