/**
 * Changes single lines that differ from a base, one at a time, and counts which changes the nearest default tests notice.
 *
 *   node scripts/mutants.mjs [--base <ref>] [--count 50] [--seed 1] [--list]
 *
 * Works in a copy of HEAD with hard links to the packages that are installed here and with the pages of the build here; nothing in it is bundled, so that each
 * thread loads the changed file. A changed file is compiled alone, without types, and tried by the four nearest test files in turn until one is red. Prints a
 * line for each: `killed`, `survived` or `timed out`, file, line, what was changed, and the test.
 * --list only prints the changes. Exit code 1: fewer than 80 % were noticed; 2: nothing was tried.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { transformSync } from 'esbuild';
import { importersOf, importsOf } from './bundle.mjs';
import { chosenTests } from './test-suites.mjs';

const ROOT = join(import.meta.dirname, '..');
const LEAST_KILLED = 0.8;
const LIMIT_MS = 120_000;
const NEAREST = 4;
const PRODUCT = 'actors commands contracts crypto http logging machines runtime service settings web'.split(
  ' ',
);

/** Finds a decision in a line, and replaces it. */
const CHANGES = [
  [/ === /, ' !== '],
  [/ !== /, ' === '],
  [/ && /, ' || '],
  [/ \|\| /, ' && '],
  [/ <= /, ' < '],
  [/ >= /, ' > '],
  [/ < (?=[\w(])/, ' <= '],
  [/ > (?=[\w(])/, ' >= '],
  [/\bif \((?!!)(.*)\) /, 'if (!($1)) '],
  [/\bif \(!(\w[\w.]*(?:\([^()]*\))?)\)/, 'if ($1)'],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/ \+ 1\b/, ''],
  [/ - 1\b/, ''],
  [/^(\s+)return .+;$/, '$1return undefined as never;'],
  [/^(\s+)(?:await )?[\w.#]+\(.*\);$/, '$1;'],
  [/^(\s+)throw .*;$/, '$1;'],
];
/** Matches lines without a decision: imports, types, comments. */
const PASSED = /^\s*(?:import|export (?:type|\*|\{)|type|interface|readonly|\/?\*|\/\/|\}|\))|=> void;$/;

const { values: options } = parseArgs({
  options: {
    base: { type: 'string', default: 'HEAD~20' },
    count: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    list: { type: 'boolean' },
  },
});
const git = (...words) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 });

/** Returns added lines: `{ file, line, text }`. */
function changedLines(base) {
  const found = [];
  let file = '';
  let line = 0;
  for (const text of git('diff', '-U0', base, 'HEAD', '--', ...PRODUCT).split('\n')) {
    const [, named] = /^\+\+\+ b\/(.*\.tsx?)$/.exec(text) ?? [];
    const [, start] = /^@@ .* \+(\d+)/.exec(text) ?? [];
    if (text.startsWith('+++')) file = named ?? '';
    else if (start !== undefined) line = Number(start);
    else if (text.startsWith('+')) {
      if (file !== '') found.push({ file, line, text: text.slice(1) });
      line += 1;
    }
  }
  return found;
}

function mutantsOf({ file, line, text }) {
  if (PASSED.test(text)) return [];
  return CHANGES.flatMap(([from, to]) => {
    const changed = text.replace(from, to);
    return changed === text ? [] : [{ file, line, text, changed }];
  });
}

/** Gives a sequence that a seed repeats (a linear congruential generator, modulus 2^32). */
function* numbers(seed) {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

function shuffled(list, seed) {
  const left = [...list];
  const random = numbers(seed);
  return Array.from(list, () => left.splice(Math.floor(random.next().value * left.length), 1)[0]);
}

/** Returns the result and the title of a test that failed, or undefined where the changed text is no program. */
function tried(copy, importers, { file, line, text, changed }) {
  const path = join(copy, file.replace(/^((?:crypto|runtime)\/)?(.*)\.tsx?$/, '$1dist/$2.js'));
  const lines = readFileSync(join(copy, file), 'utf8').split('\n');
  if (lines[line - 1] !== text) throw new Error(`${file}:${line} is not what git says.`);
  lines[line - 1] = changed;
  const code = compiled(copy, file, lines.join('\n'));
  if (code === undefined || !existsSync(path)) return undefined;
  const unchanged = readFileSync(path);
  writeFileSync(path, code);
  try {
    for (const name of [...importersOf([file], importers).keys()].slice(0, NEAREST)) {
      const words = ['node_modules/ava/entrypoints/cli.mjs', '--fail-fast', `dist/test/${name}.test.js`];
      const ended = spawnSync(process.execPath, words, { cwd: copy, timeout: LIMIT_MS, encoding: 'utf8' });
      const [why = name] = /(?<=✘ \[fail\]: ).*/.exec(ended.stdout) ?? [];
      if (ended.status !== 0) return [ended.status === null ? 'timed out' : 'killed', `${name}: ${why}`];
    }
    return ['survived', ''];
  } finally {
    writeFileSync(path, unchanged);
  }
}

/** As the compiler does it, with the names that imports have then; undefined where the text is no program. */
function compiled(copy, file, text) {
  const tsconfigRaw = readFileSync(join(copy, 'tsconfig.json'), 'utf8');
  try {
    const { code } = transformSync(text, {
      loader: file.endsWith('x') ? 'tsx' : 'ts',
      tsconfigRaw,
      logLevel: 'silent',
    });
    return code.replaceAll(/((?:from|import) ?\(?"\.[^"]+\.)tsx?"/g, '$1js"');
  } catch {
    return undefined;
  }
}

const wanted = Number(options.count);
const mutants = shuffled(changedLines(options.base).flatMap(mutantsOf), Number(options.seed));
const described = ({ file, line, text, changed }) =>
  `${file}:${line}\n    ${text.trim()}\n    ${changed.trim()}`;
if (options.list) {
  for (const one of mutants.slice(0, wanted)) console.log(described(one));
  process.exit(mutants.length === 0 ? 2 : 0);
}
const copy = mkdtempSync(join(tmpdir(), 'sealwright-mutants-'));
const counts = { killed: 0, survived: 0, 'timed out': 0 };
let total = 0;
try {
  git('worktree', 'add', '--detach', '--force', copy, 'HEAD');
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), join(copy, 'node_modules')]);
  for (const built of ['dist', 'crypto/dist', 'runtime/dist'])
    execFileSync('cp', ['-a', join(ROOT, built), join(copy, built)]);
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', '--force', '--noCheck'], {
    cwd: copy,
  });
  const importers = await importsOf(chosenTests({}));
  for (const one of mutants) {
    if (total === wanted) break;
    const [result, by] = tried(copy, importers, one) ?? [];
    if (result === undefined) continue;
    counts[result] += 1;
    total += 1;
    console.log(`${result} ${described(one)}\n    ${by}`);
  }
} finally {
  git('worktree', 'remove', '--force', copy);
  rmSync(copy, { recursive: true, force: true });
}
const noticed = counts.killed + counts['timed out'];
console.log(`${noticed} of ${total} noticed (${counts['timed out']} timed out)`);
process.exitCode = total === 0 ? 2 : noticed / total < LEAST_KILLED ? 1 : 0;
