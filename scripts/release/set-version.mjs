/**
 * Sets the version of the next release, by what CHANGELOG.md lists under [Unreleased].
 *
 *   node scripts/release/set-version.mjs [--check]
 *
 * A section *Removed*, *Changed* or *Added* makes a minor version (a major one from 1.0 on, where it is *Removed*), *Fixed* and *Security* alone make a
 * patch. [Unreleased] becomes the section of the version, with the date of today. The version is written wherever it stands: package.json of the program
 * and its packages, the lock file, the chart, and the pages that name it.
 *
 * --check  changes nothing. Exit code 1, with the places on standard error, when a place names another version, or when the section of the version does not
 *          name the formats of the stores that the program has
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..', '..');
/** Files with the version, and what stands before it in each place. */
const PLACES = {
  'package.json': [/"version": "/g, /"@sealwright\/(?:runtime|signatures)": "/g],
  'crypto/package.json': [/"version": "/g],
  'runtime/package.json': [/"version": "/g],
  'package-lock.json': [
    /^ {2}"version": "/gm,
    /"(?:name": "(?:@sealwright\/\w+|sealwright)",\n\s+"version)": "/g,
    /"@sealwright\/(?:runtime|signatures)": "/g,
  ],
  'deploy/helm/Chart.yaml': [/^version: /gm, /^appVersion: "/gm],
  'README.md': [/\.\/sealwright-/g],
  'clients/mcp/README.md': [/sealwright-mcp-/g],
  'clients/n8n/README.md': [/n8n-nodes-sealwright-/g],
  'docs/comparison.md': [/Version (?=\d+\.\d+\.\d+ promises)/g],
  'docs/tutorial.md': [/^sealwright (?=\d)/gm],
};
const NUMBER = /^\d+\.\d+\.\d+/;

/** Places that name another version, or none: `file: what stands there`. */
export function otherVersions(version, read = readFile) {
  return Object.entries(PLACES).flatMap(([file, places]) => {
    const text = read(file);
    return places.flatMap((place) => {
      const found = [...text.matchAll(place)].map(({ 0: before, index }) =>
        text.slice(index + before.length),
      );
      const wrong = found.filter((rest) => NUMBER.exec(rest)?.[0] !== version);
      if (found.length === 0) return [`${file}: nothing matches ${place}`];
      return wrong.map((rest) => `${file}: ${rest.slice(0, 20).split('\n')[0]}`);
    });
  });
}

/** The part of the changelog below a heading. Undefined: there is none. */
export function sectionOf(changelog, name) {
  const start = changelog.indexOf(`## [${name}]`);
  if (start === -1) return undefined;
  const end = changelog.indexOf('\n## [', start + 1);
  return changelog.slice(changelog.indexOf('\n', start), end === -1 ? undefined : end).trim();
}

/** The version after this one, by the sections of what is not released. */
export function nextVersion(version, unreleased) {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const has = (...names) => names.some((name) => new RegExp(`^### ${name}$`, 'm').test(unreleased));
  if (major > 0 && has('Removed')) return `${major + 1}.0.0`;
  if (has('Removed', 'Changed', 'Added')) return `${major}.${minor + 1}.0`;
  if (has('Fixed', 'Security')) return `${major}.${minor}.${patch + 1}`;
  throw new Error('CHANGELOG.md lists nothing under [Unreleased]: there is nothing to release.');
}

/** Says which formats of stores a release has; operators of earlier programs need it for the way back. */
export function formatsLine({ STORE_FORMAT, SCHEMA_VERSION }) {
  return `Store format ${STORE_FORMAT} (LMDB), schema ${SCHEMA_VERSION} (PostgreSQL).`;
}

function readFile(file) {
  return readFileSync(join(ROOT, file), 'utf8');
}

async function main() {
  const { version } = JSON.parse(readFile('package.json'));
  const changelog = readFile('CHANGELOG.md');
  const formats = formatsLine(await import(pathToFileURL(join(ROOT, 'runtime/dist/core.js')).href));
  if (process.argv.includes('--check')) {
    const wrong = otherVersions(version);
    const section = sectionOf(changelog, version);
    // Formats may have changed since the release.
    const told = `${sectionOf(changelog, 'Unreleased') ?? ''}${section ?? ''}`;
    if (section === undefined) wrong.push(`CHANGELOG.md: no section of ${version}`);
    else if (!told.includes(formats)) wrong.push(`CHANGELOG.md: "${formats}" is missing`);
    for (const one of wrong) console.error(`set-version: ${one}`);
    return wrong.length === 0 ? 0 : 1;
  }
  const unreleased = sectionOf(changelog, 'Unreleased') ?? '';
  const next = nextVersion(version, unreleased);
  for (const [file, places] of Object.entries(PLACES)) {
    let text = readFile(file);
    for (const place of places)
      text = text.replace(new RegExp(`(${place.source})\\d+\\.\\d+\\.\\d+`, place.flags), `$1${next}`);
    writeFileSync(join(ROOT, file), text);
  }
  const day = new Date().toISOString().slice(0, 10);
  const lines = unreleased.includes(formats) ? [] : [formats, ''];
  const heading = ['## [Unreleased]', '', `## [${next}] - ${day}`, '', ...lines].join('\n');
  writeFileSync(join(ROOT, 'CHANGELOG.md'), changelog.replace('## [Unreleased]\n', `${heading}`));
  console.log(next);
  return 0;
}

if (process.argv[1] === import.meta.filename) process.exitCode = await main();
