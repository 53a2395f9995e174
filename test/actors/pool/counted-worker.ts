/** A thread of the pool that leaves a file with its number when it loads and when it has a task, and answers once `go` is there. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId, workerData } from 'node:worker_threads';
import type { PoolReply, PoolTask } from '../../../actors/pool/tasks.ts';
import type { ThreadData } from '../../../actors/pool/worker-setup.ts';
import { reached } from '../../project/waiting.ts';

const { setup, isWarmedUp } = workerData as ThreadData;
const say = (what: string) => writeFileSync(join(setup.processing, `${what}-${threadId}`), '');
say(isWarmedUp ? 'warm' : 'cold');

export async function run(tasks: readonly PoolTask[]): Promise<readonly PoolReply[]> {
  if (tasks.length > 0) say('task');
  if (tasks.length > 0) await reached(() => existsSync(join(setup.output, 'go')));
  return tasks.map(() => ({ ok: false, ms: 0, code: 'counted', message: String(threadId) }));
}
