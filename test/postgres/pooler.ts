/** A pooler of transactions before a server; undefined where pgbouncer is not installed. */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answers, asServerUser, type Cluster, freePort } from './cluster.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

export interface Pooler {
  readonly url: string;
  remove(): Promise<void>;
}

/** @param lines of its configuration, besides the addresses */
export async function startPooler(
  server: Cluster,
  lines: readonly string[] = [],
): Promise<Pooler | undefined> {
  if (!existsSync(PROGRAM)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-pooler-'));
  const port = await freePort();
  const file = join(folder, 'pooler.ini');
  writeFileSync(
    file,
    [
      '[databases]',
      `postgres = host=127.0.0.1 port=${server.port} user=sealwright dbname=postgres`,
      ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'auth_type = any'],
      ...['unix_socket_dir =', 'pool_mode = transaction', 'default_pool_size = 4', ...lines, ''],
    ].join('\n'),
  );
  const { uid } = statSync(server.sockets);
  chmodSync(folder, 0o755);
  if (process.getuid?.() === 0) chownSync(file, uid, 0);
  const [command, args] = asServerUser(PROGRAM, ['-q', file]);
  const child = spawn(command, args, { stdio: 'ignore', cwd: folder });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = `postgres://sealwright@127.0.0.1:${port}/postgres`;
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error('pgbouncer did not start.');
    await sleep(20);
  }
  return {
    url,
    remove: async () => {
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
