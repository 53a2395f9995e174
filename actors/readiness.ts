/** The probes of `GET /api/ready`. Source: Batch Signing Service API, "Readiness"; batch-gaps §3. */
import { access, constants } from 'node:fs/promises';
import type { ActorStore, ActorSystem, Clock, ShardLife } from '../runtime/index.ts';
import type { Readiness, ReadyCheck } from './api.ts';
import type { Folders } from './folders.ts';
import type { LocalProfile, Profile, Profiles } from './profiles.ts';
import { PIPELINE_ADDRESS } from './registry.ts';

export interface ReadinessParts {
  readonly store: ActorStore;
  readonly system: ActorSystem;
  readonly shards: () => readonly ShardLife[];
  readonly folders: Folders;
  readonly profiles: Profiles;
  readonly clock: Clock;
  /** `Signing:License`. */
  readonly license?: string;
}

export class ReadinessService implements Readiness {
  readonly #parts: ReadinessParts;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  async checks(): Promise<readonly ReadyCheck[]> {
    const now = this.#parts.clock.now();
    return [
      await this.#database(),
      ...shardChecks(this.#parts.shards()),
      ...(await this.#folders()),
      licenseCheck(this.#parts.license ?? ''),
      ...this.#parts.profiles.all.filter(signsHere).map((profile) => profileCheck(profile, now)),
    ];
  }

  async #database(): Promise<ReadyCheck> {
    const { store } = this.#parts;
    const { engine, location } = store.describe();
    const refusal = store.refusal();
    if (refusal !== undefined) {
      return { name: 'database', healthy: false, detail: `${engine} cannot be written: ${refusal}` };
    }
    try {
      await this.#parts.system.read(PIPELINE_ADDRESS);
      return { name: 'database', healthy: true, detail: `reachable (${engine} (${location}))` };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { name: 'database', healthy: false, detail: `${engine} cannot be read: ${reason}` };
    }
  }

  async #folders(): Promise<readonly ReadyCheck[]> {
    const reports = await this.#parts.folders.reports();
    return Promise.all(
      reports.map(async ({ name, path, exists, status, lastError }) => {
        const probe = `input-folder:${name}`;
        if (!exists) return { name: probe, healthy: false, detail: `${path} does not exist` };
        if (status === 'Stopped') {
          return {
            name: probe,
            healthy: false,
            detail: `the watcher stopped: ${lastError ?? 'no reason recorded'}`,
          };
        }
        const listable = await access(path, constants.R_OK | constants.X_OK).then(
          () => true,
          () => false,
        );
        if (!listable) return { name: probe, healthy: false, detail: `${path} cannot be listed` };
        return { name: probe, healthy: true, detail: lastError };
      }),
    );
  }
}

/** Not in the document; only where actors live on threads of their own (`Runtime:Shards`). */
function shardChecks(shards: readonly ShardLife[]): readonly ReadyCheck[] {
  if (shards.length < 2) return [];
  return shards.map(({ shard, housed, losses, lastLoss }) => {
    const name = `actors:${shard}`;
    if (lastLoss === null) return { name, healthy: housed, detail: housed ? null : 'its thread is starting' };
    const last = `${losses} of its threads were lost, the last one at ${new Date(lastLoss.at).toISOString()}: ${lastLoss.why}`;
    return { name, healthy: housed, detail: housed ? last : `its thread is being replaced; ${last}` };
  });
}

/** Source: batch-gaps §3, check `license`. */
function licenseCheck(license: string): ReadyCheck {
  const sound = /^[A-Za-z0-9+/]*={0,2}$/.test(license) && license.length % 4 === 0;
  return {
    name: 'license',
    healthy: sound,
    detail: sound ? 'not required' : 'Signing:License is not Base64',
  };
}

function signsHere(profile: Profile): profile is LocalProfile {
  return profile.method === 'Local';
}

function profileCheck({ name, validTo, certificate }: LocalProfile, now: number): ReadyCheck {
  const expired = now > validTo;
  const detail = expired ? `the certificate has expired: ${certificate}` : certificate;
  return { name: `profile:${name}`, healthy: !expired, detail };
}
