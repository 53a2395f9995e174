/** Checks that the buckets of inputs can be listed and read. */
import { type Clock, describeFailure } from '@sealwright/runtime';
import { InputBuckets } from '../../actors/index.ts';
import { prefixOf, type Settings } from '../../settings.ts';
import { bad, type Finding, good } from './finding.ts';

const TIMEOUT_MS = 4_000;

export async function checkInputBuckets(
  { storage }: Settings,
  { clock }: { clock: Clock },
): Promise<readonly Finding[]> {
  const buckets = new InputBuckets(storage.objects.s3, {
    clock,
    log: { warn: () => {} },
    timeout: TIMEOUT_MS,
  });
  const findings: Finding[] = [];
  for (const input of storage.inputs) {
    const { bucket, recursive } = input;
    if (bucket === undefined) continue;
    const name = `input-folder:${input.name}`;
    try {
      const { objects } = await buckets.list(bucket, { prefix: prefixOf(input), recursive });
      const [first] = objects;
      if (first !== undefined) await buckets.head(bucket, first.key);
      findings.push(
        good(name, `bucket ${bucket} can be listed; whether objects may be removed is seen with the first.`),
      );
    } catch (error) {
      findings.push(
        bad('failed', name, {
          says: describeFailure(error).message,
          cause: 'The bucket is away, or the keys of Storage:Objects:S3 have not the right.',
          remedy: 'Allow s3:ListBucket on the bucket, s3:GetObject and s3:DeleteObject on its objects.',
        }),
      );
    }
  }
  return findings;
}
