/**
 * Fails the build when a retired name comes back, a one-line doc comment begins with a question word, a doc comment
 * describes nothing, or a comment cites a paper that is not in the repository, such as a file of docs/ that does not
 * exist or an issue by its number.
 * The words are in words/retired-names.mjs.
 *
 * node scripts/check-words.mjs [--root <folder>]   exit 0: nothing to say, 1: findings on standard error
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SKIPPED_FOLDERS } from './layout/rules.mjs';
import {
  DOC_OPENINGS,
  EXEMPT,
  RETIRED_IDENTIFIERS,
  RETIRED_PROSE,
  RETIRED_TYPE_ENDINGS,
  WIRE_SPELLINGS,
} from './words/retired-names.mjs';

const option = process.argv.indexOf('--root');
const root = option > 0 ? process.argv[option + 1] : join(import.meta.dirname, '..');

const identifiers = new RegExp(
  `(?<![\\w$'"])(?:${Object.keys(RETIRED_IDENTIFIERS).join('|')})(?![\\w$'"])`,
  'g',
);
const prose = new RegExp(`\\b(?:${Object.keys(RETIRED_PROSE).join('|')})\\b`, 'gi');
const opening = new RegExp(`^\\s*/\\*\\* (${DOC_OPENINGS.join('|')})\\b.*\\*/\\s*$`);

/** Papers outside of the repository, as comments used to cite them. */
const ABSENT_PAPERS =
  /\b(?:batch-gaps|portal-gaps|signing-facts|runtime-facts|style-anchors|running\.md|verifiers\.md|experience\.md|gaps §\d+|spec\/[\w-]+\.md|issue \d+\b(?!\/))/g;
const CITED_FILE = /(?<![\w/.-])docs\/[\w./-]+?\.md\b/g;

const findings = files(root).flatMap((path) => {
  if (EXEMPT.some((pattern) => pattern.test(path))) return [];
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  const check = path.endsWith('.md') ? documentFindings : sourceFindings;
  return [
    ...lines.flatMap((line, index) => check(line, path).map((text) => `${path}:${index + 1}: ${text}`)),
    ...(path.endsWith('.md') ? [] : strayComments(lines).map((text) => `${path}:${text}`)),
  ];
});
for (const finding of findings) console.error(finding);
if (findings.length > 0) {
  console.error(
    `\n${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}; docs/glossary.md has the words in use.`,
  );
  process.exitCode = 1;
}

function citationFindings(line) {
  const absent = [...line.matchAll(ABSENT_PAPERS)].map(([paper]) => paper);
  const missing = [...line.matchAll(CITED_FILE)]
    .map(([file]) => file)
    .filter((file) => !existsSync(join(root, file)));
  return [...absent, ...missing].map(
    (paper) => `cites "${paper}", which is not in the repository; cite docs/`,
  );
}

function sourceFindings(line, path) {
  const found = [...proseFindings(line), ...citationFindings(line)];
  for (const [word] of line.matchAll(identifiers)) {
    if (WIRE_SPELLINGS.some((kept) => kept.word === word && kept.path.test(path))) continue;
    found.push(`"${word}" is retired; use ${RETIRED_IDENTIFIERS[word]}`);
  }
  const declaration = line.replace(/^(?:export )?(?:abstract )?/, '');
  for (const { pattern, instead } of RETIRED_TYPE_ENDINGS) {
    const [name] = pattern.exec(declaration) ?? [];
    if (name !== undefined) found.push(`"${name}": name it ${instead}`);
  }
  const question = opening.exec(line)?.[1];
  if (question !== undefined)
    found.push(`a doc comment begins with a verb or a noun, not with "${question}"`);
  return found;
}

/** Doc comments that describe nothing: before a blank line or another one, but for the head of a file; inside an export. */
function strayComments(lines) {
  const found = [];
  const head = lines[0].startsWith('#!') ? 1 : 0;
  let start = -1;
  for (const [index, line] of lines.entries()) {
    if (/^\s*export \/\*\*/.test(line)) found.push(`${index + 1}: a doc comment stands inside an export`);
    if (/^\s*\/\*\*/.test(line)) start = index;
    if (start < 0 || !line.includes('*/')) continue;
    const isPlaced = start === head || lines[start + 1].includes('@typedef');
    const next = lines[index + 1] ?? '';
    if (line.endsWith('*/') && (/^\s*\/\*\*/.test(next) || (next === '' && !isPlaced)))
      found.push(`${start + 1}: a doc comment stands before the declaration that it describes`);
    start = -1;
  }
  return found;
}

function documentFindings(line) {
  return [...proseFindings(line), ...citationFindings(line)];
}

function proseFindings(line) {
  return [...line.matchAll(prose)].map(
    ([words]) => `"${words}" is retired; use "${RETIRED_PROSE[words.toLowerCase()]}"`,
  );
}

function files(folder) {
  const found = [];
  const walk = (inner) => {
    for (const entry of readdirSync(join(folder, inner), { withFileTypes: true })) {
      const path = inner === '' ? entry.name : `${inner}/${entry.name}`;
      const isDocs = path === 'docs' || path === 'scripts';
      if (entry.isDirectory()) {
        const skipped =
          entry.name === 'node_modules' || (inner === '' && !isDocs && SKIPPED_FOLDERS.test(entry.name));
        if (!skipped) walk(path);
      } else if (/\.(tsx?|mjs|md)$/.test(entry.name) && !entry.name.endsWith('.d.ts')) found.push(path);
    }
  };
  walk('');
  return found.sort();
}
