/**
 * Bundles with esbuild what would otherwise load hundreds of modules at each start: the program with the threads that
 * it always starts, with the small packages of others that each start loads; and tests that share a process
 * (ava.config.mjs), with packages left outside. And the scripts and stylesheets of the pages.
 *
 * node scripts/bundle.mjs   replaces the compiled entries of the program in dist/; dist/chunks/ has what they share;
 *                           dist/web/assets/ has what browsers load
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');

/**
 * Entries of the program: the command line and each thread whose module is fixed. The threads of shards load modules
 * by address, also of tests, and both must use the same classes; they stay as compiled.
 */
const ENTRIES = [
  'main.ts',
  'actors/pool/worker/worker.ts',
  'actors/batch/uploads/upload-worker.ts',
  'actors/batch/watched-folder/sample-worker.ts',
  'actors/portal/reports/report-worker.ts',
  'actors/shared/trust-lists/list-worker.ts',
  'http/portal/input/body-worker.ts',
];

/** Threads of packages, by folder; each is bundled in the dist/ of its package. */
const PACKAGE_THREADS = {
  runtime: ['runtime/store/lmdb/lmdb-writer.ts', 'runtime/store/postgres/start-guard-thread.ts'],
};

/**
 * Packages of others that are taken into the program. Outside stay binaries, what is loaded seldom, and what finds files beside itself. The threads of shards load
 * compiled modules, and with them the packages from node_modules/: a thread has one copy of each.
 */
export const BUNDLED_PACKAGES = [
  'bintrees',
  'chokidar',
  'comlink',
  'commander',
  'lru-cache',
  'preact',
  'preact-render-to-string',
  'prom-client',
  'readdirp',
  'tdigest',
  'uqr',
  'xstate',
  'zod',
];

/** Folders of the packages (workspaces) by their names. */
const PACKAGES = new Map(
  readJson('package.json').workspaces.map((folder) => [readJson(folder, 'package.json').name, folder]),
);

const brotli = promisify(brotliCompress);

/** Services with pages: their scripts are in web/client/<service>/pages/, their stylesheets in web/styles/<service>/. */
const SERVICES = ['batch', 'portal'];

const SHARED = {
  absWorkingDir: ROOT,
  outbase: '.',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
};

/** Takes the packages from their sources: '@scope/name/entry', and '#folder/path.js' in tests and benchmarks. */
const SOURCES = {
  name: 'sources',
  setup(bundler) {
    bundler.onResolve({ filter: /^[@#]/ }, ({ path }) => {
      const file = sourceOf(path);
      return file === undefined ? undefined : { path: join(ROOT, file) };
    });
  },
};

function sourceOf(specifier) {
  if (specifier.startsWith('#')) return specifier.slice(1).replace(/\.js$/, '.ts');
  const [scope, name, ...entry] = specifier.split('/');
  const folder = PACKAGES.get(`${scope}/${name}`);
  return folder === undefined ? undefined : `${folder}/${entry.join('/') || 'index'}.ts`;
}

function readJson(...path) {
  return JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));
}

/** Address of the folder dist/, found from wherever a bundle is; and `require` for bundled CommonJS. It parses on old versions of Node. */
const BANNER = (dist) =>
  `import { createRequire as __createRequire } from 'module'; const require = __createRequire(import.meta.url); const __dist = import.meta.url.slice(0, import.meta.url.lastIndexOf('/${dist}/') + ${dist.length + 2});`;

/** Lets each module keep the address of its compiled file: threads, fonts and pages are found beside it. */
const ADDRESSES = {
  name: 'addresses',
  setup(bundler) {
    bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = relative(ROOT, path).split(sep).join('/').replace(/\.ts$/, '.js');
      const [name, folder] = [...PACKAGES].find(([, folder]) => source.startsWith(`${folder}/`)) ?? [];
      // An installed program has the packages in its node_modules/; Node finds their entry, dist/index.js.
      const address =
        folder === undefined
          ? `(__dist + ${JSON.stringify(source)})`
          : `new URL(${JSON.stringify(`.${source.slice(folder.length)}`)}, import.meta.resolve(${JSON.stringify(name)})).href`;
      const text = readFileSync(path, 'utf8');
      return { contents: text.replaceAll('import.meta.url', address), loader: 'ts' };
    });
  },
};

const SMALL_PACKAGES = {
  name: 'small-packages',
  setup(bundler) {
    // For exemplars, which our metrics do not have.
    bundler.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path, importer }) =>
      /[\\/]prom-client[\\/]/.test(importer) ? { path, namespace: 'left-out' } : undefined,
    );
    bundler.onResolve({ filter: /^[^./#]/ }, ({ path }) => {
      const [name] = /^(@[^/]+\/)?[^/]+/.exec(path);
      return BUNDLED_PACKAGES.includes(name) ? undefined : { path, external: true };
    });
    bundler.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};' }));
    // Messages of schemas in forty languages, half of the package; ours are English.
    bundler.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

export async function bundleProgram() {
  const outdir = join(ROOT, 'dist');
  rmSync(join(outdir, 'chunks'), { recursive: true, force: true });
  await build({
    ...SHARED,
    entryPoints: ENTRIES,
    outdir,
    allowOverwrite: true,
    splitting: true,
    sourcemap: 'linked',
    sourcesContent: false,
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: BANNER('dist') },
    packages: 'bundle',
    plugins: [SOURCES, SMALL_PACKAGES, ADDRESSES],
  });
  for (const [folder, entryPoints] of Object.entries(PACKAGE_THREADS)) {
    await build({
      ...SHARED,
      entryPoints,
      outbase: folder,
      outdir: join(ROOT, folder, 'dist'),
      allowOverwrite: true,
      sourcemap: 'linked',
      sourcesContent: false,
    });
  }
}

/**
 * One file per page: the scripts in the folders `pages/` of browser code, and the stylesheets. Names stay, for stacks
 * of browsers; the source maps beside the scripts are not served.
 *
 * Source: web/README.md.
 */
export async function bundlePages() {
  const assets = join(ROOT, 'dist', 'web', 'assets');
  rmSync(assets, { recursive: true, force: true });
  const options = {
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'browser',
    // Fonts of stylesheets are copied beside them.
    loader: { '.woff2': 'file' },
    assetNames: '[name]',
    target: 'es2023',
    minifyWhitespace: true,
    minifySyntax: true,
    charset: 'utf8',
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'warning',
  };
  // Other sites load the widget as a classic script, whose names must not collide with theirs.
  const widget = 'web/client/portal/pages/widget.ts';
  await Promise.all(
    SERVICES.flatMap((service) => {
      const outdir = join(assets, service);
      const entryPoints = [`web/client/${service}/pages`, `web/styles/${service}`]
        .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
        .filter((path) => path !== widget)
        .map((path) => ({ in: path, out: basename(path).replace(/\.\w+$/, '') }));
      return build({ ...options, outdir, format: 'esm', entryPoints });
    }),
  );
  const portal = join(assets, 'portal');
  await build({ ...options, outdir: portal, format: 'iife', entryPoints: [widget] });
  // In the best Brotli, which takes a tenth of a second a script: phones load these.
  const texts = readdirSync(portal).filter((name) => /\.(js|css)$/.test(name));
  await Promise.all(
    texts.map(async (name) => {
      const path = join(portal, name);
      writeFileSync(`${path}.br`, await brotli(readFileSync(path)));
    }),
  );
}

/**
 * Bundles test files into one per group. A title begins with the name of its file.
 *
 * @param groups name of a group → names of its test files (scripts/test-suites.mjs)
 * @param inTurn names of those that run one after the other
 * @param outdir folder below dist/ for `<group>.test.js`
 */
export async function bundleTests({ groups, inTurn }, outdir, dist = 'dist') {
  // Another run of tests may use its own.
  if (groups.size === 0) return;
  rmSync(join(ROOT, outdir), { recursive: true, force: true });
  const named = {
    name: 'named-tests',
    setup(bundler) {
      bundler.onResolve({ filter: /^ava$/ }, ({ importer, namespace }) =>
        namespace === 'file' && importer.endsWith('.test.ts')
          ? { path: relative(join(ROOT, 'test'), importer), namespace: 'ava-of' }
          : undefined,
      );
      bundler.onLoad({ filter: /.*/, namespace: 'ava-of' }, ({ path }) => {
        const title = path
          .replace(/\.test\.ts$/, '')
          .split(sep)
          .join(' › ');
        return {
          contents: `import test from 'ava'; import { named, turns } from './scripts/named-tests.mjs'; export default named(test, ${JSON.stringify(title)}${inTurn.has(path.replace(/\.test\.ts$/, '')) ? ', turns' : ''});`,
          resolveDir: ROOT,
        };
      });
      bundler.onResolve({ filter: /.*/, namespace: 'group' }, ({ path }) => ({ path }));
      bundler.onResolve({ filter: /^group:/ }, ({ path }) => ({ path: path.slice(6), namespace: 'group' }));
      bundler.onLoad({ filter: /.*/, namespace: 'group' }, ({ path }) => ({
        contents: groups
          .get(path)
          .map((name) => `import ${JSON.stringify(join(ROOT, 'test', `${name}.test.ts`))};`)
          .join('\n'),
      }));
    },
  };
  await build({
    ...SHARED,
    entryPoints: [...groups.keys()].map((name) => ({ in: `group:${name}`, out: `${name}.test` })),
    outdir,
    sourcemap: 'linked',
    sourcesContent: false,
    banner: { js: BANNER(dist) },
    plugins: [named, SOURCES, ADDRESSES],
  });
}

/** Returns who imports each file of the given tests and of what they import: path from the root → paths. */
export async function importsOf(names) {
  const { metafile } = await build({
    ...SHARED,
    entryPoints: names.map((name) => `test/${name}.test.ts`),
    outdir: 'dist',
    splitting: true,
    write: false,
    metafile: true,
    plugins: [SOURCES],
  });
  const importers = new Map();
  for (const [importer, { imports }] of Object.entries(metafile.inputs)) {
    for (const { path } of imports) importers.set(path, [...(importers.get(path) ?? []), importer]);
  }
  return importers;
}

/**
 * Tests that import one of the files (paths from the root), directly or not, the nearest first, and of those equally near
 * the ones in the folder of a file: name of the test → imports on the shortest way, 0 for a file that is itself a test.
 */
export function importersOf(files, importers) {
  const distances = new Map(files.map((file) => [file, 0]));
  // A map visits what is added to it meanwhile.
  for (const [file, distance] of distances)
    for (const importer of importers.get(file) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  const found = [...distances].flatMap(([file, distance]) => {
    const [, name] = /^test\/(.*)\.test\.ts$/.exec(file) ?? [];
    return name === undefined ? [] : [{ name, distance, common: inCommon(name, files) }];
  });
  found.sort((left, right) => left.distance - right.distance || right.common - left.common);
  return new Map(found.map(({ name, distance }) => [name, distance]));
}

/** Length of the longest path of folders that a test shares with one of the files. */
function inCommon(name, files) {
  const folders = name.split('/');
  const shared = files.map((file) => {
    const parts = file.split('/');
    const end = folders.findIndex((folder, at) => folder !== parts[at]);
    return end === -1 ? folders.length : end;
  });
  return Math.max(...shared);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await Promise.all([bundleProgram(), bundlePages()]);
