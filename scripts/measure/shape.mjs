/**
 * Prints which names of the public entries of the runtime the product uses, and which nobody uses; with --change, the
 * product files that a range of commits touches. Functions have at most four positional parameters by the lint.
 *
 * node scripts/measure/shape.mjs [--change <range>]
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** Top folders of the product without the packages. */
const FOLDERS = [
  'actors',
  'commands',
  'contracts',
  'http',
  'logging',
  'machines',
  'service',
  'settings',
  'web',
];
const PACKAGES = ['crypto', 'runtime'];

const IMPORT = /^import (?:type )?\{([^}]*)\} from '@sealwright\/runtime(?:\/([\w-]+))?'/gm;
const EXPORT =
  /^export (?:type )?\{([^}]*)\}|^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm;

const at = process.argv.indexOf('--change');
if (at > 0) printChange(process.argv[at + 1]);
else printRuntime();

function filesOf(folders) {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .map((path) => join(folder, String(path)))
      .filter((path) => /(?<!\.d)\.tsx?$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path)),
  );
}

/** Names in the braces of an import, as they are called there, or of an export, as others call them. */
function namesIn(braces, at) {
  return braces
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .split(',')
    .map((part) =>
      part
        .trim()
        .replace(/^type /, '')
        .split(' as ')
        .at(at),
    )
    .filter((name) => name !== '');
}

function printRuntime() {
  const users = new Map();
  for (const path of filesOf(FOLDERS)) {
    for (const [, braces, entry = 'index'] of readFileSync(join(ROOT, path), 'utf8').matchAll(IMPORT)) {
      for (const name of namesIn(braces, 0)) {
        const key = `${entry} ${name}`;
        users.set(key, [...(users.get(key) ?? []), path]);
      }
    }
  }
  const entries = Object.keys(JSON.parse(readFileSync(join(ROOT, 'runtime/package.json'), 'utf8')).exports)
    .filter((name) => !name.endsWith('.json'))
    .map((name) => (name === '.' ? 'index' : name.slice(2)));
  const used = new Set([...users.keys()].map((key) => key.split(' ')[1]));
  for (const entry of entries) {
    const names = exportedBy(`runtime/${entry}.ts`);
    const uses = [...users].filter(([key]) => key.startsWith(`${entry} `));
    const unused = names.filter((name) => !used.has(name));
    const total = uses.reduce((sum, [, paths]) => sum + paths.length, 0);
    console.log(
      `@sealwright/runtime/${entry}: ${names.length} names, ${uses.length} used by the product in ${total} imports`,
    );
    if (unused.length > 0) console.log(`  unused: ${unused.join(' ')}`);
  }
}

function exportedBy(path) {
  const found = [...readFileSync(join(ROOT, path), 'utf8').matchAll(EXPORT)];
  return found.flatMap(([, braces, name]) => (name === undefined ? namesIn(braces, -1) : [name]));
}

function printChange(range) {
  const names = execFileSync('git', ['diff', '--name-only', range], { cwd: ROOT, encoding: 'utf8' });
  const product = names.split('\n').filter((name) => [...FOLDERS, ...PACKAGES].includes(name.split('/')[0]));
  console.log(`${product.length} product files`);
  console.log(product.join('\n'));
}
