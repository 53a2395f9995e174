/** Asserts the contract of object stores. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import type {
  ObjectFile,
  ObjectStore,
  StoredObject,
} from '../../../../actors/shared/objects/object-store.ts';

export function fileOf(t: ExecutionContext, content: Buffer): ObjectFile {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-object-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'file');
  writeFileSync(path, content);
  return { path, length: content.length };
}

export async function contentOf(objects: ObjectStore, key: string, range?: { from: number; to?: number }) {
  const found = await objects.get(key, range);
  return found && buffer(found.stream);
}

async function listed(objects: ObjectStore, prefix: string): Promise<readonly StoredObject[]> {
  const all: StoredObject[] = [];
  let next: string | undefined;
  do {
    const page = await objects.list(prefix, next);
    all.push(...page.objects);
    next = page.next;
  } while (next !== undefined);
  return all;
}

export async function assertObjectContract(t: ExecutionContext, objects: ObjectStore): Promise<void> {
  const first = Buffer.from('the first content');
  const other = Buffer.from('other bytes, and longer ones');
  const folder = randomUUID();
  const key = `${folder}/a b+ü.pdf`;
  t.is(await objects.head(key), undefined);
  t.is(await objects.get(key), undefined);
  t.is(await objects.put(key, fileOf(t, first)), 'stored');
  t.is(await objects.put(key, fileOf(t, other)), 'exists');
  t.deepEqual(await contentOf(objects, key), first);
  t.is((await objects.head(key))?.length, first.length);
  t.is((await objects.head(key))?.owner, undefined);
  t.is(await objects.put(key, fileOf(t, other), { replace: true, owner: 'job-1' }), 'stored');
  t.is((await objects.head(key))?.owner, 'job-1');
  t.deepEqual(await contentOf(objects, key), other);
  t.deepEqual(await contentOf(objects, key, { from: 6, to: 10 }), other.subarray(6, 11));
  t.deepEqual(await contentOf(objects, key, { from: 6 }), other.subarray(6));

  const racing = Array.from({ length: 8 }, () => objects.put(`${folder}/raced`, fileOf(t, first)));
  const stored = (await Promise.all(racing)).filter((outcome) => outcome === 'stored');
  t.is(stored.length, objects.isConditional ? 1 : stored.length);

  t.true(await objects.copy(key, `${folder}/copy`));
  t.true(await objects.copy(key, key));
  t.false(await objects.copy(`${folder}/missing`, `${folder}/copy`));
  t.deepEqual(await contentOf(objects, `${folder}/copy`), other);
  const all = await listed(objects, `${folder}/`);
  t.deepEqual(all.map(({ key: name }) => name).sort(), [key, `${folder}/copy`, `${folder}/raced`].sort());
  t.is(all.find(({ key: name }) => name === key)?.length, other.length);

  // More than one part where files go in parts, and the last one short.
  const big = Buffer.alloc(20_000_003);
  for (let at = 0; at < big.length; at += 4096) big.writeUInt32LE(at, Math.min(at, big.length - 4));
  t.is(await objects.put(`${folder}/big`, fileOf(t, big)), 'stored');
  t.is(await objects.put(`${folder}/big`, fileOf(t, big)), 'exists');
  const digest = (bytes: Buffer | undefined) =>
    createHash('sha256')
      .update(bytes ?? '')
      .digest('hex');
  t.is(digest(await contentOf(objects, `${folder}/big`)), digest(big));
  const across = { from: 8_388_600, to: 8_388_700 };
  t.deepEqual(await contentOf(objects, `${folder}/big`, across), big.subarray(across.from, across.to + 1));

  t.is(await objects.put(`${folder}/big`, fileOf(t, big.subarray(1)), { owner: 'job-2' }), 'exists');
  t.is((await objects.head(`${folder}/big`))?.owner, undefined);
  t.is(typeof (await objects.isExclusive()), 'boolean');

  t.is(await objects.check(), undefined);
  t.is(await objects.check(), undefined);
  for (const { key: name } of await listed(objects, `${folder}/`)) await objects.remove(name);
  await objects.remove(key);
  t.deepEqual(await objects.list(`${folder}/`), { objects: [], next: undefined });
  t.is(await objects.get(key), undefined);
}
