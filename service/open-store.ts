/** Opens the configured actor store. */
import { hostname } from 'node:os';
import type { ActorStore, Clock, Faults, Log, StoreReader } from '@sealwright/runtime';
import { openLmdbReader, openLmdbStore } from '@sealwright/runtime/lmdb';
import { openPostgresReader, openPostgresStore } from '@sealwright/runtime/postgres-parts';
import { storageLayout } from '../actors/index.ts';
import type { Settings } from '../settings.ts';
import type { KeyMarks } from './key-folder.ts';
import { nodeName } from './service-file.ts';

/**
 * Throws `store.locked`; on LMDB also `store.newer-format`, `store.damaged`, `store.full`, `store.unwritable`; on
 * PostgreSQL also `store.too-new`, `store.unavailable`, `store.copy-incomplete`.
 * @param parts.version of the program, and `marks` of its keys, for the other nodes
 * @param parts.onLost called once when the store accepts no more steps
 */
export async function openStore(
  settings: Settings,
  clock: Clock,
  log: Log,
  {
    faults,
    version = '',
    marks = {},
    onLost,
  }: { faults?: Faults; version?: string; marks?: KeyMarks; onLost?: (why: string) => void } = {},
): Promise<ActorStore> {
  const { runtime, storage } = settings;
  if (runtime.store === 'lmdb') {
    return openLmdbStore({
      folder: storageLayout(storage.root).db,
      ...(faults && { faults }),
      ...(onLost && { onLost }),
    });
  }
  const { url = '', poolSize, schema, statementTimeoutMs } = runtime.postgres;
  return openPostgresStore({
    url,
    poolSize,
    schema,
    statementTimeoutMs,
    clock,
    log,
    node: nodeName(settings),
    leaseSeconds: runtime.leaseSeconds,
    longestWindowSeconds: Math.max(
      settings.rateLimiting.upload.windowSeconds,
      settings.rateLimiting.actions.windowSeconds,
    ),
    info: {
      version,
      keys: marks,
      pid: process.pid,
      host: hostname(),
      batchUrl: settings.batch.url.href,
      portalUrl: settings.portal.url.href,
    },
    ...(onLost && { onLost, guardsStart: true }),
    ...(faults && { faults }),
  });
}

/** Opens the store for reading beside a running service. Throws `store.missing`, `store.unavailable`. */
export async function openReader({ runtime, storage }: Settings): Promise<StoreReader> {
  if (runtime.store === 'lmdb') return openLmdbReader(storageLayout(storage.root).db);
  const { url = '', schema } = runtime.postgres;
  return openPostgresReader({ url, schema, poolSize: 2 });
}
