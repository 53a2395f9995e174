/** The version of the program: one number wherever it stands, and a section of the changelog that names the stores. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';

interface Versions {
  otherVersions(version: string, read?: (file: string) => string): readonly string[];
  nextVersion(version: string, unreleased: string): string;
  sectionOf(changelog: string, name: string): string | undefined;
}

const SCRIPT = 'scripts/release/set-version.mjs';
const { otherVersions, nextVersion, sectionOf } = (await import(
  pathToFileURL(join(process.cwd(), SCRIPT)).href
)) as Versions;
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };

test('every place names the version of the program, and the changelog the formats of its stores', async (t) => {
  const { stderr } = await promisify(execFile)(process.execPath, [SCRIPT, '--check']);
  t.is(stderr, '');
});

test('a place with another version, or with none, is named', (t) => {
  const changed = (file: string, from: string, to: string) => (path: string) => {
    const text = readFileSync(path, 'utf8');
    return path === file ? text.replace(from, to) : text;
  };
  t.deepEqual(otherVersions(version), []);
  const chart = changed('deploy/helm/Chart.yaml', `appVersion: "${version}`, 'appVersion: "0.0.7');
  t.deepEqual(otherVersions(version, chart), ['deploy/helm/Chart.yaml: 0.0.7"']);
  const readme = changed('README.md', `sealwright-${version}.tgz`, 'the tarball');
  t.deepEqual(otherVersions(version, readme), ['README.md: nothing matches /\\.\\/sealwright-/g']);
  const lock = changed(
    'package-lock.json',
    `"@sealwright/runtime": "${version}"`,
    '"@sealwright/runtime": "9.9.9"',
  );
  t.is(otherVersions(version, lock).length, 1);
});

test('the next version follows from the sections of what is not released', (t) => {
  for (const [from, sections, next] of [
    ['0.1.4', ['Fixed'], '0.1.5'],
    ['0.1.4', ['Security'], '0.1.5'],
    ['0.1.4', ['Added', 'Fixed'], '0.2.0'],
    ['0.1.4', ['Removed'], '0.2.0'],
    ['1.4.9', ['Changed'], '1.5.0'],
    ['1.4.9', ['Fixed', 'Removed'], '2.0.0'],
  ] as const) {
    const unreleased = sections.map((name) => `### ${name}\n\n- Something.\n`).join('\n');
    t.is(nextVersion(from, unreleased), next, `${from} ${sections}`);
  }
  t.throws(() => nextVersion('0.1.4', ''), { message: /nothing to release/ });
});

test('the section of a version ends where that of the earlier one begins', (t) => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- B\n\n## [0.1.0] - 2026-01-01\n\n- A\n';
  t.is(sectionOf(changelog, 'Unreleased'), '### Added\n\n- B');
  t.is(sectionOf(changelog, '0.1.0'), '- A');
  t.is(sectionOf(changelog, '0.2.0'), undefined);
});
