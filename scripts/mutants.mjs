/**
 * Changes single lines that differ from a base, one at a time, and counts which changes the nearest default tests notice.
 *
 *   node scripts/mutants.mjs [--base <ref>] [--count 50] [--seed 1] [--list]
 *
 * Works in a copy of HEAD with hard links to the packages that are installed here. Each change is compiled (one that the compiler refuses is replaced by another) and
 * tried by `scripts/test-changed.mjs`, up to four minutes. Prints one line for each: `killed` or `survived`, file, line, and what was changed.
 * --list only prints the changes. Exit code 1: fewer than 80 % were killed; 2: nothing was tried.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const LEAST_KILLED = 0.8;
const LIMIT_MS = 240_000;
const PRODUCT = [
  'actors',
  'commands',
  'contracts',
  'crypto',
  'http',
  'logging',
  'machines',
  'runtime',
  'service',
  'settings',
  'web',
];

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

/** `killed`, `survived`, or undefined where the compiler refuses the change. */
function tried(copy, { file, line, text, changed }) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  const lines = source.split('\n');
  if (lines[line - 1] !== text) throw new Error(`${file}:${line} is not what git says.`);
  lines[line - 1] = changed;
  const node = (...words) =>
    spawnSync(process.execPath, words, { cwd: copy, timeout: LIMIT_MS, encoding: 'utf8' });
  writeFileSync(path, lines.join('\n'));
  try {
    if (node('scripts/build.mjs', '--only-compile').status !== 0) return undefined;
    return node('scripts/test-changed.mjs', 'HEAD').status === 0 ? 'survived' : 'killed';
  } finally {
    writeFileSync(path, source);
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
const counts = { killed: 0, survived: 0 };
try {
  git('worktree', 'add', '--detach', '--force', copy, 'HEAD');
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), join(copy, 'node_modules')]);
  for (const one of mutants) {
    if (counts.killed + counts.survived === wanted) break;
    const result = tried(copy, one);
    if (result === undefined) continue;
    counts[result] += 1;
    console.log(`${result} ${described(one)}`);
  }
} finally {
  git('worktree', 'remove', '--force', copy);
  rmSync(copy, { recursive: true, force: true });
}
const total = counts.killed + counts.survived;
console.log(`${counts.killed} of ${total} killed`);
process.exitCode = total === 0 ? 2 : counts.killed / total < LEAST_KILLED ? 1 : 0;
