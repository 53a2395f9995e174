/** Health probes of the batch service. Source: docs/batch-values.md §3. */
import { access, constants } from 'node:fs/promises';
import {
  type ActorStore,
  type Calls,
  type Clock,
  describeFailure,
  type Log,
  type ShardStatus,
} from '@sealwright/runtime';
import type { SigningPool } from '../pool/pool.ts';
import type { ObjectStore, StoreTrouble } from '../shared/objects/object-store.ts';
import type { Profiles } from '../shared/signing/profiles.ts';
import { canSign, certificateProblem } from '../shared/signing/profiles.ts';
import type { BatchOptions } from './batch-options.ts';
import type { Folders } from './folders/folders.ts';
import type { JobCounts } from './job-records/job-counts.ts';
import { PIPELINE, PIPELINE_ID } from './job-records/kinds.ts';
import type { Authorities } from './pipeline/authorities.ts';
import { degraded, type HealthCheck, type HealthProbe, healthy, unhealthy } from './pipeline/health.ts';
import type { RemoteSigning } from './remote/remote-signing.ts';

/** Check `database`: the store accepts commits and reads. */
export function databaseProbe(store: ActorStore, actors: Calls): HealthProbe {
  const name = 'database';
  return async () => {
    const { engine, location } = store.describe();
    const refusal = store.refusal();
    if (refusal !== undefined) return [unhealthy(name, `${engine} cannot be written: ${refusal}`)];
    const obstacle = await store.obstacle?.();
    if (obstacle !== undefined) return [unhealthy(name, `${engine} stores no step: ${obstacle}`)];
    try {
      await actors.read(PIPELINE, PIPELINE_ID);
      return [healthy(name, `reachable (${engine} (${location}))`, `reachable (${engine})`)];
    } catch (error) {
      return [unhealthy(name, `${engine} cannot be read: ${describeFailure(error).message}`)];
    }
  };
}

/** Time for which the answer of an object store counts, milliseconds: balancers ask often. */
const OBJECTS_MS = 5_000;

/** Check `objects`: the object store allows all that the program does there. Tried at once, for the log. */
export function objectsProbe(objects: ObjectStore, clock: Pick<Clock, 'elapsed'>, log: Log): HealthProbe {
  const name = 'objects';
  let problem: Promise<StoreTrouble | undefined>;
  let at: number;
  const check = () => {
    at = clock.elapsed();
    problem = objects.check();
    return problem;
  };
  void check().then((trouble) => {
    if (trouble !== undefined)
      log.error('The object store cannot be used yet, or not for all.', { Problem: trouble.text });
    else if (!objects.isConditional)
      log.warn('The object store does not know conditional puts; the same file may be sent to it twice.', {
        Location: objects.location,
      });
  });
  return async () => {
    const trouble = await (clock.elapsed() - at < OBJECTS_MS ? problem : check());
    if (trouble === undefined) return [healthy(name, objects.location, 'reachable')];
    const { text, isBlocking } = trouble;
    return [isBlocking ? unhealthy(name, text) : degraded(name, `${text}: what is over stays there`)];
  };
}

/** Check `mail`: the relay, or the folder in its place, took the last mail; only with a portal. */
export function mailProbe(trouble: {
  readonly current: { readonly since: number; readonly reason: string } | undefined;
}): HealthProbe {
  const name = 'mail';
  return () => {
    const { current } = trouble;
    if (current === undefined) return [healthy(name)];
    const since = new Date(current.since).toISOString();
    return [degraded(name, `mails wait since ${since} and are tried again: ${current.reason}`)];
  };
}

/** Checks `actors:<shard>`; only with actors on worker threads (`Runtime:Shards`). */
export function shardsProbe(shards: () => readonly ShardStatus[]): HealthProbe {
  return () => {
    const all = shards();
    return all.length < 2 ? [] : all.map(shardCheck);
  };
}

function shardCheck({ shard, housed, losses, lastLoss }: ShardStatus): HealthCheck {
  const name = `actors:${shard}`;
  if (lastLoss === null) return housed ? healthy(name) : unhealthy(name, 'its thread is starting');
  const last = `${losses} of its threads were lost, the last one at ${new Date(lastLoss.at).toISOString()}: ${lastLoss.why}`;
  return housed ? healthy(name, last) : unhealthy(name, `its thread is being replaced; ${last}`);
}

/** Checks `input-folder:<name>`: the folder exists, can be listed, and its watcher runs. */
export function foldersProbe(folders: Folders): HealthProbe {
  return async () => {
    const reports = await folders.reports();
    return Promise.all(
      reports.map(async ({ name: folder, path, exists, look, status, lastError }) => {
        const name = `input-folder:${folder}`;
        if (!exists) return unhealthy(name, look?.obstacle ?? `${path} does not exist`);
        if (status === 'Stopped')
          return unhealthy(name, `the watcher stopped: ${lastError ?? 'no reason recorded'}`);
        if (look !== undefined) return healthy(name, lastError);
        try {
          await access(path, constants.R_OK | constants.X_OK);
          return healthy(name, lastError);
        } catch {
          return unhealthy(name, `${path} cannot be listed`);
        }
      }),
    );
  };
}

/**
 * Check `remote-portal`: the circuit breaker is closed, and every waiting job has a profile of the portal. Only where a
 * portal is configured or a job waits for one.
 */
export function remoteProbe(remote: RemoteSigning, counts: JobCounts): HealthProbe {
  const name = 'remote-portal';
  return () => {
    const { outage } = remote;
    const waiting = counts.count(['AwaitingSigner']);
    if (outage !== undefined) {
      const since = new Date(outage.since).toISOString();
      return [degraded(name, `not called since ${since}, because its last calls failed: ${outage.reason}`)];
    }
    const orphaned = counts
      .profiles()
      .filter((profile) => !remote.serves(profile) && counts.count(['AwaitingSigner'], [profile]) > 0);
    if (orphaned.length > 0) {
      const jobs = counts.count(['AwaitingSigner'], orphaned);
      const profiles = orphaned.join(', ');
      return [
        degraded(name, `${jobs} jobs wait with profiles that are not signed there any more: ${profiles}`),
      ];
    }
    return remote.portal === undefined ? [] : [healthy(name, `${waiting} jobs wait for their signer`)];
  };
}

/** Checks `authority:<profile>` of profiles with time-stamps or a key service: Degraded while one of them does not answer. */
export function authoritiesProbe(authorities: Authorities): HealthProbe {
  return () =>
    authorities.profiles.map((profile) => {
      const name = `authority:${profile}`;
      const outage = authorities.outageOf(profile);
      if (outage === undefined) return healthy(name);
      const since = new Date(outage.since).toISOString();
      return degraded(name, `jobs wait since ${since} for the ${outage.waitedFor}: ${outage.reason}`);
    });
}

/** Check `pool`: Degraded while a task is stalled. The task occupies a thread until its time limit. */
export function poolProbe(pool: Pick<SigningPool, 'stalled'>): HealthProbe {
  const name = 'pool';
  return () => {
    const stalled = pool.stalled();
    const [oldest] = stalled;
    if (oldest === undefined) return [healthy(name)];
    const { task, subject, state, runningMs, deadlineMs } = oldest;
    const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
    const longest = `${task} for ${subject} has been ${state} for ${seconds(runningMs)} and is ended after ${seconds(deadlineMs)}`;
    return [degraded(name, `${stalled.length} of its tasks stall; ${longest}`)];
  };
}

/** Check `license`. Source: docs/batch-values.md §3. */
export function licenseCheck(license = ''): HealthCheck {
  const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(license) && license.length % 4 === 0;
  return isBase64
    ? healthy('license', 'not required', 'not required')
    : unhealthy('license', 'Signing:License is not Base64');
}

/**
 * Checks `profile:<name>` of local profiles. A profile that cannot sign is Degraded while another one can, else
 * Unhealthy; one that signs and whose key the next start could not load is Degraded.
 */
export function profilesProbe(
  profiles: Profiles,
  clock: Pick<Clock, 'now'>,
  keyTrouble: BatchOptions['keyTrouble'] = async () => undefined,
): HealthProbe {
  return async () => {
    const now = clock.now();
    const broken = profiles.all.some((profile) => canSign(profile, now)) ? degraded : unhealthy;
    const checks = profiles.all.map(async (profile) => {
      if (profile.method !== 'Local') return [];
      const name = `profile:${profile.name}`;
      const problem = certificateProblem(profile, now);
      if (problem !== undefined) return [broken(name, `${problem.message} ${problem.remedy}`)];
      const trouble = await keyTrouble(profile.name);
      return [trouble === undefined ? healthy(name, profile.certificate) : degraded(name, trouble)];
    });
    return (await Promise.all(checks)).flat();
  };
}
