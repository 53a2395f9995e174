/**
 * Generates clients of both services from their descriptions with OpenAPI Generator, which needs Java.
 *
 * npm run clients -- <language> … [--out <folder>]      python, java, csharp; php and go with a newer generator; default: all, in dist-clients
 *
 * OPENAPI_GENERATOR names the jar of another version; without it the npm package of the generator is used. exit 0: all are there.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { forGenerators } from './clients/for-generators.mjs';

const ROOT = join(import.meta.dirname, '..');
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: 'dist-clients' } },
});
/** The last versions of the npm package that have the generator in them; later ones load it from elsewhere. */
const LAST = '1.0.18-5.0.0-beta2';
/** Its client for PHP cannot read refusals, and it makes no models for Go: these need a newer version. */
const NEED_NEWER = ['php', 'go'];
const LANGUAGES = {
  python: { generator: 'python', names: (api) => ['--package-name', `sealwright_${api}`] },
  java: {
    generator: 'java',
    names: (api) => [
      '--additional-properties=openApiNullable=false',
      ...['--library', 'native', '--group-id', 'sealwright', '--artifact-id', `sealwright-${api}`],
      ...['', 'api', 'model'].flatMap((part) => [
        `--${part || 'invoker'}-package`,
        ['sealwright', api, part].filter(Boolean).join('.'),
      ]),
    ],
  },
  csharp: { generator: 'csharp-netcore', names: (api) => ['--package-name', `Sealwright.${titled(api)}`] },
  php: {
    generator: 'php',
    names: (api) => [
      ...['--git-user-id', 'sealwright', '--git-repo-id', api],
      `--additional-properties=invokerPackage=Sealwright\\\\${titled(api)}`,
    ],
  },
  go: {
    generator: 'go',
    names: (api) => [
      ...['--package-name', `sealwright_${api}`, '--git-user-id', 'sealwright', '--git-repo-id', api],
    ],
  },
};

const isNewer = Boolean(process.env.OPENAPI_GENERATOR);
const offered = Object.keys(LANGUAGES).filter((name) => isNewer || !NEED_NEWER.includes(name));
const languages = positionals.length > 0 ? positionals : offered;
const unknown = languages.filter((name) => !offered.includes(name));
if (unknown.length > 0)
  fail(
    `no generator for ${unknown.join(', ')}; there are ${offered.join(', ')}${isNewer ? '' : ', and more with OPENAPI_GENERATOR'}`,
  );
const built = (path) => import(pathToFileURL(join(ROOT, process.env.SEALWRIGHT_DIST ?? 'dist', path)).href);
const { asOpenApi30 } = await built('http/core/openapi/version-3-0.js');
const { portalDocument } = await built('test/http/portal/harness.js');
const { batchDocument } = await built('test/http/answers.js');

const out = resolve(options.out);
mkdirSync(out, { recursive: true });
for (const [api, document] of [
  ['batch', batchDocument()],
  ['portal', portalDocument()],
]) {
  const description = join(out, `${api}.json`);
  writeFileSync(description, JSON.stringify(forGenerators(asOpenApi30(document))));
  for (const language of languages) generate(language, api, description);
}

function generate(language, api, description) {
  const { generator, names } = LANGUAGES[language];
  const folder = join(out, `${language}-${api}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const words = ['generate', '-i', description, '-g', generator, '-o', folder, ...names(api)];
  const jar = process.env.OPENAPI_GENERATOR;
  const [command, ...more] = jar
    ? ['java', '-jar', jar]
    : ['npx', '-y', '-p', `@openapitools/openapi-generator-cli@${LAST}`, '--', 'openapi-generator'];
  const { status, stdout, stderr } = spawnSync(command, [...more, ...words], {
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (status !== 0)
    fail(`${language}: the generator ended with ${status}\n${(stdout + stderr).slice(-4000)}`);
  const warnings = new Set((stdout + stderr).match(/(?<=WARN +).*/g));
  console.log(`${folder}${[...warnings].map((one) => `\n  ${one}`).join('')}`);
}

function titled(name) {
  return name.replace(/^./, (first) => first.toUpperCase());
}

function fail(reason) {
  console.error(`clients: ${reason}`);
  process.exit(1);
}
