/**
 * Completes package-lock.json after a registry without the binaries of other platforms has left them out.
 *
 * `npm ci` refuses a lock that lacks any optional dependency, also those that would never be installed here. This
 * adds the missing ones with the version their parent asks for and the platform their name tells
 * (https://github.com/npm/cli/issues/4828). Run after each
 * `npm install`: node scripts/complete-lock.mjs
 *
 * With `--checksums` it asks the registry, through npm, for the checksum of each entry that has none, and fails when
 * one stays without: for a registry that has the binaries of all platforms.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];

const file = join(import.meta.dirname, '..', 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];

for (const [path, parent] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    if (isLocked(path, name, version)) continue;
    const outer = `node_modules/${name}`;
    // The outermost place may hold another version of the same package already.
    const place = lock.packages[outer] === undefined ? outer : `${path}/node_modules/${name}`;
    lock.packages[place] = entry(name, version, parent);
    added.push(`${name}@${version}`);
  }
}
const bare = process.argv.includes('--checksums') ? completeChecksums() : [];
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([left], [right]) => left.localeCompare(right, 'en')),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'package-lock.json was complete' : `added ${added.join(', ')}`);

if (bare.length > 0) {
  console.error(`The registry has no checksum of ${bare.join(', ')}`);
  process.exitCode = 1;
}

/** Fills in what the registry knows; gives the packages whose checksum it does not. */
function completeChecksums() {
  const missing = [];
  for (const [path, locked] of Object.entries(lock.packages)) {
    // Without "node_modules/" in its path it is the project or one of its workspaces.
    if (!path.includes('node_modules/') || locked.link || locked.integrity) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const wanted = `${name}@${locked.version}`;
    try {
      locked.integrity = execFileSync('npm', ['view', wanted, 'dist.integrity'], { encoding: 'utf8' }).trim();
    } catch {
      missing.push(wanted);
    }
  }
  return missing;
}

/** True when the package that `path` would load under this name is locked in a version it accepts. */
function isLocked(path, name, wanted) {
  for (let folder = path; ; folder = folderAbove(folder)) {
    const found = lock.packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`];
    // Binaries are asked for by exact version; anything else was resolved by npm itself.
    if (found !== undefined) return found.version === wanted || !/^\d/.test(wanted);
    if (folder === '') return false;
  }
}

/** Folder around a locked package; around a workspace, whose path has no "node_modules/", the project. */
function folderAbove(path) {
  return path.includes('node_modules/') ? path.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '') : '';
}

function entry(name, version, parent) {
  const words = name.split('/').at(-1).split('-');
  const os = words.filter((word) => SYSTEMS.includes(word));
  const cpu = words.filter((word) => PROCESSORS.includes(word));
  if (os.length !== 1 || cpu.length > 1) throw new Error(`The name ${name} does not tell its platform`);
  const libc = words.includes('musl') ? 'musl' : undefined;
  const node = name.startsWith('@uwsjs/') ? Number(words.at(-1)) : undefined;
  return {
    version,
    ...(cpu.length === 1 && { cpu }),
    ...(parent.dev && { dev: true }),
    ...(libc && { libc: [libc] }),
    optional: true,
    os,
    ...(node && { engines: { node: `>=${node}.0.0 <${node + 1}.0.0` } }),
  };
}
