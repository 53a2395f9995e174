/** The first administrator, made on the command line before the service starts. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { startProgram } from '../../actors/portal/service.ts';
import { signedIn, UserBrowser } from '../../http/portal/accounts/users.ts';
import { ON_POSTGRES, storeSettings } from '../../postgres/test-store.ts';
import { temporaryRoot } from '../../service/service.ts';

const MAIN = fileURLToPath(new URL('../../../main.js', import.meta.url));

test('the command line creates the first administrator, who signs in by mail', async (t) => {
  const root = await temporaryRoot(t);
  const settings = Object.entries({ 'Storage:Root': root, ...storeSettings(root) });
  const words = ['keys', 'user', 'Acme', 'ana@example.org', '--name', 'Ana', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, [
    MAIN,
    ...words,
    ...settings.map(([key, value]) => `--${key}=${value}`),
  ]);
  t.like(JSON.parse(stdout), { organization: 'Acme', email: 'ana@example.org', role: 'administrator' });
  const program = await startProgram(t, { root });
  const browser = await signedIn(program, 'ana@example.org');
  t.true((await browser.page('/organization')).includes('Ana'));
});

test('before the first start, the command line makes a link that signs the administrator in after it', async (t) => {
  const root = await temporaryRoot(t);
  const settings = Object.entries({ 'Storage:Root': root, ...storeSettings(root) });
  const keys = (...words: string[]) =>
    promisify(execFile)(process.execPath, [
      MAIN,
      'keys',
      ...words,
      ...settings.map(([key, value]) => `--${key}=${value}`),
    ]);
  await keys('user', 'Acme', 'ana@example.org', '--name', 'Ana');
  const asked = keys('sign-in', 'Acme', 'ana@example.org', '--json');
  if (ON_POSTGRES) {
    await t.throwsAsync(asked, { message: /has no portal-secret, which signs links. Start a node first/ });
    return;
  }
  const { link } = JSON.parse((await asked).stdout) as { link: string };
  const program = await startProgram(t, { root });
  const browser = new UserBrowser(program.url);
  await browser.follow(link);
  t.true((await browser.page('/organization')).includes('Ana'));
});
