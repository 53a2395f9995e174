/** The files of a release: the same commit gives the same bytes, and the program works as packed. */
import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { startCommand } from '../commands/program.ts';
import { casesOf } from './rounds.ts';
import { reached } from './waiting.ts';

function folderFor(t: ExecutionContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sealwright-release-')));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** Resolves with what a program printed. It does not block the process: the runner asks it whether it still works. */
async function runIn(cwd: string, command: string, ...words: readonly string[]): Promise<string> {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
  const { stdout } = await promisify(execFile)(command, words, { cwd, env, maxBuffer: 1e8 });
  return stdout;
}

/** Copies the sources to another folder, with the packages that are installed here. */
async function copySources(folder: string): Promise<void> {
  const files = await runIn('.', 'git', 'ls-files', '-co', '--exclude-standard');
  for (const file of files.split('\n')) {
    if (file === '' || !existsSync(file)) continue;
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(file, join(folder, file));
  }
  // Links of files: copies take ten times as long. What is made of pdf.js depends on its version and takes seconds.
  await runIn('.', 'cp', '-al', realpathSync('node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'dist'));
  await runIn('.', 'cp', '-al', 'dist/vendor', join(folder, 'dist', 'vendor'));
  writeFileSync(
    join(folder, '.git'),
    `gitdir: ${await runIn('.', 'git', 'rev-parse', '--absolute-git-dir')}`,
  );
}

const NOBODY = 65534;
const AS_NOBODY =
  process.getuid?.() === 0 ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];

let packing: Promise<string> | undefined;

/** Folder with what is packed from the build of the repository, once for all tests. */
function packed(): Promise<string> {
  packing ??= (async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sealwright-packed-')));
    const pack = `import('./scripts/release/pack.mjs').then(({ packAll }) => packAll(${JSON.stringify(folder)}))`;
    await runIn('.', process.execPath, '-e', pack);
    return folder;
  })();
  return packing;
}

test.after.always(async () => {
  if (packing !== undefined) rmSync(await packing, { recursive: true, force: true });
});

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

// A copy of everything and a build take a minute of processor time.
for (const title of casesOf(
  [],
  ['a build in another folder gives the same tarballs, and the release says what they are'],
))
  test(title, async (t) => {
    t.timeout(600_000, 'a copy of everything, and a build');
    const work = folderFor(t);
    const here = await packed();
    const copy = join(work, 'a copy');
    mkdirSync(copy);
    await copySources(copy);
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    writeFileSync(join(work, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const out = join(work, 'out');
    const flags = ['--only-pack', '--out', out, '--key', join(work, 'key.pem')];
    const printed = await runIn(copy, process.execPath, 'scripts/release.mjs', ...flags);
    const names = [
      `n8n-nodes-sealwright-${version}.tgz`,
      `sealwright-${version}.cdx.json`,
      `sealwright-${version}.intoto.json`,
      `sealwright-${version}.tgz`,
      `sealwright-client-${version}.tgz`,
      `sealwright-mcp-${version}.tgz`,
      `sealwright-opentelemetry-${version}.tgz`,
      `sealwright-runtime-${version}.tgz`,
      `sealwright-signatures-${version}.tgz`,
    ];
    t.deepEqual(readdirSync(out), ['SHA256SUMS', ...names]);
    const sums = new Map(names.map((name) => [name, sha256(join(out, name))]));
    t.is(printed, [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join(''));
    t.is(readFileSync(join(out, 'SHA256SUMS'), 'utf8'), printed);

    for (const name of readdirSync(here)) t.is(sums.get(name), sha256(join(here, name)), name);

    const { payload, payloadType, signatures } = JSON.parse(readFileSync(join(out, names[2] ?? ''), 'utf8'));
    const bytes = Buffer.from(payload, 'base64');
    const signed = Buffer.concat([
      Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `),
      bytes,
    ]);
    const sig = Buffer.from(signatures[0].sig, 'base64');
    t.true(verify(null, signed, publicKey, sig));
    const { subject, predicate } = JSON.parse(bytes.toString());
    const stated = subject.map(({ name, digest }: { name: string; digest: { sha256: string } }) => [
      name,
      digest.sha256,
    ]);
    t.deepEqual(
      stated,
      [...sums].filter(([name]) => !name.endsWith('.intoto.json')),
    );
    const [{ digest }] = predicate.buildDefinition.resolvedDependencies;
    t.is(digest.gitCommit, (await runIn('.', 'git', 'rev-parse', 'HEAD')).trim());

    const { metadata, components } = JSON.parse(readFileSync(join(out, names[1] ?? ''), 'utf8'));
    t.is(metadata.component.name, 'sealwright');
    const purls = components.map(({ purl }: { purl: string }) => purl);
    t.true(
      purls.includes('pkg:npm/lmdb@3.5.6') && purls.includes(`pkg:npm/%40sealwright/runtime@${version}`),
    );
    t.false(
      purls.some((purl: string) => purl.includes('/typescript@')),
      'what only builds is no component',
    );
  });

/** Packages whose modules are in bundled files of a folder: the bundler names each module above its code. */
function bundledIn(folder: string): ReadonlySet<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.js'),
  );
  return new Set(
    files.flatMap((path) =>
      [
        ...readFileSync(join(folder, path), 'utf8').matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm),
      ].map(([, name = '']) => name),
    ),
  );
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8')).version;
}

test('a package that npm packs by itself is that of the release, and the repository is not packed', async (t) => {
  const folder = folderFor(t);
  for (const name of ['runtime', 'crypto']) {
    const words = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', folder];
    const tarball = (await runIn(name, 'npm', ...words)).trim().split('\n').at(-1) ?? '';
    t.is(sha256(join(folder, tarball)), sha256(join(await packed(), tarball)), tarball);
  }
  const refused = await t.throwsAsync(runIn('.', 'npm', 'pack', '--dry-run'));
  t.regex(refused?.message ?? '', /npm run release/);
});

test('the packed program has all that it needs, with the licences of what is in it', async (t) => {
  t.timeout(300_000);
  const work = folderFor(t);
  await runIn(work, 'tar', 'xzf', join(await packed(), `sealwright-${version}.tgz`));
  const installed = join(work, 'package');
  const { dependencies, scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  t.is(scripts, undefined, 'nothing runs when it is installed');
  // Others come from the registry: here from the repository, and only those that the package names. Links of files, since
  // the user below may not enter the folder of the repository.
  const all = join(work, 'all');
  mkdirSync(all);
  await runIn('.', 'cp', '-al', realpathSync('node_modules'), join(all, 'node_modules'));
  for (const name of Object.keys(dependencies).filter((one) => !one.startsWith('@sealwright/'))) {
    mkdirSync(dirname(join(installed, 'node_modules', name)), { recursive: true });
    symlinkSync(join(all, 'node_modules', name), join(installed, 'node_modules', name));
  }
  if (process.getuid?.() === 0) {
    // A user that may write nothing but its own folder, as in an image with a read-only root.
    chmodSync(work, 0o755);
    mkdirSync(join(work, 'documents'));
    chownSync(join(work, 'documents'), NOBODY, NOBODY);
  }
  const licences = readFileSync(join(installed, 'THIRD-PARTY-LICENCES.txt'), 'utf8');
  for (const words of [/^@fontsource-variable\/inter 5.* OFL-1\.1$/m, /SIL OPEN FONT LICENSE/])
    t.regex(licences, words);
  const bundled = bundledIn(join(installed, 'dist'));
  t.true(bundled.has('zod') && bundled.has('preact'), 'the search finds what is bundled');
  t.deepEqual(
    [...bundled].filter((name) => !licences.includes(`\n${name} ${versionOf(name)}, `)),
    [],
  );
  for (const folder of ['runtime', 'signatures'])
    t.deepEqual(
      [...bundledIn(join(installed, 'node_modules/@sealwright', folder))],
      [],
      'packages share the copies of their users',
    );
  const cwd = join(work, 'documents');
  mkdirSync(cwd, { recursive: true });
  const main = join(installed, 'dist/main.js');
  const ports = ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];
  const serve = [process.execPath, main, 'serve', '--Runtime:Shards=2', ...ports];
  const [program = '', ...words] = [...AS_NOBODY, ...serve];
  const service = startCommand(program, cwd, { words, env: {} });
  t.teardown(() => service.child.kill('SIGKILL'));
  await service.says(/\[INF\] Ready/);
  writeFileSync(join(cwd, 'data/input/hello.txt'), 'Hello');
  await reached(() => existsSync(join(cwd, 'data/output/hello.signed.txt')));
  t.regex(await runIn(cwd, process.execPath, main, 'try'), /is good: 1 signature/);
  service.child.kill('SIGTERM');
  t.is(await service.ended, 0);
});

test('the packed client has its types, and calls a service', async (t) => {
  const work = folderFor(t);
  const place = join(work, 'node_modules', '@sealwright', 'client');
  mkdirSync(place, { recursive: true });
  const tarball = join(await packed(), `sealwright-client-${version}.tgz`);
  await runIn(work, 'tar', 'xzf', tarball, '-C', place, '--strip-components=1');
  symlinkSync(realpathSync('node_modules/@types'), join(work, 'node_modules', '@types'));
  const program = (operation: string) =>
    `import { Client } from '@sealwright/client';
import type { PortalOperations } from '@sealwright/client/portal';
const portal = new Client<PortalOperations>({ url: 'http://127.0.0.1:1', retries: 0, fetch: async (url) => Response.json({ url: String(url) }) });
console.log(await portal.call('${operation}', { params: { id: 'a b' } }));
`;
  writeFileSync(join(work, 'package.json'), '{"type":"module"}');
  const tsc = join(realpathSync('node_modules'), 'typescript/bin/tsc');
  const flags = [
    '--ignoreConfig',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--types',
    'node',
  ];
  writeFileSync(join(work, 'good.ts'), program('GET /api/documents/{id}'));
  await runIn(work, process.execPath, tsc, ...flags, 'good.ts');
  t.regex(await runIn(work, process.execPath, 'good.js'), /api\/documents\/a%20b/);
  writeFileSync(join(work, 'wrong.ts'), program('GET /api/document/{id}'));
  await t.throwsAsync(runIn(work, process.execPath, tsc, ...flags, 'wrong.ts'));
});
