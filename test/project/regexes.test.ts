import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';

/** Runs the checker over the product, or over one made-up file. */
function check(
  t: ExecutionContext,
  source?: string,
): { readonly status: number | null; readonly said: string } {
  const args = ['scripts/check-regexes.mjs'];
  if (source !== undefined) {
    const root = mkdtempSync(join(tmpdir(), 'sealwright-regexes-'));
    t.teardown(() => rmSync(root, { recursive: true, force: true }));
    writeFileSync(join(root, 'one.ts'), source);
    args.push('--root', root);
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

test('no regular expression of the product takes more than linear time', (t) => {
  const { status, said } = check(t);
  t.is(status, 0, said);
  const count = Number(/^(\d+) regular expressions/m.exec(said)?.[1]);
  t.true(count > 300, `only ${count} were found`);
});

for (const [what, source] of [
  ['placeholders with white space on both sides', String.raw`/\{\{\s*([^{}]{1,200}?)\s*\}\}/g`],
  ['a run whose end is looked for from each of its positions', '/0+$/'],
  ['nested quantifiers', '/^(a|a+)+$/'],
] as const)
  test(`a super-linear regular expression is found: ${what}`, (t) => {
    const { status, said } = check(t, `export const found = ${source};\n`);
    t.is(status, 1);
    t.regex(said, /one\.ts:1: .* takes (?:super-linear|exponential) time/);
  });

test('a regular expression that is built at run time needs a reason', (t) => {
  const { status, said } = check(t, "export const made = (text: string) => new RegExp(text + '+$');\n");
  t.is(status, 1);
  t.regex(said, /one\.ts:1: .* at run time/);
});
