/** Passkeys of participants, in a browser with a virtual authenticator. Source: docs/decisions/0291-authenticator-apps-of-participants.md. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import type { FrameLocator, Page } from 'playwright-core';
import { partsOf } from '../../actors/portal/mails/relay.ts';
import { type Client, type PortalProgram, startProgram, until } from '../../actors/portal/service.ts';
import { freePort } from '../../commands/free-port.ts';
import { temporaryRoot } from '../../service/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { PHONE } from '../account/account-pages.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, openSigning, visit } from '../browser.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

function signer(name: string) {
  const user = { name, email: `${name.toLowerCase()}@example.org` };
  return { user, allowElectronicSignature: true };
}

/** A document, and the links of its participants. */
async function document(client: Client, ...names: readonly string[]) {
  const id = await client.create(names.map(signer), { disablePendingActionNotifications: true });
  const links = await Promise.all(
    names.map((name) =>
      client.post<{ url: string; embedUrl: string }>(`/api/documents/${id}/action-url`, {
        emailAddress: signer(name).user.email,
        requireEmailAuthentication: true,
      }),
    ),
  );
  return { id, links };
}

/** The codes that were mailed so far. */
function codes({ service }: PortalProgram): readonly string[] {
  const folder = join(service.root, 'mail');
  // The first mail makes the folder.
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.eml')) : [];
  return names
    .sort()
    .flatMap(
      (name) =>
        /^ *(\d{6})\s*$/m.exec(
          partsOf(readFileSync(join(folder, name), 'utf8')).get('text/plain') ?? '',
        )?.[1] ?? [],
    );
}

/** Sends the form of the dialog, which has sent a code. */
async function signByCode(page: Page | FrameLocator, program: PortalProgram, before: number): Promise<void> {
  const code = await until(async () => codes(program)[before]);
  // The last digit signs, but for a new passkey.
  const adds = (await page.locator('#new-passkey:checked').count()) > 0;
  await page.locator('#email-code').fill(code);
  if (adds) await page.getByRole('button', { name: 'Sign the document' }).press('Enter');
}

/** The body that signs, which does not arrive. */
async function held(page: Page, press: () => Promise<void>): Promise<object> {
  const sent = new Promise<object>((resolve) => {
    void page.route('**/electronic-signature', async (route) => {
      resolve(JSON.parse(route.request().postData() ?? '') as object);
      await route.fulfill({ status: 503, body: '{}' });
    });
  });
  await press();
  const body = await sent;
  await page.unroute('**/electronic-signature');
  return body;
}

/** Posts to the document of a link, as its participant. */
async function post(url: string, action: string, body: object): Promise<string | number> {
  const { origin, pathname, searchParams } = new URL(url);
  const response = await fetch(`${origin}/api/documents/keys/${pathname.split('/')[3]}/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ticket: searchParams.get('ticket') }),
  });
  const text = await response.text();
  return (text === '' ? undefined : (JSON.parse(text) as { code?: string }).code) ?? response.status;
}

/** A page of another origin around the signing page; both are secure contexts. */
async function hostOf(t: ExecutionContext, embedUrl: string, allow: string): Promise<string> {
  const html = `<!doctype html><title>Host</title><iframe src="${embedUrl}" allow="${allow}" style="width:100%;height:40rem"></iframe>`;
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

test.serial(
  'a participant who returns confirms by a passkey, which counts for the shown document alone',
  async (t) => {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const root = await temporaryRoot(t);
    const start = () =>
      startProgram(t, {
        root,
        settings: { 'Portal:PublicUrl': origin, 'Portal:Url': `http://127.0.0.1:${port}` },
      });
    const first = await start();
    const visited = await visit(t, origin, PHONE);
    const { page } = visited;
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });

    const made = await document(first.acme, 'Ana');
    await page.goto(made.links[0]?.url ?? '');
    await openSigning(page);
    t.is(await page.locator('#with-passkey').count(), 0);
    await page.locator('#new-passkey').press(' ');
    await assertAccessible(t, page, 'the offer of a passkey');
    await signByCode(page, first, 0);
    await page.getByText('You signed', { exact: false }).first().waitFor();
    await first.service.kill();

    const again = await start();
    const second = await document(again.acme, 'Ana');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(second.links[0]?.url ?? '');
    await openSigning(page);
    t.true(await page.locator('#with-passkey').isChecked());
    t.false(await page.locator('#email-code').isVisible());
    await assertAccessible(t, page, 'the confirmation by a passkey, in dark');
    // A person whom the authenticator does not know does not sign.
    const sign = page.getByRole('button', { name: 'Sign the document' });
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await sign.press('Enter');
    await page.getByText('The passkey was not used').waitFor();
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await sign.press('Enter');
    await page.getByText('You signed', { exact: false }).first().waitFor();
    const { signers } = await again.acme.get<{ signers: { evidences: { file: string } }[] }>(
      `/api/documents/${second.id}/signatures-details`,
    );
    const evidences = signers[0]?.evidences ?? t.fail();
    t.like(evidences, {
      authenticationTypes: ['Login', 'Application'],
      accountVerifiedEmail: 'ana@example.org',
      authenticatedEmail: null,
    });
    const file = JSON.parse(Buffer.from(evidences.file, 'base64').toString('utf8')) as object;
    t.like(file, { accountVerifiedEmail: 'ana@example.org' });
    t.true('passkeyAddedAt' in file);

    // One answer, tried on everything but what the person was shown.
    const third = await document(again.acme, 'Ana', 'Ben');
    const [anas, bens] = third.links.map(({ url }) => url);
    await page.goto(anas ?? '');
    await openSigning(page);
    const body = await held(page, () => sign.press('Enter'));
    t.true('passkey' in body);
    const other = await document(again.acme, 'Ana');
    t.is(
      await post(other.links[0]?.url ?? '', 'electronic-signature', body),
      'InvalidAuthenticationCode',
      'another document',
    );
    t.is(
      await post(bens ?? '', 'electronic-signature', body),
      'InvalidAuthenticationCode',
      'another participant',
    );
    const foreign = await document(await again.organization('Other'), 'Ana');
    t.is(
      await post(foreign.links[0]?.url ?? '', 'electronic-signature', body),
      'InvalidAuthenticationCode',
      'another organization',
    );
    const forged = {
      ...body,
      passkey: String(Reflect.get(body, 'passkey')).replace(/"signature":"../, '"signature":"AA'),
    };
    t.is(
      await post(anas ?? '', 'electronic-signature', forged),
      'InvalidAuthenticationCode',
      'another signature',
    );
    t.is(await post(anas ?? '', 'electronic-signature', body), 200);
    t.not(await post(anas ?? '', 'electronic-signature', body), 200, 'a replay');
    await page.goto(foreign.links[0]?.url ?? '');
    await openSigning(page);
    t.is(await page.locator('#with-passkey').count(), 0, 'another organization knows nothing of it');

    // That dialog has mailed a code too: after it, the next code is the one of the frame.
    await until(async () => codes(again)[1]);

    // Frames need a permission; without it, the page says what to do, and the code works.
    const framed = await document(again.acme, 'Ana');
    const { embedUrl = '' } = framed.links[0] ?? {};
    const before = codes(again).length;
    const hosts = [await hostOf(t, embedUrl, ''), await hostOf(t, embedUrl, 'publickey-credentials-get')];
    const around = await visit(t, origin, { locale: 'en-US' }, { alsoAsks: hosts });
    await around.page.goto(hosts[0] ?? '');
    const frame = around.page.frameLocator('iframe');
    await openSigning(frame);
    await frame.getByRole('button', { name: 'Sign the document' }).press('Enter');
    await frame.getByText('the page around this document may not permit it').waitFor();
    await frame.locator('#with-passkey').press(' ');
    await signByCode(frame, again, before);
    await frame.getByText('You signed', { exact: false }).first().waitFor();
  },
);
