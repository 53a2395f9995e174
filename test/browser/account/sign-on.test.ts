/** Sign-in at providers of other sites, in a browser: OpenID, with sign-out there, and SAML of other hands (the package simplesamlphp). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { startProgram, until } from '../../actors/portal/service.ts';
import { freePort } from '../../commands/free-port.ts';
import { startProvider } from '../../http/sign-on/oidc-server.ts';
import { samlKey } from '../../http/sign-on/saml-server.ts';
import { temporaryRoot } from '../../service/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { visit } from '../browser.ts';
import { type AccountPages, sharePortal } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium', 'php');
const ENTITY = 'urn:sealwright:company';
let provider: Awaited<ReturnType<typeof startProvider>>;
/** Of the SAML provider. */
let root = '';

sharePortal(test, async (t) => {
  root = await temporaryRoot(t);
  provider = await startProvider(t, 'localhost');
  const roles = {
    Organization: 'Acme',
    CreateUsers: true,
    'Roles:0:Group': 'signers',
    'Roles:0:Role': 'Sender',
  };
  const providers = [
    {
      ...roles,
      Name: 'company',
      'Domains:0': 'example.test',
      Issuer: provider.issuer,
      ClientId: 'company',
      ClientSecret: 'a secret of the client',
    },
    {
      ...roles,
      Name: 'school',
      'Domains:0': 'school.test',
      Kind: 'Saml',
      EntityId: ENTITY,
      MetadataFile: join(root, 'provider.xml'),
    },
  ];
  const settings = Object.fromEntries(
    providers.flatMap((members, index) =>
      Object.entries(members).map(([key, value]) => [`Identity:Providers:${index}:${key}`, value] as const),
    ),
  );
  return startProgram(t, { settings });
});

/** Starts the provider. @returns its address, and its metadata */
async function startSamlProvider(t: ExecutionContext, folder: string, receiver: string) {
  const port = await freePort();
  // For browsers another site than 127.0.0.1.
  const base = `http://localhost:${port}`;
  const config = join(folder, 'config');
  for (const name of ['config', 'metadata', 'cert', 'log', 'data', 'tmp'])
    await mkdir(join(folder, name), { recursive: true });
  const { key, certificate } = samlKey();
  const files = {
    'cert/idp.pem': key,
    'cert/idp.crt': certificate,
    'config/config.php': `<?php $config = ['baseurlpath'=>'${base}/','certdir'=>'${folder}/cert/','loggingdir'=>'${folder}/log/','datadir'=>'${folder}/data/','tempdir'=>'${folder}/tmp/','metadatadir'=>'${folder}/metadata/','secretsalt'=>'a salt of the test','auth.adminpassword'=>'of the test','technicalcontact_email'=>'na@example.test','timezone'=>'UTC','logging.handler'=>'file','enable.saml20-idp'=>true,'module.enable'=>['exampleauth'=>true,'core'=>true,'saml'=>true],'session.cookie.secure'=>false,'session.cookie.samesite'=>null,'session.phpsession.savepath'=>'${folder}/tmp','store.type'=>'phpsession','language.default'=>'en','language.available'=>['en'],'metadata.sources'=>[['type'=>'flatfile']],'production'=>true];`,
    'config/authsources.php': `<?php $config = ['userpass'=>['exampleauth:UserPass','ana:pw'=>['uid'=>['ana'],'email'=>['ana@school.test'],'groups'=>['others','signers']]]];`,
    'metadata/saml20-idp-hosted.php': `<?php $metadata['urn:idp'] = ['host'=>'__DEFAULT__','privatekey'=>'idp.pem','certificate'=>'idp.crt','auth'=>'userpass','saml20.sign.response'=>true,'saml20.sign.assertion'=>true];`,
    'metadata/saml20-sp-remote.php': `<?php $metadata['${ENTITY}'] = ['AssertionConsumerService'=>'${receiver}','NameIDFormat'=>'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress','simplesaml.nameidattribute'=>'email','attributes'=>['uid','email','groups']];`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const child = spawn('php', ['-S', `127.0.0.1:${port}`, '-t', '/usr/share/simplesamlphp/www'], {
    env: { PATH: process.env['PATH'], SIMPLESAMLPHP_CONFIG_DIR: config },
    stdio: 'ignore',
  });
  t.teardown(async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  const metadata = await until(() =>
    fetch(`${base}/saml2/idp/metadata.php`).then(
      async (answer) => (answer.status === 200 ? answer.text() : undefined),
      () => undefined,
    ),
  );
  return { base, metadata };
}

test.serial('a person signs in at the provider of the address, and out there, too', async (t) => {
  const { url } = t.context.program;
  provider.open({
    client_id: 'company',
    client_secret: 'a secret of the client',
    redirect_uris: [`${url}/sign-in/company/callback`],
    post_logout_redirect_uris: [`${url}/sign-in`],
  });
  provider.users['ana'] = {
    email: 'ana@example.test',
    email_verified: true,
    name: 'Ana',
    groups: ['signers'],
  };
  const visited = await visit(t, url, { locale: 'en-US' }, { alsoAsks: [provider.issuer] });
  const { page } = visited;
  await page.goto(`${url}/sign-in`);
  await assertAccessible(t, page, 'sign-in');
  await page.getByLabel('E-mail address').fill('ana@example.test');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('input[name=login]').fill('ana');
  await page.locator('input[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
  // Consent; then the answer leads to the pages, although no cookie of the session comes with a redirect from there.
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('.account-main').waitFor();
  t.is(page.url(), `${url}/account/documents`);

  // The session there signs in by itself, but proves the person to nobody who asks anew.
  await page.goto(`${url}/sign-in/company`);
  await page.locator('.account-main').waitFor();
  await page.goto(`${url}/sign-in/company?again=yes`);
  await page.locator('input[name=login]').fill('ana');
  await page.locator('input[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
  await page.locator('.account-main').waitFor();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('button[name=logout]').click();
  await page.getByLabel('E-mail address').waitFor();
  t.is(new URL(page.url()).origin + new URL(page.url()).pathname, `${url}/sign-in`);
  await page.goto(`${url}/account`);
  await page.getByLabel('E-mail address').waitFor();
});

test.serial('a person signs in at a SAML provider of another site', async (t) => {
  const { url } = t.context.program;
  const folder = join(root, 'provider');
  const { base, metadata } = await startSamlProvider(t, folder, `${url}/sign-in/school/acs`);
  await writeFile(join(root, 'provider.xml'), metadata);
  const visited = await visit(t, url, { locale: 'en-US' }, { alsoAsks: [base] });
  const { page } = visited;
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail address').fill('ana@school.test');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('input[name=username]').fill('ana');
  await page.locator('input[name=password]').fill('pw');
  // Its page posts the answer from its site, with which the browser sends no cookie of ours.
  await page.locator('input[name=password]').press('Enter');
  await page.locator('.account-main').waitFor();
  t.is(page.url(), `${url}/account/documents`);
  t.true((await (await page.goto(`${url}/account`))?.text())?.includes('ana@school.test'));

  // The session there signs in by itself, but proves the person to nobody who asks anew.
  await page.goto(`${url}/sign-in/school`);
  await page.locator('.account-main').waitFor();
  await page.goto(`${url}/sign-in/school?again=yes`);
  await page.locator('input[name=username]').fill('ana');
  await page.locator('input[name=password]').fill('pw');
  await page.locator('input[name=password]').press('Enter');
  await page.locator('.account-main').waitFor();
  t.is(page.url(), `${url}/account/documents`);
});
