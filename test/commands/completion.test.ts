import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { withTools } from '../verifiers/tool.ts';
import { freshFolder, run } from './program.ts';

const toolTest = withTools(test, 'bash');

/** The words that bash offers for the last word of a command line. */
function offeredByBash(script: string, line: readonly string[]): string[] {
  const words = line.map((word) => `'${word}'`).join(' ');
  const code = `source '${script}'; COMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _sealwright; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', code], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

toolTest('a shell completes commands, subcommands and options', async (t) => {
  const cwd = freshFolder();
  const { code, out } = await run(cwd, ['completion', 'bash']);
  t.is(code, 0);
  const script = join(cwd, 'completion.bash');
  writeFileSync(script, out);
  t.deepEqual(offeredByBash(script, ['sealwright', 'ver']), ['verify', 'verify-history']);
  t.deepEqual(offeredByBash(script, ['sealwright', 'keys', 'cr']), ['create']);
  t.deepEqual(offeredByBash(script, ['sealwright', 'store', 'copy', '--fr']), ['--from']);
  t.deepEqual(offeredByBash(script, ['sealwright', 'verify', 'some.pdf', '--tru']), [
    '--trust',
    '--trust-lists',
  ]);
  t.deepEqual(offeredByBash(script, ['sealwright', 'nonsense', '--fileN']), []);
});

withTools(test, 'zsh')('zsh loads its completion', async (t) => {
  const cwd = freshFolder();
  mkdirSync(join(cwd, 'home'));
  const script = join(cwd, 'completion.zsh');
  writeFileSync(script, (await run(cwd, ['completion', 'zsh'])).out);
  const code = `autoload -U compinit && compinit -u && source '${script}' && print "\${_comps[sealwright]}"`;
  const said = execFileSync('zsh', ['-f', '-c', code], {
    encoding: 'utf8',
    env: { ...process.env, HOME: join(cwd, 'home') },
  });
  t.regex(said, /_bash_complete.*_sealwright/);
});

test('a misspelt command suggests the right one', async (t) => {
  for (const [words, right] of [
    [['verfy'], 'verify'],
    [['check-confg'], 'check-config'],
    [['jobs', 'exprt'], 'export'],
  ] as const) {
    const { code, err } = await run(freshFolder(), words);
    t.is(code, 2);
    t.regex(err, new RegExp(`Did you mean ${right}\\?`));
  }
});

test('a command that was removed is refused with what to use instead', async (t) => {
  for (const [words, instead] of [
    [['actors', 'mail', '--state', 'Waiting'], /^sealwright actors: .*GET \/api\/actors/],
    [['mcp', '--folder', '.'], /^sealwright mcp: .*@sealwright\/mcp/],
  ] as const) {
    const { code, err } = await run(freshFolder(), words);
    t.is(code, 2);
    t.regex(err, instead);
  }
});
