/**
 * Makes sure that the native binaries of this Node are there.
 *
 * They are optional dependencies, one package per Node version, so a tree installed by one Node lacks those of
 * another. Where the package of this Node exists and is missing, it is installed once by this very Node; the lock file
 * still says which. Where there is none, or none that fits the C library, the service uses `node:http`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RELEASES = ['uws-node22', 'uws-node20'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(join(root, 'package.json'));

/** True when the binary of a release loads here. */
function loads() {
  return RELEASES.some((name) => {
    try {
      require(name);
      return true;
    } catch {
      return false;
    }
  });
}

/** Binaries of this Node and platform that are named by a release and not installed. */
function missing() {
  const binary = `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;
  return RELEASES.filter((name) => {
    const folder = join(root, 'node_modules', name);
    if (!existsSync(folder)) return false;
    const { optionalDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (optionalDependencies[binary] === undefined) return false;
    return ![folder, root].some((place) => existsSync(join(place, 'node_modules', binary)));
  });
}

function install() {
  const npm = process.env.npm_execpath;
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--include=optional'];
  // npm's own script is run by this Node; a plain "npm" could belong to another one.
  const child =
    npm === undefined || !/\.[cm]?js$/.test(npm)
      ? spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
      : spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' });
  return child.status === 0;
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`sealwright needs Node 20.19 or newer; this is Node ${process.versions.node}.`);
  process.exit(1);
}
// Names what was installed already, so that a binary which does not fit is not installed again at each start.
const note = join(root, 'node_modules', '.native');
const here = `${process.platform} ${process.arch} ${process.versions.modules}`;
if (!loads() && missing().length > 0 && !(existsSync(note) && readFileSync(note, 'utf8') === here)) {
  console.error(`Node ${process.versions.node} has no native binaries here yet; installing them.`);
  if (install()) writeFileSync(note, here);
  else console.error(`npm could not install them. Run "npm ci" with Node ${process.versions.node}.`);
}
