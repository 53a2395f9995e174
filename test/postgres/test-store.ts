/**
 * The store that suites run on: LMDB, or PostgreSQL where `SEALWRIGHT_POSTGRES_URL` names a server
 * (`scripts/test-postgres.mjs`). Each folder has a schema of its own, so that what is opened again is what was closed.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ActorStore, Faults, Log } from '@sealwright/runtime';
import { systemClock } from '#runtime/model/clock.js';
import type { S3Options } from '../../actors/shared/objects/s3-objects.ts';

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

const URL = process.env['SEALWRIGHT_POSTGRES_URL'];

/** True where the suites run on PostgreSQL. */
export const ON_POSTGRES = URL !== undefined;

/**
 * Programs that each service of the suites consists of, behind one balancer; they share its folder and its schema.
 */
export const NODES = URL === undefined ? 1 : Number(process.env['SEALWRIGHT_NODES'] ?? 1);

const BUCKET_TEXT = process.env['SEALWRIGHT_BUCKET_AT'];

type Bucket = S3Options & { readonly accessKeyId: string; readonly secretAccessKey: string };

/** Bucket in place of a shared folder, for nodes of the suites (`scripts/test-postgres.mjs`); undefined without one. */
export const BUCKET: Bucket | undefined =
  BUCKET_TEXT === undefined ? undefined : (JSON.parse(BUCKET_TEXT) as Bucket);

/** Headers of requests that a balancer spreads over the nodes: it chooses one for each connection. */
export const ONE_REQUEST_PER_CONNECTION: Readonly<Record<string, string>> =
  NODES === 1 ? {} : { Connection: 'close' };

/**
 * Seconds after which the work of a killed process is taken over, in tests. A node that is silent for longer ends: several
 * of them on two busy processors are late by seconds.
 */
const LEASE_SECONDS = NODES === 1 ? 1 : 5;

/** Schema of a folder; in the bucket, the prefix of its files. */
export function schemaOf(folder: string): string {
  return `test_${createHash('sha256').update(folder).digest('hex').slice(0, 24)}`;
}

/** Opens the store that belongs to a folder. */
export async function openTestStore(options: {
  readonly folder: string;
  readonly faults?: Faults;
}): Promise<ActorStore> {
  // Most suites drive a program from outside and open none.
  if (URL === undefined) return (await import('@sealwright/runtime/lmdb')).openLmdbStore(options);
  const { openPostgresStore } = await import('@sealwright/runtime/postgres-parts');
  return openPostgresStore({
    url: URL,
    schema: schemaOf(options.folder),
    poolSize: 4,
    node: 'test',
    leaseSeconds: LEASE_SECONDS,
    clock: systemClock,
    log: SILENT,
    ...(options.faults && { faults: options.faults }),
  });
}

/** Settings of a program whose files are in `root`, for the same choice. */
export function storeSettings(root: string): { readonly [key: string]: string | number } {
  if (URL === undefined) return {};
  return {
    'Runtime:Store': 'postgres',
    'Runtime:Postgres:Url': URL,
    'Runtime:Postgres:Schema': schemaOf(root),
    'Runtime:Postgres:PoolSize': 4,
    'Runtime:LeaseSeconds': LEASE_SECONDS,
    ...(BUCKET && {
      'Storage:Objects:Kind': 'S3',
      'Storage:Objects:S3:Endpoint': BUCKET.endpoint ?? '',
      'Storage:Objects:S3:ForcePathStyle': 'true',
      'Storage:Objects:S3:Bucket': BUCKET.bucket,
      'Storage:Objects:S3:Prefix': schemaOf(root),
      'Storage:Objects:S3:AccessKeyId': BUCKET.accessKeyId,
      'Storage:Objects:S3:SecretAccessKey': BUCKET.secretAccessKey,
      // The watched folder alone is shared: docs/object-store.md.
      'Storage:Inputs:0:Name': 'default',
      'Storage:Inputs:0:Path': join(root, 'input'),
    }),
  };
}
