/** One stopped and one running actor. */

import type { ActorInspection } from '../../../actors/batch/api/inspection.ts';
import type { ActorReport } from '../../../actors/batch/api/service.ts';

export function memoryInspection(): ActorInspection {
  const actors = new Map<string, ActorReport>();
  for (const [id, stopped] of [
    ['idle', null],
    ['broken', { at: 5, error: 'the hinge broke' }],
  ] as const) {
    actors.set(id, {
      kind: 'door',
      id,
      state: 'Shut',
      revision: 3,
      mailbox: 0,
      stopped,
      trouble: null,
      version: 1,
      context: { combination: '(hidden)' },
      accepts: ['OPEN'],
      timers: [{ name: 'wait', due: 7 }],
      effects: [
        { key: 'door/x/1/0', do: 'ring', dueAt: 9, failures: 1, lastError: 'no', effect: { do: 'ring' } },
      ],
      history: [{ id: 1, at: 3, state: 'Shut', message: 'Made.', cause: 'CREATE' }],
      parent: null,
      children: [],
      shard: 0,
    });
  }
  const quantiles = { p50Ms: 0, p99Ms: 1, maxMs: 2 };
  return {
    stoppedActors: async () => ({ stopped: 1, failing: 2, hung: 3, setAside: 0 }),
    kinds: async () => [
      {
        kind: 'door',
        version: 1,
        count: actors.size,
        states: { Shut: actors.size },
        stopped: 1,
        awake: 0,
        deepestMailbox: 0,
        accepted: 4,
        refused: 1,
        restarts: 1,
        perSecond: 0.5,
        lastError: { actor: 'door/broken', message: 'the hinge broke' },
      },
    ],
    states: (kind) => (kind === 'door' ? ['Open', 'Shut'] : undefined),
    chart: (kind) =>
      kind === 'door'
        ? {
            ...{ kind, version: 1, initial: 'Shut' },
            states: [
              { name: 'Shut', final: false },
              { name: 'Open', final: true },
            ],
            transitions: [{ from: 'Shut', to: 'Open', event: 'OPEN' }],
          }
        : undefined,
    list: async ({ kind, stopped }) =>
      kind === 'door'
        ? { items: [...actors.values()].filter((actor) => !stopped || actor.stopped), next: undefined }
        : undefined,
    actor: async ({ kind, id }) => (kind === 'door' ? actors.get(id) : undefined),
    async restart({ id }) {
      const actor = actors.get(id);
      if (actor === undefined) return 'unknown';
      if (actor.stopped === null) return 'running';
      actors.set(id, { ...actor, stopped: null });
      return 'restarted';
    },
    changes: {
      wait: async () => 'process.1',
      waitShared: async () => 'process.1',
      version: 'process.1',
      includes: (read, asked) => read === asked,
    },
    drain: async (node) => node === 'one',
    runtime: async () => ({
      nodes: [
        {
          ...{ name: 'one', version: '1.0.0', isThis: true, startedAt: 1_760_000_000_000, silentMs: 3 },
          ...{ leaseMs: 5000, session: 7, draining: false, leases: ['folders'], effectsInFlight: 1 },
          ...{ lagMs: 12, storeMs: 0.8 },
        },
      ],
      eventLoopDelay: quantiles,
      effectsInFlight: 0,
      shards: [
        {
          shard: 0,
          thread: 'main',
          losses: 2,
          lastLoss: { at: 1_760_000_000_000, why: 'It ended.', actor: 'door/1' },
          awakeActors: 0,
          deepestMailbox: 0,
          commit: quantiles,
          eventLoopDelay: quantiles,
          utilisation: 0.5,
        },
      ],
      pool: { threads: 2, busy: 0, waiting: 0, utilisation: 0.25, stalled: [] },
      store: { engine: 'memory', bytes: null },
      memory: { residentBytes: 1, heapBytes: 1 },
      uptimeSeconds: 3,
      eventLoopUtilisation: 0.5,
    }),
  };
}
