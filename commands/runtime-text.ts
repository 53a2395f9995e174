/** The answer of `GET /api/runtime` as people read it. */
import { table } from './table.ts';

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Runtime {
  readonly eventLoopDelay: Times;
  readonly effectsInFlight: number;
  readonly shards: readonly {
    readonly shard: number;
    readonly thread: string | null;
    readonly losses: number;
    readonly lastLoss: { readonly at: string; readonly why: string; readonly actor: string | null } | null;
    readonly awakeActors: number;
    readonly deepestMailbox: number;
    readonly commit: Times;
    readonly eventLoopDelay: Times;
  }[];
  readonly pool: {
    readonly threads: number;
    readonly busy: number;
    readonly waiting: number;
    readonly utilisation: number;
    /** Left out by services before this one. */
    readonly stalled?: readonly {
      readonly task: string;
      readonly subject: string;
      readonly runningMs: number;
    }[];
  };
  readonly store: { readonly engine: string; readonly bytes: number | null };
  readonly memory: { readonly residentBytes: number; readonly heapBytes: number };
  readonly uptimeSeconds: number;
}

const SHARD_HEAD = [
  'shard',
  'thread',
  'awake',
  'deepest',
  'commit',
  'event loop late',
  'losses',
  'last loss',
];

export function runtimeText({ shards, pool, store, memory, ...process }: Runtime): string {
  const facts = [
    ['up', `${Math.round(process.uptimeSeconds)} s`],
    ['event loop', `late by ${times(process.eventLoopDelay)}`],
    ['effects', `${process.effectsInFlight} in flight`],
    [
      'pool',
      `${pool.busy} of ${pool.threads} threads busy, ${pool.waiting} tasks waiting, used ${percent(pool.utilisation)}`,
    ],
    ...(pool.stalled ?? []).map(
      ({ task, subject, runningMs }) =>
        ['stalled', `${task} for ${subject}, for ${Math.round(runningMs / 1000)} s`] as const,
    ),
    ['store', `${store.engine}${store.bytes === null ? '' : `, ${mebibytes(store.bytes)}`}`],
    ['memory', `${mebibytes(memory.residentBytes)} resident, ${mebibytes(memory.heapBytes)} heap`],
  ] as const;
  const rows = shards.map((shard) => [
    String(shard.shard),
    shard.thread ?? 'being replaced',
    ...[shard.awakeActors, shard.deepestMailbox].map(String),
    ...[shard.commit, shard.eventLoopDelay].map(times),
    String(shard.losses),
    shard.lastLoss === null ? '' : `${shard.lastLoss.at} ${shard.lastLoss.actor ?? ''} ${shard.lastLoss.why}`,
  ]);
  return `${facts.map(([name, text]) => `${name.padEnd(10)} ${text}\n`).join('')}\n${table(SHARD_HEAD, rows)}`;
}

function times({ p50Ms, p99Ms, maxMs }: Times): string {
  return `${[p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1)).join('/')} ms p50/p99/most`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} % of the time`;
}
