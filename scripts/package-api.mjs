/**
 * Public names of the packages (workspaces), with their declarations, as api.md of each package that has one.
 *
 * node scripts/package-api.mjs [--check] [<folder>]   writes api.md of these packages, or with --check says which is not
 *                                                     what the build gives (exit 1); a folder without api.md gets one
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const words = process.argv.slice(2);
const isCheck = words.includes('--check');
const named = words.filter((word) => !word.startsWith('--'));
const { workspaces } = readJson('package.json');
const folders = named.length > 0 ? named : workspaces.filter((one) => existsSync(join(ROOT, one, 'api.md')));

for (const folder of folders) {
  const path = join(ROOT, folder, 'api.md');
  const text = reportOf(folder);
  if (!isCheck) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`${folder}/api.md is not up to date. Run: npm run build && node scripts/package-api.mjs`);
    process.exitCode = 1;
  }
}

function reportOf(folder) {
  const { name, exports } = readJson(folder, 'package.json');
  const parts = [
    `# Public names of ${name}\n\nWritten by \`scripts/package-api.mjs\`; a change of it is a change for callers.\n`,
  ];
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target !== 'string' || !target.endsWith('.js')) continue;
    const file = join(ROOT, folder, target.replace(/\.js$/, '.d.ts'));
    const texts = exportsOf(file).sort(([one], [other]) => (one < other ? -1 : 1));
    parts.push(
      `## \`${name}${entry.slice(1)}\`\n\n\`\`\`ts\n${texts.map(([, text]) => text).join('\n')}\n\`\`\`\n`,
    );
  }
  return parts.join('\n');
}

/** Names that a declaration file exports, each with its declaration without comments. */
function exportsOf(file) {
  const text = withoutComments(readFileSync(file, 'utf8'));
  const found = [
    ...text.matchAll(/^export (?:declare )?(?:abstract )?(?:interface|type|function|class|const) (\w+)/gm),
  ].map(({ 1: name, index }) => [name, declarationAt(text, index)]);
  for (const [, list, from] of text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm)) {
    const own = new Map(exportsOf(join(dirname(file), from.replace(/\.[jt]s$/, '.d.ts'))));
    for (const part of list.split(',')) {
      const [name, alias = name] = part
        .trim()
        .replace(/^type /, '')
        .split(' as ');
      if (name === '') continue;
      const declaration = own.get(name);
      if (declaration === undefined) throw new Error(`${name} of ${from} is not found.`);
      found.push([alias, declaration]);
    }
  }
  return found;
}

function withoutComments(text) {
  return text.replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '').replace(/^\/\/.*\n/gm, '');
}

/** To the end of the braces, or to the semicolon outside of them. */
function declarationAt(text, start) {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const letter = text[at];
    if ('{(['.includes(letter)) depth++;
    if ('})]'.includes(letter)) depth--;
    const isBlock =
      letter === '}' && depth === 0 && /^export (?:declare )?(?:interface|class)/.test(text.slice(start, at));
    if (isBlock || (letter === ';' && depth === 0))
      return text.slice(start, at + 1).replace('export declare ', 'export ');
  }
  throw new Error('A declaration has no end.');
}

function readJson(...path) {
  return JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));
}
