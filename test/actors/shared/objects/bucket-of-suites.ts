/** Files of jobs in the bucket of the suites, read with a client of their own. */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ListObjectsV2CommandOutput, S3Client } from '@aws-sdk/client-s3';
import { BUCKET, schemaOf } from '../../../postgres/test-store.ts';

type Bucket = Exclude<typeof BUCKET, undefined>;

let client: S3Client | undefined;

/** The library and a client of it; loading it takes a quarter of a second, and most suites have no bucket. */
async function connected({ endpoint, region, accessKeyId, secretAccessKey }: Bucket) {
  const library = await import('@aws-sdk/client-s3');
  client ??= new library.S3Client({
    ...(endpoint !== undefined && { endpoint }),
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  return { ...library, s3: client };
}

/** Copies outputs and files of failed jobs into a folder beside `root`, which has those of now alone, and names it. */
export async function bringFiles(bucket: Bucket, root: string): Promise<string> {
  const { s3, GetObjectCommand, ListObjectsV2Command } = await connected(bucket);
  const copy = join(root, 'bucket');
  await rm(copy, { recursive: true, force: true });
  for (const folder of ['output', 'error']) {
    await mkdir(join(copy, folder), { recursive: true });
    const start = `${schemaOf(root)}/batch/`;
    for (let token: string | undefined, isLast = false; !isLast; ) {
      const page: ListObjectsV2CommandOutput = await s3.send(
        new ListObjectsV2Command({
          Bucket: bucket.bucket,
          Prefix: `${start}${folder}/`,
          ...(token !== undefined && { ContinuationToken: token }),
        }),
      );
      for (const { Key = '' } of page.Contents ?? []) {
        const found = await s3.send(new GetObjectCommand({ Bucket: bucket.bucket, Key }));
        const path = join(copy, Key.slice(start.length));
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, (await found.Body?.transformToByteArray()) ?? '');
      }
      token = page.NextContinuationToken;
      isLast = token === undefined;
    }
  }
  return copy;
}

/** True while the original of a job is in its folder, or in the bucket. */
export async function hasOriginal(root: string, path: string): Promise<boolean> {
  if (BUCKET === undefined || !path.startsWith('objects:/')) return existsSync(path);
  const Key = `${schemaOf(root)}/batch/${path.slice('objects:/'.length)}`;
  const { s3, HeadObjectCommand, NotFound } = await connected(BUCKET);
  try {
    await s3.send(new HeadObjectCommand({ Bucket: BUCKET.bucket, Key }));
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}
