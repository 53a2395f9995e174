/** Actors on several threads of one process, on a store on LMDB. */
import { RESTART_BOUNDS } from './host/supervisor.ts';
import type { Actor } from './model/actor.ts';
import { Fatal } from './model/failures.ts';
import { numberProblem } from './model/options.ts';
import type { ShardOptions } from './shards/sharded-host.ts';
import type { ShardModule } from './shards/wire.ts';

export type { ShardModule, ShardOptions };

/**
 * Settings for `createRuntime({ shards })`. Throws `runtime.options`.
 * @param count threads, at least 2
 * @param module URL of a module that exports, as `shardModule`, what `shardActors` returns for the same actors. It is
 *   loaded by each thread, and must not create the runtime
 */
export function shards(
  count: number,
  module: URL,
  options: Omit<Partial<ShardOptions>, 'count' | 'parts'> = {},
): ShardOptions {
  const problem =
    numberProblem({ ...options, count }, { count: [2], memory: [1], heartbeatTimeoutMs: [1] }) ??
    numberProblem(options.losses, RESTART_BOUNDS, 'losses.');
  if (problem !== undefined) throw new Fatal('runtime.options', problem);
  return { count, parts: module.href, faults: '', onLost: exit, ...options };
}

/** A shard that loses thread after thread cannot be helped by this process; its actors are stored. */
function exit(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

/** Returns the export `shardModule` of the module for the threads. */
export function shardActors(actors: readonly Actor[]): ShardModule {
  return { definitions: actors };
}
