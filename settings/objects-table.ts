/** `Storage:Objects:*`: where files are. Source: docs/decisions/0279-object-store.md. */
import { z } from 'zod';
import type { Fault, Warning } from './findings.ts';
import { below, key, optional } from './keys.ts';
import { choice, flag, pattern, secretText, webUrl } from './kinds.ts';

export const bucketName = pattern(
  'name of a bucket',
  'must be 3 to 63 lower-case letters, digits, dots and hyphens',
  z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
);
const regionName = pattern(
  'name of a region',
  'must be 1 to 40 letters, digits and hyphens',
  z.string().regex(/^[A-Za-z0-9-]{1,40}$/),
);
const keyPrefix = pattern(
  'prefix',
  'must be at most 200 letters, digits and ._/-, and not begin with a slash',
  z.string().regex(/^(?:[A-Za-z0-9._-][A-Za-z0-9._/-]{0,199})?$/),
);

/** Of a bucket that other programs fill, whose keys may have any characters. */
export const inputPrefix = pattern(
  'prefix',
  'must be at most 200 characters, and not begin with a slash',
  z.string().regex(/^(?!\/)[^\p{Cc}]{0,200}$/u),
);

export const OBJECTS_KEYS = {
  'Storage:Objects:Kind': key(choice(['FileSystem', 'S3']), 'FileSystem', {
    says: 'Where files are: below `Storage:Root`, or in a bucket; see [object-store.md](object-store.md).',
  }),
  ...below('Storage:Objects:S3', {
    Endpoint: optional(webUrl(), {
      says: 'Address of the server, scheme included. Default: the one of the region.',
    }),
    Region: key(regionName, 'us-east-1', { says: 'Region of the bucket.' }),
    Bucket: optional(bucketName, { says: 'Bucket; it must exist. Required by `Storage:Objects:Kind=S3`.' }),
    Prefix: key(keyPrefix, '', { says: 'Begins the key of each object.' }),
    ForcePathStyle: key(flag(), false, {
      says: 'Put the bucket into the path of addresses, not into the host name; most servers of your own need it.',
    }),
    AccessKeyId: optional(secretText(), {
      says: 'Access key. Absent: the client looks in the environment, its files and the identity of the machine.',
    }),
    SecretAccessKey: optional(secretText(), { says: 'Secret of the access key.' }),
    PresignDownloads: key(flag(), false, {
      says: 'Clients reach the bucket: a download of an output with `redirect=true` is answered 302, with an address there that is valid for a minute.',
    }),
    ServerSideEncryption: key(flag(), false, { says: 'Ask the server to encrypt each object (AES256).' }),
  }),
} as const;

interface ObjectsSettings {
  readonly runtime: { readonly store: 'lmdb' | 'postgres' };
  readonly storage: {
    readonly inputs: readonly {
      readonly kind: 'FileSystem' | 'S3';
      readonly path: string;
      readonly bucket: string | undefined;
      readonly prefix: string;
    }[];
    readonly objects: {
      readonly kind: 'FileSystem' | 'S3';
      readonly s3: Readonly<Record<'bucket' | 'accessKeyId' | 'secretAccessKey', string | undefined>> & {
        readonly prefix: string;
      };
    };
  };
}

/** Rules about several keys. */
export function checkObjects(
  { runtime, storage }: ObjectsSettings,
  faults: Fault[],
  warnings: Warning[],
): void {
  const { kind, s3 } = storage.objects;
  const buckets = storage.inputs.some((input) => input.kind === 'S3');
  if ((kind === 'S3' || buckets) && (s3.accessKeyId === undefined) !== (s3.secretAccessKey === undefined))
    faults.push({
      key: 'Storage:Objects:S3:SecretAccessKey',
      rule: 'and Storage:Objects:S3:AccessKeyId must be set together, or neither',
    });
  checkBuckets(storage, faults);
  if (kind === 'FileSystem') return;
  if (s3.bucket === undefined)
    faults.push({ key: 'Storage:Objects:S3:Bucket', rule: 'is required by Storage:Objects:Kind=S3' });
  if (runtime.store === 'postgres' && storage.inputs.some((input) => input.kind === 'FileSystem'))
    warnings.push({
      key: 'Storage:Inputs',
      text: 'names folders, and one node after the other watches them: all nodes must share them, under the same paths. Where they do not, set Storage:Inputs=[]',
    });
}

/** Inputs that are buckets: complete, and apart from each other and from what the program stores. */
function checkBuckets({ inputs, objects }: ObjectsSettings['storage'], faults: Fault[]): void {
  const taken: { readonly what: string; readonly bucket: string | undefined; readonly prefix: string }[] = [];
  if (objects.kind === 'S3')
    taken.push({ what: 'Storage:Objects:S3', bucket: objects.s3.bucket, prefix: prefixOf(objects.s3) });
  for (const [index, input] of inputs.entries()) {
    const key = `Storage:Inputs:${index}`;
    if (input.kind === 'FileSystem') {
      if (input.path === '') faults.push({ key: `${key}:Path`, rule: 'is required' });
      if (input.bucket !== undefined) faults.push({ key: `${key}:Bucket`, rule: 'needs Kind=S3' });
      continue;
    }
    const { bucket } = input;
    const prefix = prefixOf(input);
    if (input.path !== '') faults.push({ key: `${key}:Path`, rule: 'must not be set with Kind=S3' });
    if (bucket === undefined) {
      faults.push({ key: `${key}:Bucket`, rule: 'is required by Kind=S3' });
      continue;
    }
    const other = taken.find(
      (one) => one.bucket === bucket && (one.prefix.startsWith(prefix) || prefix.startsWith(one.prefix)),
    );
    if (other !== undefined)
      faults.push({ key: `${key}:Prefix`, rule: `overlaps with that of ${other.what}` });
    taken.push({ what: key, bucket, prefix });
  }
}

/** The folder, or the bucket with its prefix, for people. */
export function placeOfInput({
  path,
  bucket,
  prefix,
}: Pick<ObjectsSettings['storage']['inputs'][number], 'path' | 'bucket' | 'prefix'>): string {
  if (bucket === undefined) return path;
  return `s3://${bucket}/${prefix}`.replace(/\/$/, '');
}

/** A prefix as a folder: empty, or with a slash at its end. */
export function prefixOf({ prefix }: { prefix: string }): string {
  return prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
}
