/** Group commit of a store that several nodes share: a step is committed at whatever moment it arrives. */
import { setImmediate } from 'node:timers/promises';
import { MemoryDatabase, openMemoryNode, SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { A, B, stepOf } from '../../contract/steps.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Turns of the microtask queue in which the end of a group may fall. */
const TURNS = 40;

test('a step that is committed at any moment of the end of another commit is answered', async (t) => {
  const clock = new SimulatedClock();
  for (let turns = 0; turns < TURNS; turns += 1) {
    const database = new MemoryDatabase(clock);
    const node = await openMemoryNode({
      database,
      link: (statement) => statement(),
      clock,
      log: SILENT,
      node: 'one',
      leaseSeconds: 2,
    });
    let isAnswered = false;
    const commitLater = async (): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      t.like(await node.commit(stepOf(B, 0)), { ok: true });
      isAnswered = true;
    };
    let hasBegun = false;
    node.nodes.follow({
      committed() {
        if (!hasBegun) void commitLater();
        hasBegun = true;
      },
      adopted() {},
    });
    t.like(await node.commit(stepOf(A, 0)), { ok: true });
    // Statements in memory need microtasks alone.
    await setImmediate();
    t.true(isAnswered, `The commit ${turns} turns after the report of the first one has no answer.`);
  }
});

/** A database that refuses every commit with one SQLSTATE. */
class RefusingDatabase extends MemoryDatabase {
  readonly code: string;
  commits = 0;

  constructor(clock: SimulatedClock, code: string) {
    super(clock);
    this.code = code;
  }

  override async commit(): Promise<never> {
    this.commits += 1;
    // A loop without an end would keep this thread busy for ever.
    const code = this.commits > 100 ? '53100' : this.code;
    throw Object.assign(new Error('refused'), { code });
  }
}

for (const [code, meaning, commits] of [
  ['40001', 'a serialization failure', 10],
  ['40P01', 'a deadlock', 10],
  ['LS002', 'another session', 10],
  ['53100', 'a full disk', 1],
] as const) {
  test(`a commit that the database refuses each time for ${meaning} ends after ${commits} attempts`, async (t) => {
    const clock = new SimulatedClock();
    const database = new RefusingDatabase(clock, code);
    const node = await openMemoryNode({
      database,
      link: (statement) => statement(),
      clock,
      log: SILENT,
      node: 'one',
      leaseSeconds: 2,
    });
    const answer = node.commit(stepOf(A, 0)).then(
      () => 'stored',
      ({ code }: { readonly code: string }) => code,
    );
    // Statements in memory need microtasks alone.
    t.is(await Promise.race([answer, setImmediate('no answer')]), 'store.unavailable');
    t.is(database.commits, commits);
    t.is(await node.load(A), undefined);
  });
}
