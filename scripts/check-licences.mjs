/**
 * Checks the licences of all installed packages: each is allowed, and each shipped one has its text. `--list` prints
 * them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);
/** Only used by tests: its text stays with it. */
const ALLOWED_IN_TESTS = new Set(['MPL-2.0']);
/** The package holds the binary alone; its licence, Apache-2.0, stands in its package.json. */
const WITHOUT_TEXT = /^@uwsjs\//;

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const byLicence = new Map();
const faults = [];
for (const [folder, { link, dev }] of Object.entries(lock.packages)) {
  // Packages for other systems are not installed.
  if (folder === '' || link || !folder.includes('node_modules/') || !existsSync(`${folder}/package.json`))
    continue;
  const { name, version, license, licenses } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const said = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'none';
  const of = `${name} ${version}${dev ? ' (development)' : ''}`;
  byLicence.set(said, [...(byLicence.get(said) ?? []), of]);
  const choices = said.replace(/[()]/g, '').split(/ OR /i);
  if (
    !choices.some((one) =>
      one
        .split(/ AND /i)
        .every((part) => ALLOWED.has(part.trim()) || (dev && ALLOWED_IN_TESTS.has(part.trim()))),
    )
  )
    faults.push(`${of} has the licence ${said}`);
  if (
    !dev &&
    !WITHOUT_TEXT.test(name) &&
    !readdirSync(folder).some((file) => /^(licen[cs]e|copying|readme|notice)/i.test(file))
  )
    faults.push(`${of} ships no licence text`);
}
if (process.argv.includes('--list'))
  for (const [licence, packages] of [...byLicence].sort())
    console.log(`${licence}: ${packages.sort().join(', ')}`);
for (const fault of faults) console.error(`licences: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
