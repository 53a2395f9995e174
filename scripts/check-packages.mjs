/**
 * Packs the packages (workspaces) and uses them as others do: in an empty strict project, without skipLibCheck, on several versions of Node; and judges
 * the tarballs with publint and @arethetypeswrong/cli. Needs the registry.
 *
 * node scripts/check-packages.mjs [--node 20,22,24,26] [<folder>…]   exit 0: all of it works
 *
 * What runs is the first program of the README of a package. Those of its guide, docs/<name>/, are compiled: code that begins with an import or with
 * the name of its file.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
/** Packages that the types of an entry, or the program of the README, need beside the tarball. */
const PEERS = { runtime: ['xstate', 'lmdb', '@opentelemetry/api', '@types/pg'] };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: 'string', default: '20,22,24,26' } },
});
const { workspaces } = readJson('package.json');
const work = mkdtempSync(join(tmpdir(), 'packages-'));
try {
  for (const folder of positionals.length > 0 ? positionals : workspaces) check(folder);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function check(folder) {
  const { name, exports } = readJson(folder, 'package.json');
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
    const said = run(project, 'npx', '-y', '-p', `node@${version}`, 'node', 'out/example.js');
    console.log(`${name}: the example on Node ${version} printed ${said.trim().slice(0, 60)}`);
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
