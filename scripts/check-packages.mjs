/**
 * Packs the packages (workspaces) and uses them as others do: in an empty strict project, without skipLibCheck, on several versions of Node; and judges
 * the tarballs with publint and @arethetypeswrong/cli. Needs the registry.
 *
 * The program is started by npx from its tarball, signs a file and collects a signature.
 *
 * node scripts/check-packages.mjs [--node 20,22,24,26] [<folder>|program…]   exit 0: all of it works. "--node current" is the Node that runs this.
 *
 * What runs is the first program of the README of a package, killed once and started again, some of its guide, and its commands by npx. The programs of
 * its guide, docs/<name>/, are compiled: code that begins with an import or with the name of its file. Needs the build with the tests.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { startAuthority } from '../dist/test/pki/authority.js';
import { packAll } from './release/pack.mjs';
import { tryProgram } from './release/try-program.mjs';

const ROOT = join(import.meta.dirname, '..');
/** Packages that the types of an entry, or the program of the README, need beside the tarball. */
const PEERS = { runtime: ['xstate', 'lmdb', '@types/pg'] };
/** Output of the program of the README, over both runs. */
const PRINTED = { runtime: /^mail \S+ reminder\/ana\/\S+\nsent\n$/, crypto: /^(TOTAL-PASSED\n)+$/ };
/** Programs of the guide that need no others. */
const RUN_TOO = { runtime: ['messages', 'nightly'] };
/** Time after which the program of the README is killed, milliseconds: that of the runtime waits for a deadline then. */
const KILL_AFTER_MS = 1500;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: 'string', default: '20,22,24,26' } },
});
const { workspaces } = readJson('package.json');
const work = mkdtempSync(join(tmpdir(), 'packages-'));
try {
  for (const what of positionals.length > 0 ? positionals : [...workspaces, 'program'])
    if (what === 'program') await checkProgram();
    else await check(what);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function checkProgram() {
  // Another user reads it.
  chmodSync(work, 0o755);
  const [tarball] = packAll(work);
  console.log(`sealwright: ${statSync(tarball).size} bytes packed`);
  for (const version of values.node.split(',')) {
    await tryProgram(tarball, version === 'current' ? undefined : version, work);
    console.log(`sealwright: signed a file and collected a signature on Node ${version}`);
  }
}

async function check(folder) {
  const { name, exports, bin } = readJson(folder, 'package.json');
  const project = join(work, folder);
  mkdirSync(project);
  const packed = JSON.parse(run(ROOT, 'npm', 'pack', '--json', '-w', folder, '--pack-destination', project));
  const [{ filename, size, unpackedSize }] = Array.isArray(packed) ? packed : Object.values(packed);
  const tarball = join(project, filename);
  console.log(`${name}: ${size} bytes packed, ${unpackedSize} unpacked`);
  run(project, 'npx', '-y', 'publint@0.3.25', '--strict', tarball);
  // Packages are ES modules.
  run(project, 'npx', '-y', '@arethetypeswrong/cli@0.18.5', tarball, '--profile', 'esm-only');

  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    outDir: 'out',
    types: ['node'],
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const peers = PEERS[folder] ?? [];
  run(
    project,
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    tarball,
    'typescript',
    '@types/node@20',
    ...peers,
  );
  const count = readdirSync(join(project, 'node_modules'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => /(^|\/)node_modules\/[^/@.]+\/package\.json$|^(@[^/]+\/)?[^/@.]+\/package\.json$/.test(path),
  ).length;
  console.log(`${name}: ${count} packages installed, with typescript and @types/node`);
  const entries = Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => `${name}${entry.slice(1)}`);
  writeFileSync(
    join(project, 'entries.ts'),
    entries.map((entry, at) => `export * as entry${at} from '${entry}';\n`).join(''),
  );
  const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8');
  const [, code = ''] = /```(?:js|ts)\n(.*?)```/s.exec(readme) ?? [];
  writeFileSync(join(project, 'example.ts'), code);
  const guide = join(ROOT, 'docs', name.split('/').at(-1));
  const pages = existsSync(guide) ? readdirSync(guide).filter((page) => page.endsWith('.md')) : [];
  for (const page of pages)
    for (const [at, [, block, name = `${page}-${at}.ts`]] of [
      ...readFileSync(join(guide, page), 'utf8').matchAll(
        /```(?:js|ts)\n((?:\/\/ (\S+\.ts)\n|(?=import )).*?)```/gs,
      ),
    ].entries())
      writeFileSync(join(project, name), block);
  run(project, 'npx', 'tsc', '-p', '.');
  for (const version of values.node.split(',')) {
    const node =
      version === 'current'
        ? process.execPath
        : run(project, 'npx', '-y', '-p', `node@${version}`, 'node', '-p', 'process.execPath').trim();
    rmSync(join(project, 'data'), { recursive: true, force: true });
    const killed = spawnSync(node, ['out/example.js'], {
      cwd: project,
      encoding: 'utf8',
      timeout: KILL_AFTER_MS,
      killSignal: 'SIGKILL',
    });
    const said = killed.stdout + run(project, node, 'out/example.js');
    if (!PRINTED[folder].test(said)) throw new Error(`${name} on Node ${version} printed:\n${said}`);
    for (const program of RUN_TOO[folder] ?? []) run(project, node, `out/${program}.js`);
    if (bin !== undefined) await checkCommands(tarball, dirname(node));
    console.log(`${name}: works on Node ${version}`);
  }
}

/** Signs, extends and verifies a file by npx in an empty folder. */
async function checkCommands(tarball, nodes) {
  const folder = mkdtempSync(join(work, 'commands-'));
  const authority = await startAuthority();
  try {
    const { key, certificate, chain } = authority.pki.signer('p-256');
    const pem = (label, der) =>
      `-----BEGIN ${label}-----\n${Buffer.from(der).toString('base64')}\n-----END ${label}-----\n`;
    const certificates = (all) => all.map((der) => pem('CERTIFICATE', der)).join('');
    writeFileSync(join(folder, 'key.pem'), key.keyObject.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(join(folder, 'certificate.pem'), certificates([certificate, ...chain]));
    writeFileSync(join(folder, 'root.pem'), certificates(authority.trust.anchors));
    writeFileSync(join(folder, 'a.txt'), 'any file');
    const env = { ...process.env, PATH: `${nodes}${delimiter}${process.env.PATH}` };
    const npx = (...words) =>
      promisify(execFile)('npx', ['-y', `file:${tarball}`, ...words], { cwd: folder, env });
    const trust = ['--trust', 'root.pem', '--allow-private'];
    await npx('sign', 'a.txt', '--key', 'key.pem', '--certificate', 'certificate.pem');
    await npx('extend', 'a.txt.p7m', '--timestamp-url', authority.timestampUrl, ...trust);
    const { stdout } = await npx('verify', 'a.txt.extended.p7m', ...trust);
    if (!stdout.includes('TOTAL-PASSED  level LTA')) throw new Error(`verify printed:\n${stdout}`);
  } finally {
    await authority.close();
  }
}

function run(cwd, command, ...words) {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${[command, ...words].join(' ')} ended with ${status}:\n${stdout}${stderr}`);
}

function readJson(...path) {
  return JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));
}
