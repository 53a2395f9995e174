/**
 * Publishes the tarballs of a release to a registry of its own on this machine (verdaccio, on Node 24), and uses them from there as a stranger does.
 * Not part of any check: the registry is 320 packages.
 *
 * node scripts/release/check-registry.mjs [<folder with the tarballs>]   after npm run release. exit 0: all of it works
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { tryProgram } from './try-program.mjs';

const [tarballs = 'dist-release'] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'check-registry-'));
chmodSync(work, 0o755);
const run = (cwd, command, ...words) =>
  execFileSync(command, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const above = run(work, 'npm', 'config', 'get', 'registry').trim();
let server;
try {
  // A dependency names a tag that some registries do not have.
  const overrides = { 'node-fetch': '2.7.0' };
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, overrides }));
  run(work, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', 'verdaccio@6.10.4');
  const ours = ['@sealwright/*', 'sealwright', 'n8n-nodes-sealwright']
    .map((name) => `  '${name}': { access: $all, publish: $all }\n`)
    .join('');
  writeFileSync(
    join(work, 'config.yaml'),
    `storage: ./storage
uplinks: { above: { url: '${above}' } }
packages:
${ours}  '**': { access: $all, proxy: above }
max_body_size: 100mb
log: { type: stdout, level: warn }
`,
  );
  const address = `127.0.0.1:${await freePort()}`;
  const words = ['-y', '-p', 'node@24', '--', 'node', 'node_modules/.bin/verdaccio'];
  server = spawn('npx', [...words, '-c', 'config.yaml', '-l', address], { cwd: work, detached: true });
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (said += chunk));
  const registry = `http://${address}/`;
  await answered(`${registry}-/ping`, () => said);
  writeFileSync(join(work, '.npmrc'), `//${address}/:_authToken=any\n`);
  const names = readdirSync(tarballs).filter((name) => name.endsWith('.tgz'));
  for (const name of names) {
    const flags = ['--registry', registry, '--userconfig', join(work, '.npmrc'), '--access', 'public'];
    run(work, 'npm', 'publish', resolve(tarballs, name), ...flags);
  }
  console.log(`published ${names.join(', ')}`);

  const strangers = join(work, 'strangers');
  mkdirSync(strangers);
  await tryProgram('sealwright', undefined, strangers, { npm_config_registry: registry });
  console.log('npx sealwright: signed a file and collected a signature');
  writeFileSync(join(strangers, 'package.json'), '{"private":true,"type":"module"}');
  const packages = ['runtime', 'signatures', 'client'].map((name) => `@sealwright/${name}`);
  run(strangers, 'npm', 'install', '--no-audit', '--no-fund', '--registry', registry, ...packages, 'xstate');
  const script = packages.map((name) => `await import('${name}');`).join('');
  run(strangers, process.execPath, '--input-type=module', '-e', script);
  console.log(`${packages.join(', ')}: installed and loaded`);
} finally {
  if (server?.pid !== undefined)
    try {
      process.kill(-server.pid);
    } catch {
      // It has ended.
    }
  rmSync(work, { recursive: true, force: true });
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Resolves once an address answers, asked every 200 ms for a minute. */
async function answered(url, reason) {
  for (let tries = 0; tries < 300; tries += 1) {
    const { ok = false } = await fetch(url).catch(() => ({}));
    if (ok) return;
    await new Promise((next) => setTimeout(next, 200));
  }
  throw new Error(`${url} does not answer:\n${reason()}`);
}
