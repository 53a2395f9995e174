import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { freshFolder, run } from './program.ts';

const SALT = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
/** Source: docs/batch-values.md §9, 10000 iterations. */
const ENVELOPE =
  '4253454e4300000001a0a1a2a3a4a5a6a7a8a9aaabb2da367fdd79bb631dc30b82ec06ea1354f91228f64551179b9b70d2';
const ENV = { THE_PASSWORD: 'correct horse battery staple' };

function words(
  options: Partial<Record<'env' | 'salt' | 'iterations' | 'in' | 'out', string>> = {},
): string[] {
  const {
    env = 'THE_PASSWORD',
    salt = SALT,
    iterations = '10000',
    in: from = 'a.enc',
    out = 'a.txt',
  } = options;
  return [
    'decrypt',
    '--password-env',
    env,
    '--salt-b64',
    salt,
    '--iterations',
    iterations,
    '--in',
    from,
    '--out',
    out,
  ];
}

function folderWith(envelope: Buffer): string {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'a.enc'), envelope);
  return cwd;
}

test('decrypt decrypts a published file, and refuses the result as input', async (t) => {
  const cwd = folderWith(Buffer.from(ENVELOPE, 'hex'));
  const { code, err } = await run(cwd, words(), ENV);
  t.is(err, '');
  t.is(code, 0);
  t.is(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'signed bytes');
  const again = await run(cwd, words(), ENV);
  t.is(again.code, 3);
  t.regex(again.err, /a\.txt exists already/);
  t.deepEqual(readdirSync(cwd).sort(), ['a.enc', 'a.txt']);
});

const GOOD = Buffer.from(ENVELOPE, 'hex');
const FAILURES: readonly [what: string, envelope: Buffer, args: string[], code: number][] = [
  ['a file that is no envelope', Buffer.from('just a file that is long enough for one'), words(), 1],
  ['another version', Buffer.from(ENVELOPE.replace('4300000001', '4300000002'), 'hex'), words(), 1],
  ['an envelope without its end', GOOD.subarray(0, 30), words(), 1],
  ['other iterations', GOOD, words({ iterations: '10001' }), 2],
  ['another salt', GOOD, words({ salt: 'AAAAAAAAAAAAAAAAAAAAAA==' }), 2],
  ['a variable that is not set', GOOD, words({ env: 'NOT_SET_ANYWHERE' }), 3],
  ['a salt that is not Base64', GOOD, words({ salt: '!' }), 3],
  ['a number of iterations that is none', GOOD, words({ iterations: 'many' }), 3],
  ['a file that is not there', GOOD, words({ in: 'b.enc' }), 3],
  ['a folder that is not there', GOOD, words({ out: 'none/a.txt' }), 3],
  ['an option missing', GOOD, ['decrypt', '--in', 'a.enc'], 3],
];
for (const [what, envelope, args, expected] of FAILURES) {
  test(`decrypt with ${what} ends with exit code ${expected} and writes nothing`, async (t) => {
    const cwd = folderWith(envelope);
    const { code, err } = await run(cwd, args, ENV);
    t.is(code, expected, err);
    t.not(err, '');
    t.false(err.includes('correct horse'));
    t.deepEqual(readdirSync(cwd), ['a.enc']);
    t.false(existsSync(join(cwd, 'a.txt')));
  });
}
