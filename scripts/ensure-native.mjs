/**
 * Makes sure that the native binaries of this Node are there.
 *
 * They are optional dependencies, one package per Node version, so a tree installed by one Node lacks those of
 * another. When uWebSockets does not load, the missing ones are installed once by this very Node; the lock file
 * still says which.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Reason why neither release loads; undefined when one does. Asked in a process of its own: a failed load sticks. */
function failure() {
  const attempt = `
    const failures = [];
    for (const name of ['uws-node22', 'uws-node20']) {
      try { require(name); process.exit(0); } catch (error) { failures.push(name + ': ' + String(error.message).split('\\n').at(-1)); }
    }
    console.error(failures.join('\\n'));
    process.exit(1);`;
  const child = spawnSync(process.execPath, ['-e', attempt], { cwd: root, encoding: 'utf8' });
  return child.status === 0 ? undefined : child.stderr.trim();
}

/** True without starting a process, for the usual case. */
function loads() {
  const require = createRequire(join(root, 'package.json'));
  return ['uws-node22', 'uws-node20'].some((name) => {
    try {
      require(name);
      return true;
    } catch {
      return false;
    }
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

if (!loads()) {
  console.error(`Node ${process.versions.node} has no native binaries here yet; installing them.`);
  const installed = install();
  const why = failure();
  if (why !== undefined) {
    console.error(why);
    console.error(
      installed
        ? 'No uWebSockets binary fits this Node, processor and C library (Node 20-23 need glibc 2.31; 24 and 26 need 2.38).'
        : `npm could not install them. Run "npm ci" with Node ${process.versions.node}.`,
    );
    process.exitCode = 1;
  }
}
