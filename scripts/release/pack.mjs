/**
 * Packs the program and the packages (workspaces) from what is built. The tarball of the program has the packages in it, so that `npx <tarball>` needs one
 * file: no tarball has the links in `node_modules/` by which a checkout finds them. What others wrote comes from the registry. The
 * packages bundle nothing, since who passes a machine shares XState with them. The same sources give the same bytes.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { buildSync } from 'esbuild';
import { BUNDLED_PACKAGES } from '../bundle.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
/** Of the tests stays what `sealwright bench` needs: a local authority, and the judges of its outputs. */
const TESTS = new Set(['pki', 'verifiers']);
/** Packages of their own. */
const APART = new Set(['clients', 'examples']);
/** Parts of dist/ that only the repository needs. */
const LEFT_OUT = /(^|\/)(\.built|\.made|\.tsbuildinfo.*|[^/]+\.map|shared-tests|described|prepared)$/;
/** Packages that scripts, styles and icons of the pages take in, and the reader of PDFs (scripts/vendor-pdf.mjs). */
const IN_PAGES = ['@fontsource-variable/inter', 'lucide-static', 'pdfjs-dist', 'preact'];
/** Members of package.json that a user of the program needs. */
const MEMBERS = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'type',
  'bin',
  'imports',
  'engines',
  'optionalDependencies',
];

/**
 * Packs into a folder, and returns the paths: the program first, the packages in the order of the workspaces, the client, the node for n8n, the server
 * for assistants, and traces of the runtime.
 */
export function packAll(folder) {
  const work = mkdtempSync(join(tmpdir(), 'sealwright-pack-'));
  try {
    const packages = readJson(ROOT, 'package.json').workspaces.map((name) => pack(join(ROOT, name), folder));
    const staged = join(work, 'sealwright');
    mkdirSync(staged);
    stageProgram(staged, packages);
    const client = packClient(join(work, 'client'), folder);
    const node = packNode(join(work, 'n8n'), folder);
    const mcp = packMcp(join(work, 'mcp'), folder);
    const telemetry = packOpenTelemetry(join(work, 'opentelemetry'), folder);
    return [pack(staged, folder), ...packages, client, node, mcp, telemetry];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function stageProgram(staged, packages) {
  const dist = join(ROOT, 'dist');
  cpSync(dist, join(staged, 'dist'), {
    recursive: true,
    filter: (path) => {
      const [top, second] = relative(dist, path).split(sep);
      return (
        !LEFT_OUT.test(path) &&
        !APART.has(top) &&
        (top !== 'test' || second === undefined || TESTS.has(second))
      );
    },
  });
  for (const name of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'])
    cpSync(join(ROOT, name), join(staged, name));
  writeFileSync(join(staged, 'THIRD-PARTY-LICENCES.txt'), thirdPartyLicences());
  const whole = readJson(ROOT, 'package.json');
  const members = Object.fromEntries(
    MEMBERS.filter((name) => name in whole).map((name) => [name, whole[name]]),
  );
  const own = whole.workspaces.map((folder) => readJson(ROOT, folder, 'package.json'));
  // npm does not install what packages in a tarball depend on, so the program names it.
  const dependencies = Object.assign({}, ...own.map((one) => one.dependencies), whole.dependencies);
  const bundleDependencies = own.map(({ name }) => name);
  const text = JSON.stringify({ ...members, dependencies, bundleDependencies }, null, 2);
  writeFileSync(join(staged, 'package.json'), `${text}\n`);
  for (const [at, { name }] of own.entries()) {
    const place = join(staged, 'node_modules', name);
    mkdirSync(place, { recursive: true });
    run(staged, 'tar', 'xzf', packages[at], '-C', place, '--strip-components=1', '--no-same-owner');
  }
}

/** The client of `clients/typescript/`: what it is compiled to, with its types and those of the operations. */
function packClient(staged, folder) {
  mkdirSync(staged);
  const source = join(ROOT, 'clients', 'typescript');
  writeTypes(join(source, 'client.ts'), staged);
  for (const name of ['client.js', 'idempotency-keys.js'])
    cpSync(join(ROOT, 'dist', 'clients', 'typescript', name), join(staged, name));
  for (const name of ['portal.d.ts', 'batch.d.ts']) cpSync(join(source, name), join(staged, name));
  cpSync(join(ROOT, 'LICENSE'), join(staged, 'LICENSE'));
  const readme = readFileSync(join(ROOT, 'clients', 'README.md'), 'utf8')
    .replaceAll('./typescript/client.ts', '@sealwright/client')
    .replaceAll(/\.\/typescript\/(portal|batch)\.d\.ts/g, '@sealwright/client/$1');
  writeFileSync(join(staged, 'README.md'), readme);
  const { version, license, engines } = readJson(ROOT, 'package.json');
  const members = {
    name: '@sealwright/client',
    version,
    license,
    engines,
    type: 'module',
    description: 'Typed client of the HTTP APIs of sealwright, on fetch alone.',
    exports: {
      '.': './client.js',
      './portal': { types: './portal.d.ts' },
      './batch': { types: './batch.d.ts' },
    },
  };
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(members, null, 2)}\n`);
  return pack(staged, folder);
}

/** The node for n8n, which loads CommonJS and finds a class by the name of its file. It needs no other package. */
export function packNode(staged, folder) {
  mkdirSync(join(staged, 'dist'), { recursive: true });
  const source = join(ROOT, 'clients', 'n8n');
  const classes = {
    'Sealwright.node.js': ['Sealwright', 'node.ts'],
    'SealwrightBatchApi.credentials.js': ['SealwrightBatchApi', 'credentials.ts'],
    'SealwrightPortalApi.credentials.js': ['SealwrightPortalApi', 'credentials.ts'],
  };
  for (const [name, [exported, file]] of Object.entries(classes))
    buildSync({
      stdin: {
        contents: `export { ${exported} } from './${file}';`,
        resolveDir: source,
      },
      outfile: join(staged, 'dist', name),
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      charset: 'utf8',
    });
  cpSync(join(source, 'sealwright.svg'), join(staged, 'dist', 'sealwright.svg'));
  cpSync(join(source, 'README.md'), join(staged, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(staged, 'LICENSE'));
  const [node, ...credentials] = Object.keys(classes).map((name) => `dist/${name}`);
  const n8n = { n8nNodesApiVersion: 1, nodes: [node], credentials };
  return packOwn(source, staged, folder, { type: 'commonjs', n8n });
}

/** The server for assistants, in one file. It needs no other package. */
export function packMcp(staged, folder) {
  const source = join(ROOT, 'clients', 'mcp');
  const { version } = readJson(ROOT, 'package.json');
  buildSync({
    entryPoints: [join(source, 'main.ts')],
    outfile: join(staged, 'dist', 'main.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    charset: 'utf8',
    define: { 'process.env.SEALWRIGHT_MCP_VERSION': JSON.stringify(version) },
  });
  cpSync(join(source, 'README.md'), join(staged, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(staged, 'LICENSE'));
  return packOwn(source, staged, folder, {});
}

/** Traces and metrics of the runtime, with their types. */
function packOpenTelemetry(staged, folder) {
  const source = join(ROOT, 'clients', 'opentelemetry');
  const out = join(staged, 'dist');
  mkdirSync(out, { recursive: true });
  writeTypes(join(source, 'index.ts'), out);
  cpSync(join(ROOT, 'dist', 'clients', 'opentelemetry', 'index.js'), join(out, 'index.js'));
  cpSync(join(source, 'README.md'), join(staged, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(staged, 'LICENSE'));
  return packOwn(source, staged, folder, {});
}

/** Writes the types of a file for programs that use its package. */
function writeTypes(file, folder) {
  const flags = [
    '--ignoreConfig',
    '--declaration',
    '--emitDeclarationOnly',
    '--allowImportingTsExtensions',
    '--strict',
  ];
  const target = ['--target', 'es2022', '--module', 'nodenext', '--types', 'node', '--outDir', folder];
  run(ROOT, process.execPath, 'node_modules/typescript/bin/tsc', ...flags, ...target, file);
}

/** Packs a client with its own package.json, which has the version of the program. */
function packOwn(source, staged, folder, more) {
  const { version, license, engines } = readJson(ROOT, 'package.json');
  const members = { ...readJson(source, 'package.json'), version, license, engines, ...more };
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(members, null, 2)}\n`);
  return pack(staged, folder);
}

/** Licences of what is copied or bundled into dist/, without the packages that npm installs with their own texts. */
function thirdPartyLicences() {
  const names = [...new Set([...IN_PAGES, ...BUNDLED_PACKAGES])].sort();
  return names
    .map((name) => {
      const folder = join(ROOT, 'node_modules', name);
      const { version, license } = readJson(folder, 'package.json');
      const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
      return `${name} ${version}, ${license}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** Runs `npm pack` in a folder, and returns the path of the tarball. */
function pack(from, folder) {
  // npm makes commands of packages executable where it installs, and packs the modes that it finds.
  for (const path of Object.values(readJson(from, 'package.json').bin ?? {}))
    chmodSync(join(from, path), 0o755);
  const name = run(from, 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder).trim();
  return join(folder, basename(name));
}

function run(cwd, command, ...words) {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${[command, ...words].join(' ')} ended with ${status}:\n${stdout}${stderr}`);
}

function readJson(...path) {
  return JSON.parse(readFileSync(join(...path), 'utf8'));
}
