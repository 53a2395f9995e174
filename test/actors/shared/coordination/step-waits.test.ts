import { defineActor, type StoredActor } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { StepWaits } from '../../../../actors/shared/coordination/step-waits.ts';
import { emptyFolder, folderMachine } from '../../../../machines/portal/folder.ts';

const FOLDER = defineActor('folder', { machine: folderMachine, effects: [emptyFolder], version: 1 });

function step(kind: string, id: string, state: string) {
  return { actor: { address: { kind, id }, state, context: {} } as StoredActor };
}

function isEnded({ state }: { readonly state: string }): boolean {
  return state === 'Ended';
}

test('all who wait for an actor are told of the step that fits, and of none before it', async (t) => {
  const waits = new StepWaits(new SimulatedClock());
  const both = [1, 2].map(() => waits.begin(FOLDER, 'a', isEnded, 1_000));
  const states: string[] = [];
  for (const { actor } of both) void actor.then((found) => states.push(found?.state ?? 'none'));
  waits.observe(step('folder', 'a', 'Active'));
  waits.observe(step('report', 'a', 'Ended'));
  waits.observe(step('folder', 'b', 'Ended'));
  await Promise.resolve();
  t.deepEqual(states, []);
  waits.observe(step('folder', 'a', 'Ended'));
  t.deepEqual(
    (await Promise.all(both.map(({ actor }) => actor))).map((found) => found?.state),
    ['Ended', 'Ended'],
  );
});

test('a wait ends without an actor after its time, when it is cancelled and at a stop', async (t) => {
  const clock = new SimulatedClock();
  const waits = new StepWaits(clock);
  const [late, cancelled, stopped] = [1_000, 5_000, 5_000].map((within) =>
    waits.begin(FOLDER, 'a', isEnded, within),
  );
  await clock.advance(1_000);
  t.is(await late?.actor, undefined);
  cancelled?.cancel();
  t.is(await cancelled?.actor, undefined);
  waits.stop();
  t.is(await stopped?.actor, undefined);
  t.is(await waits.begin(FOLDER, 'a', isEnded, 1_000).actor, undefined);
});

test('a wait beyond the limit ends at once, and one that has ended makes room', async (t) => {
  const waits = new StepWaits(new SimulatedClock(), 1);
  const first = waits.begin(FOLDER, 'a', isEnded, 1_000);
  t.is(await waits.begin(FOLDER, 'b', isEnded, 1_000).actor, undefined);
  first.cancel();
  first.cancel();
  const second = waits.begin(FOLDER, 'b', isEnded, 1_000);
  waits.observe(step('folder', 'b', 'Ended'));
  t.is((await second.actor)?.state, 'Ended');
});
