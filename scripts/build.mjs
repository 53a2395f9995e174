/**
 * Compiles the packages into their dist/ and the program into dist/, checks the types of the browser scripts, layout and words, and bundles the program
 * and the pages.
 *
 * node scripts/build.mjs [--when-changed | --only-compile]   exit 0: dist/ is what the sources say, otherwise what the failed step gave
 *
 * With --when-changed nothing is done when the last good build was of these very sources, so that `npm start` costs
 * what starting costs. `npm ci` runs this too (script "prepare"); a build that fails there is left to whoever builds
 * next, for an installation has not failed because of it. With --only-compile nothing is checked that dist/ is not made of.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { vendorPdf } from './vendor-pdf.mjs';

/** Files in dist/ that are not compiled one by one. */
const BUNDLED = /^(chunks|vendor|web[\\/]assets)[\\/]/;
const SKIPPED = /^(\.|dist-|data$|docs$)/;
/** Of JSON files the settings of compilers and packages, and the catalogues of texts. */
const SOURCES = /(\.(tsx?|mjs|css)|^(tsconfig|package-lock|[a-z]{2})\.json)$/;

const root = join(import.meta.dirname, '..');
const stamp = join(root, 'dist', '.built');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const whenChanged = process.argv.includes('--when-changed');
const onlyCompile = process.argv.includes('--only-compile');
const installing = process.env.npm_lifecycle_event === 'prepare';

// Loaded after another script that may have failed already (package.json, "prestart").
process.exitCode ||= await build();

async function build() {
  const wanted = fingerprint();
  if (whenChanged && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return 0;
  if (!existsSync(compiler)) {
    // Installed without development packages: what was built elsewhere is run as it is.
    if (installing || (whenChanged && existsSync(join(root, 'dist', 'main.js')))) return 0;
    console.error('The compiler is not installed. Run "npm ci" without --omit=dev.');
    return 1;
  }
  rmSync(stamp, { force: true });
  // What tests have kept of the earlier build (test/http/answers.ts, test/actors/portal/service.ts).
  for (const kept of ['described', 'prepared'])
    rmSync(join(root, 'dist', kept), { recursive: true, force: true });
  // The application reads the types of the packages; the checks are independent of the compiler.
  const checks = onlyCompile ? [] : ['check-layout.mjs', 'check-words.mjs', 'check-casts.mjs'];
  const statuses = await Promise.all([
    compile(),
    ...checks.map((name) => run(join(import.meta.dirname, name))),
  ]);
  const failed = statuses.find((status) => status !== 0);
  if (failed !== undefined) return installing ? 0 : failed;
  const bundled = await run(join(import.meta.dirname, 'bundle.mjs'));
  if (bundled !== 0) return installing ? 0 : bundled;
  vendorPdf();
  mkdirSync(join(root, 'dist'), { recursive: true });
  if (!onlyCompile) writeFileSync(stamp, wanted);
  return 0;
}

/** Compiles the packages (workspaces), then at once the two projects of the application: Node and browsers. */
async function compile() {
  for (const folder of ['.', ...workspaces]) removeStale(join(root, folder));
  const packages = await run(compiler, '-b', ...workspaces);
  if (packages !== 0) return packages;
  const projects = onlyCompile ? ['.'] : ['.', 'web'];
  const statuses = await Promise.all(projects.map((project) => run(compiler, '-p', project)));
  return statuses.find((status) => status !== 0) ?? 0;
}

/** Removes what sources compiled to that are gone: what is in dist/ is installed by others, and run as tests. */
function removeStale(folder) {
  const dist = join(folder, 'dist');
  if (!existsSync(dist)) return;
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (BUNDLED.test(path)) continue;
    const [, name] = /^(.+?)\.(?:d\.ts|js|js\.map)$/.exec(path) ?? [];
    if (name === undefined || ['ts', 'tsx'].some((type) => existsSync(join(folder, `${name}.${type}`))))
      continue;
    rmSync(join(dist, path));
  }
}

/** Runs a script of this Node; resolves with its exit code. */
function run(...command) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit' });
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Changes with the name, length or time of any source file. */
function fingerprint() {
  const hash = createHash('sha256');
  const walk = (folder, outermost) => {
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        const isMade = entry.name === 'node_modules' || entry.name === 'dist';
        if (!isMade && !(outermost && SKIPPED.test(entry.name))) walk(path, false);
      } else if (SOURCES.test(entry.name)) {
        const { size, mtimeMs } = statSync(path);
        hash.update(`${relative(root, path)} ${size} ${mtimeMs}\n`);
      }
    }
  };
  walk(root, true);
  return hash.digest('hex');
}
