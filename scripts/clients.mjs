/**
 * Generates clients of both services from their descriptions with OpenAPI Generator, which needs Java.
 *
 * npm run clients -- <language> … [--out <folder>]      python, java, csharp, php, go; default: all, in dist-clients
 *
 * OPENAPI_GENERATOR names the jar of another version; without it the npm package of the generator is used. exit 0: all are there.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { forGenerators } from './clients/for-generators.mjs';
import { asOpenApi30 } from './clients/version-3-0.mjs';

const ROOT = join(import.meta.dirname, '..');
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: 'dist-clients' } },
});
/** The last versions of the npm package that have the generator in them; later ones load it from elsewhere. */
const LAST = '1.0.18-5.0.0-beta2';
const isNewer = Boolean(process.env.OPENAPI_GENERATOR);
const LANGUAGES = {
  python: {
    generator: 'python',
    names: (api) => ['--package-name', `sealwright_${api}`],
    mend: forPython,
  },
  java: {
    generator: 'java',
    names: (api) => [
      '--additional-properties=openApiNullable=false',
      '--library',
      'native',
      '--group-id',
      'sealwright',
      '--artifact-id',
      `sealwright-${api}`,
      ...['', 'api', 'model'].flatMap((part) => [
        `--${part || 'invoker'}-package`,
        ['sealwright', api, part].filter(Boolean).join('.'),
      ]),
    ],
  },
  csharp: {
    generator: 'csharp-netcore',
    isForOneFile: true,
    names: (api) => [
      '--package-name',
      `Sealwright.${titled(api)}`,
      // Requests are sent by the HTTP client of the platform. Later versions have that themselves.
      ...(isNewer ? ['--library', 'httpclient'] : ['-t', join(ROOT, 'scripts/clients/csharp')]),
    ],
  },
  php: {
    generator: 'php',
    isForOneFile: true,
    names: (api) => [
      '--git-user-id',
      'sealwright',
      '--git-repo-id',
      api,
      `--additional-properties=invokerPackage=Sealwright\\\\${titled(api)}`,
    ],
    mend: forPhp,
  },
  go: {
    generator: 'go',
    isForOneFile: true,
    names: (api) => [
      '--package-name',
      `sealwright_${api}`,
      '--git-user-id',
      'sealwright',
      '--git-repo-id',
      api,
      // This version makes no models; the pages that it makes of them are given the form of models.
      ...(isNewer ? [] : ['-t', join(ROOT, 'scripts/clients/go')]),
    ],
    mend: forGo,
  },
};

const languages = positionals.length > 0 ? positionals : Object.keys(LANGUAGES);
const unknown = languages.filter((name) => !Object.hasOwn(LANGUAGES, name));
if (unknown.length > 0)
  fail(`no generator for ${unknown.join(', ')}; there are ${Object.keys(LANGUAGES).join(', ')}`);
const built = (path) => import(pathToFileURL(join(ROOT, process.env.SEALWRIGHT_DIST ?? 'dist', path)).href);
const { batchDocument, portalDocument } = await built('test/http/descriptions.js');

const out = resolve(options.out);
mkdirSync(out, { recursive: true });
for (const [api, document] of [
  ['batch', batchDocument()],
  ['portal', portalDocument()],
]) {
  for (const language of languages) {
    const description = join(out, `${language}-${api}.json`);
    const { isForOneFile } = LANGUAGES[language];
    writeFileSync(description, JSON.stringify(forGenerators(asOpenApi30(document), isForOneFile)));
    generate(language, api, description);
  }
}

function generate(language, api, description) {
  const { generator, names, mend } = LANGUAGES[language];
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
    // It runs for seconds: the compiler that optimizes costs more than it saves.
    env: { JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC', ...process.env },
  });
  if (status !== 0)
    fail(`${language}: the generator ended with ${status}\n${(stdout + stderr).slice(-4000)}`);
  if (!isNewer) mend?.(folder);
  const warnings = new Set((stdout + stderr).match(/(?<=WARN +).*/g));
  console.log(`${folder}${[...warnings].map((one) => `\n  ${one}`).join('')}`);
}

/** The client asks for a token that it never sets. */
function forPython(folder) {
  const [name] = readdirSync(folder).filter((one) => existsSync(join(folder, one, 'configuration.py')));
  const path = join(folder, name, 'configuration.py');
  replace(path, 'if self.access_token is not None', "if getattr(self, 'access_token', None) is not None");
}

/** The generator calls functions that the HTTP library for PHP no longer has. */
function forPhp(folder) {
  const names = readdirSync(join(folder, 'lib/Api')).map((name) => `lib/Api/${name}`);
  for (const name of [...names, 'composer.json']) {
    const path = join(folder, name);
    replace(path, '\\GuzzleHttp\\Psr7\\try_fopen(', '\\GuzzleHttp\\Psr7\\Utils::tryFopen(');
    replace(path, '\\GuzzleHttp\\Psr7\\build_query(', '\\GuzzleHttp\\Psr7\\Query::build(');
    replace(path, '\\GuzzleHttp\\json_encode(', '\\GuzzleHttp\\Utils::jsonEncode(');
    replace(path, '"guzzlehttp/guzzle": "^6.2"', '"guzzlehttp/guzzle": "^7.4"');
  }
}

function replace(path, before, after) {
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(before, after));
}

/** Models are among the pages; a page begins with its title. The client reads `application/problem+json` as no JSON. */
function forGo(folder) {
  replace(join(folder, 'client.go'), '(?:vnd\\.[^;]+\\+)?json', '(?:[^;]+\\+)?json');
  for (const name of readdirSync(join(folder, 'docs'))) {
    const path = join(folder, 'docs', name);
    if (readFileSync(path, 'utf8').startsWith('#')) continue;
    renameSync(path, join(folder, `model_${name.replace(/\.md$/, '.go')}`));
  }
}

function titled(name) {
  return name.replace(/^./, (first) => first.toUpperCase());
}

function fail(reason) {
  console.error(`clients: ${reason}`);
  process.exit(1);
}
