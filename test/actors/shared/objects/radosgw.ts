/**
 * A server with the S3 protocol for the tests of one process (packages radosgw, ceph-mon, ceph-osd), with its data in
 * memory. Ended with the process (`test/project/children.ts`).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { ExecutionContext } from 'ava';
import type { S3Options } from '../../../../actors/shared/objects/s3-objects.ts';
import { freePort } from '../../../commands/free-port.ts';
import { reached } from '../../../project/waiting.ts';

const run = promisify(execFile);

export interface Radosgw {
  readonly endpoint: string;
  /** Options for a new bucket. */
  bucket(): Promise<S3Options & { readonly endpoint: string; readonly bucket: string }>;
  client(): S3Client;
  /** Makes a further user. */
  addUser(id: string): Promise<Pick<S3Options, 'accessKeyId' | 'secretAccessKey'>>;
  /** Process that keeps the objects. */
  readonly osd: ChildProcess;
  /** All processes. */
  readonly pids: readonly number[];
}

/** Different ports that were free. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

let shared: Promise<Radosgw> | undefined;

/** The server of this test process, for tests that take a bucket of their own and let it run: its start costs ten seconds. */
export function sharedRadosgw(): Promise<Radosgw> {
  shared ??= startRadosgw({ teardown() {} });
  return shared;
}

export async function startRadosgw(t: Pick<ExecutionContext, 'teardown'>): Promise<Radosgw> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-s3-'));
  const [port = 0, first = 0, second = 0] = await freePorts(3);
  for (const name of ['mon', 'osd', 'rgw']) mkdirSync(join(folder, name));
  const fsid = randomUUID();
  const monitor = `[v2:127.0.0.1:${first},v1:127.0.0.1:${second}]`;
  const config = join(folder, 'c.conf');
  const keyring = join(folder, 'keyring');
  // A fast paxos: without it, each pool takes seconds.
  writeFileSync(
    config,
    `[global]
fsid = ${fsid}
mon host = ${monitor}
public network = 127.0.0.0/8
keyring = ${keyring}
run dir = ${folder}
admin socket = ${folder}/$name.asok
log file = ${folder}/$name.log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
mon allow pool size one = true
osd crush chooseleaf type = 0
paxos propose interval = 0.1
paxos min wait = 0.02
[mon]
mon data = ${folder}/mon
[osd]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 1073741824
osd crush update on start = false
[client]
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw data = ${folder}/rgw
`,
  );
  const conf = ['-c', config];
  const children: ChildProcess[] = [];
  const daemon = (program: string, args: readonly string[]) => {
    const child = spawn(program, [...conf, ...args, '-f'], { stdio: 'ignore' });
    child.unref();
    children.push(child);
    return child;
  };
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const ceph = (...args: readonly string[]) =>
    run('ceph', [...conf, '--connect-timeout', '5', ...args], { env: { ...process.env, LC_ALL: 'C' } });
  const all = ['--cap', 'mon', 'allow *'];
  await run('ceph-authtool', ['--create-keyring', keyring, '--gen-key', '-n', 'mon.', ...all]);
  for (const name of ['client.admin', 'client.rgw', 'osd.0'])
    await run('ceph-authtool', [keyring, '--gen-key', '-n', name, ...all, '--cap', 'osd', 'allow *']);
  const map = join(folder, 'map');
  await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', monitor, map]);
  await run('ceph-mon', [...conf, '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring]);
  daemon('ceph-mon', ['-i', 'a']);
  await reached(() =>
    ceph('-s').then(
      () => true,
      () => false,
    ),
  );
  const device = randomUUID();
  await ceph('osd', 'new', device);
  await run('ceph-osd', [...conf, '-i', '0', '--mkfs', '--osd-uuid', device]);
  const osd = daemon('ceph-osd', ['-i', '0']);
  await ceph('osd', 'crush', 'add', 'osd.0', '1', 'root=default', 'host=h');
  daemon('radosgw', ['-n', 'client.rgw']);
  const endpoint = `http://127.0.0.1:${port}`;
  await reached(
    () =>
      fetch(endpoint).then(
        () => true,
        () => false,
      ),
    () => new Promise((resolve) => setTimeout(resolve, 100)),
  );
  const addUser = async (id: string) => {
    const keys = { accessKeyId: `AK${id}`, secretAccessKey: `SK${id}` };
    await run('radosgw-admin', [
      ...conf,
      'user',
      'create',
      '--uid',
      id,
      '--display-name',
      id,
      '--access-key',
      keys.accessKeyId,
      '--secret-key',
      keys.secretAccessKey,
    ]);
    return keys;
  };
  const owner = await addUser('owner');
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials: owner });
  t.teardown(() => client.destroy());
  return {
    endpoint,
    osd,
    addUser,
    pids: children.map(({ pid }) => pid ?? 0),
    client: () => client,
    async bucket() {
      const bucket = `b-${randomUUID()}`;
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      const common = { region: 'us-east-1', prefix: 'sealwright', forcePathStyle: true };
      return { ...common, ...owner, endpoint, bucket, serverSideEncryption: false };
    },
  };
}
