/**
 * Prints how large the product is and how its folders hang together: lines and files by top folder, imports between
 * top folders, knots (members of one folder that reach each other through imports), lines of types and of imports,
 * `*Dependencies` types and files with many imports. Tests have a row of their own, and so have benchmarks, clients and
 * examples, which the program does not load; generated types (`.d.ts`), catalogues and styles are not counted.
 *
 * node scripts/count-weight.mjs [--root <folder>]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MAX_IMPORTS, SKIPPED_FOLDERS } from './layout/rules.mjs';
import { importsIn, tokens } from './layout/scan.mjs';

const option = process.argv.indexOf('--root');
const root = option > 0 ? process.argv[option + 1] : join(import.meta.dirname, '..');

const paths = readdirSync(root, { withFileTypes: true })
  .flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name];
    if (SKIPPED_FOLDERS.test(entry.name)) return [];
    return readdirSync(join(root, entry.name), { recursive: true }).map((path) => `${entry.name}/${path}`);
  })
  .filter((path) => /(?<!\.d)\.tsx?$/.test(path) && !/\/(node_modules|dist)\//.test(path));
const known = new Set(paths);
const all = paths.sort().map(weigh);
/** All but tests. The product of it is what the program and the packages are made of. */
const counted = all.filter(({ path }) => !path.startsWith('test/'));
const BESIDE = /^(bench|clients|examples)\//;

/** Counts one file by its formatted lines: what follows a first line and is indented, or closes it, belongs to it. */
function weigh(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const lengths = (begin) =>
    [...text.matchAll(new RegExp(`^${begin}.*(\\n+([ })\\]]).*)*`, 'gm'))].map(
      ([found]) => found.split('\n').length,
    );
  const imports = lengths('import ');
  const types = lengths('(?:export )?(?:declare )?(?:interface|type) \\w');
  const dependencies = text.match(/^(export )?(interface|type) \w*Dependencies\b/gm) ?? [];
  const targets = importsIn(tokens(text)).map(({ from }) => targetOf(path, from));
  return {
    path,
    lines: text.split('\n').length - 1,
    imports: imports.length,
    importLines: imports.reduce((total, lines) => total + lines, 0),
    typeLines: types.reduce((total, lines) => total + lines, 0),
    dependencies: dependencies.length,
    targets: [...new Set(targets)].filter((target) => target !== undefined && target !== path),
  };
}

/** Path below the root of an imported file; of a workspace package the path of its main entry. */
function targetOf(path, specifier) {
  if (specifier.startsWith('.')) return join(dirname(path), specifier);
  if (specifier.startsWith('#')) return specifier.slice(1).replace(/\.js$/, '.ts');
  const [, name] = /^@sealwright\/([a-z]+)/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  return `${name === 'signatures' ? 'crypto' : name}/index.ts`;
}

/** Member of `folder` ('' is the root) that holds `path`: a file or a folder beside it, undefined outside. */
function memberOf(folder, path) {
  const prefix = folder === '' ? '' : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length).split('/')[0] : undefined;
}

/** Groups of members of `folder` that reach each other. */
function knotsIn(folder) {
  const edges = new Map();
  for (const { path, targets } of counted) {
    const from = memberOf(folder, path);
    if (from === undefined) continue;
    if (!edges.has(from)) edges.set(from, new Set());
    for (const target of targets) {
      const to = known.has(target) ? memberOf(folder, target) : undefined;
      if (to !== undefined && to !== from) edges.get(from).add(to);
    }
  }
  const reach = new Map([...edges.keys()].map((member) => [member, reachableFrom(member, edges)]));
  const knots = [...reach.keys()].map((member) =>
    [...reach.get(member)].filter((other) => reach.get(other)?.has(member)).join(' '),
  );
  return [...new Set(knots)].filter((knot) => knot !== '');
}

function reachableFrom(start, edges) {
  const found = new Set();
  const open = [start];
  for (const member of open) {
    for (const next of edges.get(member) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return new Set([...found].sort());
}

const sum = (files, figure) => files.reduce((total, file) => total + file[figure], 0);
const zoneOf = (path) => memberOf('', path).replace(/\.ts$/, '');
const print = (...cells) =>
  console.log(
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(14) : String(cell).padStart(9))).join(''),
  );

print('folder', 'lines', 'files', 'imports', 'types', 'Depend.');
const row = (name, files) =>
  print(
    name,
    sum(files, 'lines'),
    files.length,
    sum(files, 'importLines'),
    sum(files, 'typeLines'),
    sum(files, 'dependencies'),
  );
for (const zone of new Set(counted.map(({ path }) => zoneOf(path)))) {
  row(
    zone,
    counted.filter(({ path }) => zoneOf(path) === zone),
  );
}
row(
  'product',
  counted.filter(({ path }) => !BESIDE.test(path)),
);
row(
  'beside it',
  counted.filter(({ path }) => BESIDE.test(path)),
);
row(
  'test',
  all.filter(({ path }) => path.startsWith('test/')),
);
console.log(
  '(imports, types: lines of import declarations, of interfaces and type aliases at the top of a file)\n',
);

console.log('Imports between top folders');
const between = new Map();
for (const { path, targets } of counted) {
  for (const target of targets) {
    const pair = `${zoneOf(path)} -> ${zoneOf(target)}`;
    if (zoneOf(path) !== zoneOf(target)) between.set(pair, (between.get(pair) ?? 0) + 1);
  }
}
console.log([...between].map(([pair, count]) => `${pair} ${count}`).join(', '));

console.log('\nKnots');
const folders = new Set(['']);
for (const { path } of counted) {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
}
const knots = [...folders]
  .sort()
  .flatMap((folder) => knotsIn(folder).map((knot) => `${folder || '(root)'}: ${knot}`));
console.log(knots.length === 0 ? 'none' : knots.join('\n'));

const crowded = counted.filter(({ imports }) => imports > MAX_IMPORTS).sort((a, b) => b.imports - a.imports);
console.log(`\nFiles with more than ${MAX_IMPORTS} imports: ${crowded.length}`);
console.log(crowded.map(({ path, imports }) => `${path} ${imports}`).join(', '));
