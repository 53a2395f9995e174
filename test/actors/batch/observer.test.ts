/** Metrics follow the typed events of committed steps, whatever the texts of the history are. */
import test from 'ava';
import type { ActorEvent, Step, StoredActor } from '#runtime/model/ports.js';
import { firstStep, nextStep } from '#runtime/step/step.js';
import { JOB, PIPELINE } from '../../../actors/batch/job-records/kinds.ts';
import { type BatchObserver, NO_OBSERVER, notifyObserver } from '../../../actors/batch/observer.ts';
import { definitions } from '../../../actors/batch/registry.ts';
import type { Release } from '../../../machines/batch/job-context.ts';

const INPUT = {
  fileName: 'a.pdf',
  originalPath: '/in/a.pdf',
  format: 'Pades',
  source: 'Upload',
  profileName: 'contracts',
  folder: 'scans',
  parentJobId: null,
  order: 1,
  pathKey: 'k',
  seen: null,
  at: 1000,
  message: 'Uploaded.',
};
const STAGED = { sha256: 'aa', length: 3, mtimeMs: 1, inode: '1:2', readAt: 2 };

/** Passes the steps of one actor to an observer, and returns the calls that it received. */
function callsOf(
  kind: string,
  input: object | null,
  events: readonly ActorEvent[],
  change = (step: Step) => step,
) {
  const definition = definitions.find((one) => one.kind === kind);
  if (definition === undefined) throw new Error(`no definition of ${kind}`);
  const calls: unknown[][] = [];
  const names = Object.keys(NO_OBSERVER) as (keyof BatchObserver)[];
  const observer = Object.fromEntries(
    names.map((name) => [name, (...given: unknown[]) => calls.push([name, ...given])]),
  ) as unknown as BatchObserver;
  const created = firstStep(definition, { kind, id: 'one' }, input as never, { now: 1000 });
  notifyObserver(observer, change(created));
  let actor: StoredActor = created.actor;
  for (const event of events) {
    const step = nextStep(definition, actor, { ...event, at: 2000 }, { now: 2000 });
    if (step === undefined) throw new Error(`${event.type} is not accepted`);
    actor = step.actor;
    notifyObserver(observer, change(step));
  }
  return calls;
}

function released(release: Partial<Release>): readonly ActorEvent[] {
  const signed = { sha256: 'bb', length: 4 };
  const result = { type: 'RELEASED', outputFileName: 'a.signed.pdf', ...release };
  return [
    { type: 'CLAIM' },
    { type: 'SIGNED', input: STAGED, signed, release: result } as unknown as ActorEvent,
  ];
}

const completed = { format: 'Pades', profile: 'contracts', encrypted: false, took: 0 };

test('a completed job is counted with the values of its release', (t) => {
  const last = (release: Partial<Release>) => callsOf(JOB.kind, INPUT, released(release)).at(-1);
  t.deepEqual(last({}), ['completed', { ...completed, verified: true }]);
  t.deepEqual(last({ verified: false }), ['completed', { ...completed, verified: false }]);
  for (const verdict of ['agrees', 'not-comparable'] as const)
    t.deepEqual(last({ independent: { verdict, reason: '' } }), [
      'completed',
      { ...completed, verified: true, independent: verdict },
    ]);
});

test('metrics do not depend on the texts of the history', (t) => {
  const events = [...released({ verified: false }), { type: 'TIDIED', diverged: true }];
  const withoutTexts = (step: Step) => ({
    ...step,
    journal: step.journal.map((line) => ({ ...line, message: '' })),
  });
  const calls = callsOf(JOB.kind, INPUT, events);
  t.deepEqual(callsOf(JOB.kind, INPUT, events, withoutTexts), calls);
  t.deepEqual(calls.at(-1), ['diverged', 'contracts']);
  t.deepEqual(calls[0], ['enqueued', 'scans']);
});

test('pausing and resuming the pipeline are reported once each', (t) => {
  const calls = callsOf(PIPELINE.kind, null, [
    { type: 'PAUSE', reason: null },
    { type: 'RESUME', reason: null },
  ]);
  t.deepEqual(calls, [['paused'], ['resumed']]);
});
