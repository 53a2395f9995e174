/** Answers of SAML providers count once, also when the process ends in between. Source: docs/decisions/0286-saml.md. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { startProgram } from '../../actors/portal/service.ts';
import { temporaryRoot } from '../../service/service.ts';
import { onwardOf, SiteBrowser } from './oidc-server.ts';
import { beginSaml, partsFor, samlKey, samlMetadata, signedResponse } from './saml-server.ts';

const PUBLIC_URL = 'https://sign.example';

test('an answer that was used before the process was killed is refused after it', async (t) => {
  const root = await temporaryRoot(t);
  const MetadataFile = join(root, 'provider.xml');
  const key = samlKey();
  await writeFile(MetadataFile, samlMetadata('urn:idp', 'https://idp.example/sso', [key]));
  const settings = Object.entries({
    Name: 'open',
    Organization: 'Acme',
    CreateUsers: true,
    'Domains:0': 'example.test',
    'Roles:0:Group': '*',
    'Roles:0:Role': 'Sender',
    AllowUnsolicited: true,
    Kind: 'Saml',
    MetadataFile,
    EntityId: 'urn:sealwright:open',
  }).map(([name, value]) => [`Identity:Providers:0:${name}`, value] as const);
  const start = () =>
    startProgram(t, {
      root,
      settings: { ...Object.fromEntries(settings), 'Portal:PublicUrl': PUBLIC_URL },
    });
  const first = await start();
  const path = '/sign-in/open';
  const receiver = `${PUBLIC_URL}${path}/acs`;
  /** A browser that has begun a sign-in, a copy of its cookies, and the answer to it. */
  const begun = async ({ url }: { readonly url: string }) => {
    const browser = new SiteBrowser();
    const request = await beginSaml(browser, `${url}${path}`);
    t.is(request.receiver, receiver);
    const flow = browser.cookie(url, 'sealwright-user-flow') ?? '';
    return { flow, xml: signedResponse(partsFor(request), key) };
  };
  const unsolicited = () => {
    const request = { id: '', receiver, xml: '', issuer: 'urn:sealwright:open' };
    // The clock of the provider is ahead.
    const given = { inResponseTo: undefined, confirmedRequest: undefined, issued: 60 };
    return { flow: '', xml: signedResponse(partsFor(request, given), key) };
  };
  const send = async ({ url }: { readonly url: string }, { flow, xml }: { flow: string; xml: string }) => {
    const browser = new SiteBrowser();
    browser.plant(url, 'sealwright-user-flow', flow);
    const body = new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64') });
    const answer = await browser.fetch(`${url}${path}/acs`, { method: 'POST', body }, true);
    t.is(answer.status, 200);
    return (await browser.fetch(onwardOf(await answer.text(), `${url}${path}/acs`))).status;
  };
  const used = [await begun(first), unsolicited()];
  for (const one of used) t.is(await send(first, one), 200);
  for (const one of used) t.is(await send(first, one), 403);
  const left = [await begun(first), unsolicited()];
  await first.service.kill();
  const second = await start();
  for (const one of used) t.is(await send(second, one), 403, one.flow);
  for (const one of left) t.is(await send(second, one), 200);
});
