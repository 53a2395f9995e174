/** Files of jobs in the bucket of the suites, read with a client of their own. */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NotFound,
  S3Client,
} from '@aws-sdk/client-s3';
import { BUCKET, schemaOf } from '../../../postgres/test-store.ts';

type Bucket = Exclude<typeof BUCKET, undefined>;

let client: S3Client | undefined;

function clientOf({ endpoint, region, accessKeyId, secretAccessKey }: Bucket): S3Client {
  client ??= new S3Client({
    ...(endpoint !== undefined && { endpoint }),
    ...{ region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } },
  });
  return client;
}

/** Copies outputs and files of failed jobs into a folder beside `root`, which has those of now alone, and names it. */
export async function bringFiles(bucket: Bucket, root: string): Promise<string> {
  const s3 = clientOf(bucket);
  const copy = join(root, 'bucket');
  await rm(copy, { recursive: true, force: true });
  for (const folder of ['output', 'error']) {
    await mkdir(join(copy, folder), { recursive: true });
    const start = `${schemaOf(root)}/batch/`;
    for (let token: string | undefined, isLast = false; !isLast; ) {
      const page: Awaited<ReturnType<typeof listed>> = await listed(s3, bucket, `${start}${folder}/`, token);
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

function listed(s3: S3Client, { bucket: Bucket }: Bucket, Prefix: string, token: string | undefined) {
  return s3.send(
    new ListObjectsV2Command({ Bucket, Prefix, ...(token !== undefined && { ContinuationToken: token }) }),
  );
}

/** True while the original of a job is in its folder, or in the bucket. */
export async function hasOriginal(root: string, path: string): Promise<boolean> {
  if (BUCKET === undefined || !path.startsWith('objects:/')) return existsSync(path);
  const Key = `${schemaOf(root)}/batch/${path.slice('objects:/'.length)}`;
  return clientOf(BUCKET)
    .send(new HeadObjectCommand({ Bucket: BUCKET.bucket, Key }))
    .then(
      () => true,
      (error: unknown) => {
        if (error instanceof NotFound) return false;
        throw error;
      },
    );
}
