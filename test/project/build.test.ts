import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
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
import test, { type ExecutionContext } from 'ava';

/** Makes a tree with the real script, one source, and a compiler that counts builds and fails when the source says so. */
function tree(t: ExecutionContext) {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-build-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const bin = join(root, 'node_modules', 'typescript', 'bin');
  const runs = join(root, 'runs');
  for (const folder of ['scripts', 'machines', 'dist', 'runtime/dist'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'package.json'), JSON.stringify({ workspaces: ['runtime'] }));
  mkdirSync(bin, { recursive: true });
  copyFileSync('scripts/build.mjs', join(root, 'scripts', 'build.mjs'));
  for (const script of readdirSync('scripts')) {
    if (/^(check-.*|bundle)\.mjs$/.test(script)) writeFileSync(join(root, 'scripts', script), '');
  }
  writeFileSync(join(root, 'scripts', 'vendor-pdf.mjs'), 'export function vendorPdf() {}');
  writeFileSync(join(root, 'runs'), '');
  writeFileSync(
    join(bin, 'tsc'),
    `const fs = require('node:fs');
     if (process.argv.includes('-b')) fs.appendFileSync('runs', 'x');
     process.exitCode = fs.readFileSync('machines/job.ts', 'utf8').includes('broken') ? 2 : 0;`,
  );
  const source = (text: string) => writeFileSync(join(root, 'machines', 'job.ts'), text);
  source('first');
  const build = (words: readonly string[] = ['--when-changed'], script = 'prestart') =>
    spawnSync(process.execPath, ['scripts/build.mjs', ...words], {
      cwd: root,
      env: { ...process.env, npm_lifecycle_event: script },
    }).status;
  return {
    root,
    source,
    build,
    runs: () => readFileSync(runs, 'utf8').length,
    compiler: join(bin, 'tsc'),
  };
}

test('a start rebuilds the sources that changed since the last successful build, and nothing otherwise', (t) => {
  const { root, build, runs, source } = tree(t);
  t.is(build(), 0);
  writeFileSync(join(root, 'runtime', 'dist', 'index.d.ts'), 'made by the build');
  for (const folder of ['machines', 'chunks', 'vendor']) mkdirSync(join(root, 'dist', folder));
  for (const file of ['machines/job.js', 'machines/gone.js', 'chunks/chunk-1.js', 'vendor/pdf.js'])
    writeFileSync(join(root, 'dist', file), '');
  t.is(build(), 0);
  t.is(runs(), 1);
  source('another text');
  t.is(build(), 0);
  t.deepEqual(
    readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js'))
      .sort(),
    ['chunks/chunk-1.js', 'machines/job.js', 'vendor/pdf.js'],
    'what removed sources had compiled to is removed',
  );
  t.is(runs(), 2);
  t.is(build([]), 0);
  t.is(runs(), 3, 'asked for by name, a build is a build');
});

test('a failed build fails again until its cause is removed, and never fails an installation', (t) => {
  const { build, runs, source } = tree(t);
  t.is(build(), 0);
  source('broken');
  t.is(build(), 2);
  t.is(build(['--when-changed'], 'prepare'), 0);
  t.is(build(), 2);
  t.is(runs(), 4);
  source('mended');
  t.is(build(), 0);
});

test('without a compiler a start uses an existing build, and an installation continues', (t) => {
  const { root, build, compiler } = tree(t);
  rmSync(compiler);
  t.is(build(), 1);
  t.is(build(['--when-changed'], 'prepare'), 0);
  writeFileSync(join(root, 'dist', 'main.js'), '');
  t.is(build(), 0);
  t.is(build([]), 1);
  t.false(existsSync(join(root, 'dist', '.built')));
});
