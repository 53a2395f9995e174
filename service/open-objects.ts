/** Opens the configured object store, and the buckets of inputs. */
import type { Clock, Ids, Log } from '@sealwright/runtime';
import { InputBuckets, type ObjectStore, openS3 } from '../actors/index.ts';
import type { Settings } from '../settings.ts';

/** Undefined: files are below `Storage:Root`. @throws {Fatal} `settings.no-package` */
export async function openObjects(
  { storage }: Settings,
  parts: { readonly clock: Pick<Clock, 'after' | 'elapsed' | 'now'>; readonly ids: Pick<Ids, 'uuid'> },
): Promise<ObjectStore | undefined> {
  const { kind, s3 } = storage.objects;
  if (kind === 'FileSystem') return undefined;
  return openS3({ ...s3, bucket: s3.bucket ?? '' }, parts);
}

/** Undefined: no input is a bucket. @throws {Fatal} `settings.no-package` */
export async function openInputBuckets(
  { storage }: Settings,
  parts: { readonly clock: Pick<Clock, 'after' | 'elapsed'>; readonly log: Pick<Log, 'warn'> },
): Promise<InputBuckets | undefined> {
  if (!storage.inputs.some(({ kind }) => kind === 'S3')) return undefined;
  const buckets = new InputBuckets(storage.objects.s3, parts);
  await buckets.open();
  return buckets;
}
