/**
 * Makes a release: builds, checks, packs, and describes what it packed. Nothing is published.
 *
 * npm run release -- [--out <folder>] [--tests] [--only-pack] [--key <private key, PEM>] [--image] [--compose]
 *
 * --tests      runs all tests of a release, which takes an hour, and --compose
 * --only-pack  leaves out what judges the sources and asks the registry: lint, licences, publint, npx of the tarball, the audit
 * --key        signs the provenance statement (a DSSE envelope)
 * --image      builds the image with podman, buildah or docker
 * --compose    starts the compose files (try-compose.mjs), where Podman is installed and this is root; images stay in a folder of the system's temporary one
 *
 * The folder has four tarballs (program, two packages, client), a bill of materials (CycloneDX), a provenance statement (in-toto, SLSA) and SHA256SUMS. The same commit gives the same
 * bytes. exit 0: all is there; 1: a step failed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packAll } from './release/pack.mjs';

const ROOT = join(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist-release' },
    tests: { type: 'boolean' },
    'only-pack': { type: 'boolean' },
    key: { type: 'string' },
    image: { type: 'boolean' },
    compose: { type: 'boolean' },
  },
});
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const out = resolve(options.out);

step('build', process.execPath, 'scripts/build.mjs', ...(options['only-pack'] ? ['--only-compile'] : []));
if (!options['only-pack']) {
  step('lint, generated pages and licences', 'npm', 'run', '-s', 'lint');
  step('packages in empty projects', process.execPath, 'scripts/check-packages.mjs');
  audit();
}
if (options.tests) step('tests', 'npm', 'test', { SEALWRIGHT_TESTS: 'release' });
if (options.tests || options.compose) compose();
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
packAll(out);
write(`sealwright-${version}.cdx.json`, billOfMaterials());
const packed = readdirSync(out)
  .sort()
  .map((name) => ({ name, digest: { sha256: sha256(readFileSync(join(out, name))) } }));
const statement = provenance(packed);
write(
  `sealwright-${version}.intoto.json`,
  options.key === undefined ? statement : signed(statement, options.key),
);
const sums = readdirSync(out)
  .sort()
  .map((name) => `${sha256(readFileSync(join(out, name)))}  ${name}\n`)
  .join('');
writeFileSync(join(out, 'SHA256SUMS'), sums);
if (options.image) image();
process.stdout.write(sums);

function step(title, command, ...words) {
  const more = typeof words.at(-1) === 'object' ? words.pop() : {};
  console.error(`release: ${title}`);
  const { status } = spawnSync(command, words, {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, ...more },
  });
  if (status !== 0) fail(`${title}: ${command} ended with ${status}`);
}

function fail(reason) {
  console.error(`release: ${reason}`);
  process.exit(1);
}

/** Fails on a known weakness of a shipped package. A registry that answers no audit is named, and does not fail. */
function audit() {
  const { status, stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const { metadata } = JSON.parse(stdout || '{}');
  if (metadata === undefined) console.error('release: the registry answers no audit; nothing was checked');
  else if (status !== 0) fail(`npm audit: ${JSON.stringify(metadata.vulnerabilities)}`);
}

/** From the lock file, for all platforms; without what differs from run to run and from folder to folder. */
function billOfMaterials() {
  const words = [
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--package-lock-only',
    '--omit=dev',
  ];
  const bom = JSON.parse(execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 }));
  delete bom.serialNumber;
  bom.metadata.timestamp = git('log', '-1', '--format=%cI');
  // npm takes the names of folders.
  for (const component of [bom.metadata.component, ...bom.components]) {
    const [, name] = /^pkg:npm\/(.+)@[^@]+$/.exec(component.purl) ?? [];
    if (name !== undefined) component.name = decodeURIComponent(name);
  }
  return bom;
}

/** Source: https://slsa.dev/spec/v1.0/provenance, https://in-toto.io/Statement/v1. */
function provenance(subject) {
  const lock = sha256(readFileSync(join(ROOT, 'package-lock.json')));
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:sealwright:release:v1',
        externalParameters: { command: 'npm run release', version },
        internalParameters: { node: process.version, isClean: git('status', '--porcelain', '-uno') === '' },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: git('rev-parse', 'HEAD') } },
          { name: 'package-lock.json', digest: { sha256: lock } },
        ],
      },
      runDetails: { builder: { id: 'urn:sealwright:release-script' } },
    },
  };
}

/** A DSSE envelope. Source: https://github.com/secure-systems-lab/dsse/blob/master/protocol.md. */
function signed(statement, file) {
  const payloadType = 'application/vnd.in-toto+json';
  const payload = Buffer.from(JSON.stringify(statement));
  const key = createPrivateKey(readFileSync(file));
  const whole = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
    payload,
  ]);
  const algorithm = /^ed/.test(key.asymmetricKeyType) ? null : 'sha256';
  const keyid = sha256(createPublicKey(key).export({ type: 'spki', format: 'der' }));
  const sig = sign(algorithm, whole, key).toString('base64');
  return { payloadType, payload: payload.toString('base64'), signatures: [{ keyid, sig }] };
}

/** Starts the compose files. On a machine that cannot, that is said and the release goes on. */
function compose() {
  const programs = ['podman', 'podman-compose', 'runc', 'debootstrap'];
  const missing = programs.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  if (missing.length > 0 || process.getuid?.() !== 0)
    return console.error(
      `release: the compose files were NOT tried: that needs root and the packages ${programs.join(', ')}${missing.length > 0 ? `; missing here: ${missing.join(', ')}` : ''}`,
    );
  const folder = join(tmpdir(), 'sealwright-compose');
  step('compose files under Podman', process.execPath, 'scripts/release/try-compose.mjs', folder);
}

function image() {
  const builder = ['podman', 'buildah', 'docker'].find(
    (name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0,
  );
  if (builder === undefined) fail('--image: neither podman, buildah nor docker works here');
  const recipe = ['-t', `sealwright:${version}`, '-f', 'deploy/container/Containerfile', '.'];
  step('image', builder, 'build', ...recipe);
}

function write(name, content) {
  writeFileSync(join(out, basename(name)), `${JSON.stringify(content, null, 2)}\n`);
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function git(...words) {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
}
