/** Opens the configured object store. */
import type { Clock, Ids } from '@sealwright/runtime';
import { type ObjectStore, openS3 } from '../actors/index.ts';
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
