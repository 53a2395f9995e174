/** Uses the packed program as a stranger does: npx in an empty folder of a user without a cache. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An installation loads some 250 packages. */
const START_MS = 240_000;
const SIGNED_MS = 60_000;
/** "nobody": the run must need no right of the user that packed. */
const STRANGER = 65534;

/**
 * Starts the service, signs a file that is put into its folder, collects a signature, verifies and stops. Rejects when a step fails.
 *
 * @param tarball path that others may read, or a name and version
 * @param node version of the npm package `node`; undefined: the Node that runs this
 * @param work folder that others may enter; a home folder is made in it
 * @param more variables of the environment, such as the address of a registry
 * @returns what the service said
 */
export async function tryProgram(tarball, node, work, more = {}) {
  const home = join(work, `home-${node ?? 'current'}`);
  const folder = join(home, 'documents');
  mkdirSync(folder, { recursive: true });
  const stranger = process.getuid?.() === 0 ? { uid: STRANGER, gid: STRANGER } : {};
  if (stranger.uid !== undefined) for (const path of [home, folder]) chownSync(path, STRANGER, STRANGER);
  const words = [
    '-y',
    ...(node === undefined ? [] : ['-p', `node@${node}`]),
    '-p',
    tarball,
    '--',
    'sealwright',
  ];
  const env = { PATH: process.env.PATH, HOME: home, ...more };
  const options = { ...stranger, cwd: folder, encoding: 'utf8', env };
  const run = (...command) => {
    const { status, stdout, stderr } = spawnSync('npx', [...words, ...command], options);
    if (status !== 0)
      throw new Error(`sealwright ${command.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
    return stdout;
  };
  const ports = ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];
  // npx does not hand signals on, so the group gets them.
  const service = spawn('npx', [...words, 'serve', ...ports], { ...options, detached: true });
  let said = '';
  for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (said += chunk));
  const ended = once(service, 'close');
  try {
    await until(
      () => said.includes('[INF] Ready'),
      START_MS,
      service,
      () => `the service is not ready:\n${said}`,
    );
    writeFileSync(join(folder, 'data/input/hello.txt'), 'Hello');
    const signed = join(folder, 'data/output/hello.signed.txt');
    await until(
      () => existsSync(signed),
      SIGNED_MS,
      service,
      () => `hello.txt is not signed:\n${said}`,
    );
    const collected = run('try');
    if (!collected.includes('is good: 1 signature'))
      throw new Error(`no signature was collected:\n${collected}`);
    run('verify', 'data/output/hello.signed.txt');
    return said;
  } finally {
    try {
      process.kill(-service.pid, 'SIGTERM');
    } catch {
      // It has ended.
    }
    await ended;
  }
}

/** Resolves once the test is true, asked every 100 ms; rejects when the time is over or the program ends before. */
async function until(isTrue, ms, child, reason) {
  const end = Date.now() + ms;
  while (!isTrue()) {
    if (Date.now() > end || child.exitCode !== null) throw new Error(reason());
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
