/**
 * Fails the build when the project loses its shape: an import against the direction, a package in the wrong folder,
 * a cycle, a default export, a name that says nothing, time or randomness taken instead of passed in, a test name
 * used twice, an export that nothing imports. The rules are in layout/rules.mjs.
 *
 * node scripts/check-layout.mjs [--root <folder>]   exit 0: nothing to say, 1: findings on standard error
 */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportFindings } from './layout/exports.mjs';
import {
  ACYCLIC_ZONES,
  COMPOSITIONS,
  EMPTY_NAMES,
  FORBIDDEN_PAIRS,
  MAX_FILES_PER_FOLDER,
  MAX_IMPORTS,
  MAX_LINES,
  PACKAGES,
  PASSED_IN,
  SKIPPED_FOLDERS,
  SOURCES_OF_CHANCE,
  SUBJECT_FOLDERS,
  UNORDERED_ZONES,
  ZONES,
} from './layout/rules.mjs';
import { importsIn, tokens } from './layout/scan.mjs';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = process.argv.indexOf('--root');
  const files = readFiles(option > 0 ? process.argv[option + 1] : join(import.meta.dirname, '..'));
  const said = layoutFindings(files) || exportFindings(files).join('\n');
  if (said !== '') console.error(said);
  process.exitCode = said === '' ? 0 : 1;
}

/** The source files of the project in a folder, each with its words and imports. */
export function readFiles(root) {
  return sourceFiles(root).map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const list = tokens(text);
    const lines = text.split('\n').length - 1;
    const statements = text.match(/^import /gm)?.length ?? 0;
    return { path, zone: zoneOf(path), lines, statements, list, imports: importsIn(list) };
  });
}

/** Returns what the files break, a line for each finding and their number; nothing when they break nothing. */
export function layoutFindings(files) {
  const circles = [...folderCycles(files), ...cycles(files)];
  const findings = [
    ...files.flatMap((file) => [
      ...nameFindings(file),
      ...importFindings(file),
      ...defaultExports(file),
      ...takenInsteadOfPassedIn(file),
      ...lengthFindings(file),
      ...statementFindings(file),
    ]),
    ...crowdedFolders(files),
    ...unnamedSubjects(files),
    // A cycle of files or folders is a knot too; it is reported with its files.
    ...(circles.length > 0 ? circles : knots(files)),
    ...repeatedTestNames(files),
  ];
  if (findings.length === 0) return '';
  const noun = findings.length === 1 ? 'finding' : 'findings';
  return [...findings, '', `${findings.length} layout ${noun} in ${files.length} files.`].join('\n');
}

function sourceFiles(folder) {
  const found = [];
  const walk = (inner) => {
    for (const entry of readdirSync(join(folder, inner), { withFileTypes: true })) {
      const path = inner === '' ? entry.name : `${inner}/${entry.name}`;
      if (entry.isDirectory()) {
        // Packages of the peers' benchmark lie deeper than those of the product, and packages have a dist/ of their own.
        const isMade = entry.name === 'node_modules' || entry.name === 'dist';
        const skipped = isMade || (inner === '' && SKIPPED_FOLDERS.test(entry.name));
        if (!skipped) walk(path);
      } else if (/\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts')) found.push(path);
    }
  };
  walk('');
  return found.sort();
}

function zoneOf(path) {
  return Object.keys(ZONES).find((name) => ZONES[name].owns.test(path));
}

function nameFindings({ path, zone }) {
  const found = [];
  const parts = path.split('/');
  const empty = parts.find((part) => EMPTY_NAMES.includes(part.split('.')[0]));
  if (empty) found.push(`${path}: "${empty}" says nothing; name the file after the thing it gives`);
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.types\.test)?\.tsx?$/.test(basename(path))) {
    found.push(`${path}: file names are in kebab-case`);
  }
  if (zone === undefined)
    found.push(`${path}: belongs to no folder of the layout; see scripts/layout/rules.mjs`);
  return found;
}

function importFindings({ path, zone, imports }) {
  if (zone === undefined) return [];
  return imports.flatMap((entry) => {
    const place = `${path}:${entry.line}`;
    const target = resolveImport(path, entry.from);
    if (target === undefined) return packageFindings(place, zone, entry.from);
    return targetFindings(place, path, { target, zone, entry });
  });
}

function targetFindings(place, path, { target, zone, entry }) {
  const other = zoneOf(target);
  if (other === undefined) {
    return [`${place}: imports ${entry.from}, which belongs to no folder of the layout`];
  }
  const pair = FORBIDDEN_PAIRS.find(({ from, to }) => from.test(path) && to.test(target));
  if (pair) return [`${place}: ${dirname(path)} must not import ${dirname(target)} (${target})`];
  if (other === zone) return [];
  const rules = ZONES[zone];
  const isDoor = ZONES[other].enteredBy.some((door) => door.test(target));
  if (other === 'test' && !(zone === 'bench' && isDoor)) {
    return [`${place}: imports ${target}; nothing may import tests`];
  }
  if (rules.imports === 'any') return borderFindings(place, path, target, entry.from);
  const allowed = rules.imports[other];
  if (allowed === undefined) return [`${place}: ${zone} must not import ${other} (${target})`];
  if (allowed instanceof RegExp && !allowed.test(target))
    return [`${place}: ${zone} must not import ${target} of ${other}`];
  if (allowed === 'types' && !entry.typeOnly) {
    return [
      `${place}: ${zone} may import types of ${other} only; write "import type", or have the value passed in`,
    ];
  }
  if (!isDoor) {
    return [`${place}: ${target} is inside ${other}; import what that folder's index offers`];
  }
  if (entry.from.startsWith('#'))
    return [`${place}: ${entry.from} is for tests and benchmarks; import an entry of the package`];
  return borderFindings(place, path, target, entry.from);
}

/** A path that leads over the border of a package would load its modules a second time. */
function borderFindings(place, path, target, specifier) {
  const [from, to] = [path, target].map((one) => one.split('/')[0]);
  const border = [to, from].find((folder) => Object.values(PACKAGES).includes(folder));
  if (border === undefined || from === to || !specifier.startsWith('.')) return [];
  return [
    `${place}: ${specifier} crosses the border of the package ${border}; import it by name, in tests also by #${border}/`,
  ];
}

function packageFindings(place, zone, from) {
  const rules = ZONES[zone];
  const plain = from.replace(/^node:/, '');
  if (from.startsWith('node:') || builtinModules.includes(plain.split('/')[0])) {
    return rules.builtins ? [] : [`${place}: ${zone} is pure and must not import ${from}`];
  }
  const name = from.startsWith('@') ? from.split('/').slice(0, 2).join('/') : from.split('/')[0];
  if (rules.packages === 'any' || rules.packages.includes(name)) return [];
  const home = Object.keys(ZONES).filter(
    (other) => ZONES[other].packages.includes?.(name) && other !== 'bench',
  );
  const hint = home.length > 0 ? `it belongs to ${home.join(' and ')}` : 'no folder of the product may';
  return [`${place}: ${zone} must not import the package ${name}; ${hint}`];
}

function lengthFindings({ path, zone, lines }) {
  if (zone === 'test' || zone === 'bench' || lines < MAX_LINES) return [];
  return [`${path}: ${lines} lines; a product file has fewer than ${MAX_LINES}`];
}

function statementFindings({ path, zone, statements }) {
  if (zone === 'test' || zone === 'bench' || statements <= MAX_IMPORTS || COMPOSITIONS.includes(path))
    return [];
  return [`${path}: ${statements} imports; a product file has at most ${MAX_IMPORTS}`];
}

function crowdedFolders(all) {
  const counts = new Map();
  for (const { path } of all) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([folder, count]) => folder !== '.' && count > MAX_FILES_PER_FOLDER)
    .map(([folder, count]) => `${folder}: ${count} files side by side; at most ${MAX_FILES_PER_FOLDER}`);
}

/** Folders of a service whose name no layer shares. */
function unnamedSubjects(all) {
  const { layers, subjects, ofOneLayer } = SUBJECT_FOLDERS;
  const folders = new Set(
    all
      .map(({ path }) => path)
      .filter((path) => layers.test(path))
      .map(dirname),
  );
  return [...folders]
    .filter((folder) => {
      const [layer] = folder.split('/');
      return ![...subjects, ...(ofOneLayer[layer] ?? [])].includes(basename(folder));
    })
    .map((folder) => `${folder}: no name of a subject; SUBJECT_FOLDERS in scripts/layout/rules.mjs has them`);
}

/** Cycles among the folders of a zone, each reported once. */
function folderCycles(all) {
  return ACYCLIC_ZONES.flatMap((zone) => {
    const edges = new Map();
    for (const { path, imports } of all.filter((file) => file.zone === zone)) {
      const from = dirname(path);
      for (const { from: specifier, line } of imports) {
        const target = resolveImport(path, specifier);
        if (target === undefined) continue;
        const to = dirname(target);
        if (zoneOf(target) !== zone || to === from) continue;
        if (!edges.has(from)) edges.set(from, new Map());
        if (!edges.get(from).has(to)) edges.get(from).set(to, `${path}:${line}`);
      }
    }
    return cyclesAmong(edges);
  });
}

function cyclesAmong(edges) {
  const state = new Map();
  const trail = [];
  const found = [];
  const visit = (folder) => {
    if (state.get(folder) === 'done') return;
    if (state.get(folder) === 'open') {
      const round = [...trail.slice(trail.indexOf(folder)), folder];
      const places = round.slice(1).map((to, index) => edges.get(round[index]).get(to));
      found.push(`folder cycle: ${round.join(' -> ')} (${places.join(', ')})`);
      return;
    }
    state.set(folder, 'open');
    trail.push(folder);
    for (const to of edges.get(folder)?.keys() ?? []) visit(to);
    trail.pop();
    state.set(folder, 'done');
  };
  for (const folder of edges.keys()) visit(folder);
  return found;
}

/**
 * Groups of neighbours in a folder (files, and folders with all that they hold) that reach each other by imports, at any
 * level.
 */
function knots(all) {
  const graphs = new Map();
  for (const { path, zone, imports } of all) {
    if (zone === undefined || UNORDERED_ZONES.includes(zone)) continue;
    for (const { from } of imports) {
      const there = resolveImport(path, from)?.split('/');
      if (there === undefined) continue;
      const here = path.split('/');
      const depth = here.findIndex((part, index) => part !== there[index]);
      // Neighbours of the root are zones, whose imports have rules of their own.
      if (depth < 1) continue;
      const folder = here.slice(0, depth).join('/');
      const graph = graphs.get(folder) ?? new Map();
      graphs.set(folder, graph);
      graph.set(here[depth], (graph.get(here[depth]) ?? new Set()).add(there[depth]));
    }
  }
  return [...graphs].flatMap(([folder, graph]) =>
    groupsThatReachEachOther(graph).map(
      (group) => `knot in ${folder}: ${group.join(' ')}; let imports among these go one way`,
    ),
  );
}

function groupsThatReachEachOther(graph) {
  const reached = new Map([...graph.keys()].map((name) => [name, reachableFrom(graph, name)]));
  const groups = new Set();
  for (const [name, names] of reached) {
    const group = [...names].filter((other) => other === name || reached.get(other)?.has(name));
    if (names.has(name)) groups.add(group.sort().join(' '));
  }
  return [...groups].map((group) => group.split(' '));
}

function reachableFrom(graph, start) {
  const reached = new Set();
  const open = [...(graph.get(start) ?? [])];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    open.push(...(graph.get(name) ?? []));
  }
  return reached;
}

function defaultExports({ path, list }) {
  return list.flatMap((token, index) => {
    const begins = token.kind === 'word' && (token.text === 'export' || token.text === 'as');
    const isDefault = begins && isWord(list[index + 1], 'default');
    return isDefault ? [`${path}:${token.line}: default export; give it a name`] : [];
  });
}

function takenInsteadOfPassedIn({ path, zone, list }) {
  if (ZONES[zone]?.ownTime || SOURCES_OF_CHANCE.includes(path)) return [];
  return list.flatMap((token, index) => {
    const rule = PASSED_IN.find(({ words }) =>
      words.every((word, offset) => isWord(list[index + offset], word)),
    );
    if (rule === undefined) return [];
    return [`${path}:${token.line}: ${rule.words.join('')} must be passed in; use ${rule.instead}`];
  });
}

function isWord(token, word) {
  return token !== undefined && token.kind !== 'string' && token.text === word;
}

function cycles(all) {
  const known = new Map(all.map((file) => [file.path, file]));
  const state = new Map();
  const trail = [];
  const found = [];
  const visit = (path) => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      found.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' -> ')}`);
      return;
    }
    state.set(path, 'open');
    trail.push(path);
    for (const { from } of known.get(path)?.imports ?? []) {
      const target = resolveImport(path, from);
      if (target !== undefined && known.has(target)) visit(target);
    }
    trail.pop();
    state.set(path, 'done');
  };
  for (const { path } of all) visit(path);
  return found;
}

function repeatedTestNames(all) {
  const first = new Map();
  const found = [];
  for (const { path, list } of all.filter((file) => file.path.endsWith('.test.ts'))) {
    for (const [index, token] of list.entries()) {
      const title = list[index + 2];
      const begins = token.text === 'test' && token.kind === 'word' && list[index + 1]?.text === '(';
      if (!begins || title?.kind !== 'string') continue;
      const place = `${path}:${title.line}`;
      if (first.has(title.text))
        found.push(`${place}: the test name "${title.text}" is used at ${first.get(title.text)} already`);
      else first.set(title.text, place);
    }
  }
  return found;
}

/** Path of an import inside the tree, with forward slashes; undefined for a package that is not ours. */
function resolveImport(from, specifier) {
  if (specifier.startsWith('.'))
    return normalize(join(dirname(from), specifier))
      .split(sep)
      .join('/');
  if (specifier.startsWith('#')) return specifier.slice(1).replace(/\.js$/, '.ts');
  const name = Object.keys(PACKAGES).find((one) => specifier === one || specifier.startsWith(`${one}/`));
  if (name === undefined) return undefined;
  return `${PACKAGES[name]}/${specifier.slice(name.length + 1) || 'index'}.ts`;
}
