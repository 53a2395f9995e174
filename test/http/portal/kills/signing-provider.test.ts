/** A kill between the authorization at a signing provider and the signed document. */
import test from 'ava';
import { startProgram, until } from '../../../actors/portal/service.ts';
import { startPersonProvider } from '../../../actors/shared/key-services/person-provider.ts';
import { pki } from '../../../pki/pki.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { Browser, documentOf, held, providerSettings } from '../signing/provider-client.ts';

for (const [point, isSigned] of [
  ['portal.provider.authorized', false],
  ['portal.provider.signed', false],
  ['portal.sign.accepted', true],
] as const)
  test.serial(`a kill at ${point} loses and doubles nothing`, async (t) => {
    const root = await temporaryRoot(t);
    const provider = await startPersonProvider(t);
    provider.credentials.set('cred-1', held(pki().signer('p-256')));
    const settings = providerSettings(provider);
    const first = await startProgram(t, { root, settings, faults: `${point}=kill:1` });
    const document = await documentOf(first.acme);
    const browser = new Browser();
    const { body } = await browser.start(first.url, document);
    const page = await browser.go(body.address);
    const { url: back } = await browser.choose(page, 'cred-1', '/return?');
    await t.throwsAsync(browser.go(back));
    t.is(await first.service.ended, 'SIGKILL');
    const second = await startProgram(t, { root, settings });
    const moved = (url: string) => url.replace(first.url, second.url);
    const concluded = () =>
      until(async () => {
        const { status } = await second.acme.get<{ status: string }>(`/api/documents/${document.id}`);
        return status === 'Concluded' ? true : undefined;
      });
    if (isSigned) await concluded();
    // The code counted once, and so did the state: the answer is not taken again.
    const repeated = await browser.go(moved(back));
    t.is(repeated.status, isSigned ? 200 : 403);
    if (!isSigned) {
      const { status } = await second.acme.get<{ status: string }>(`/api/documents/${document.id}`);
      t.is(status, 'Pending');
      const again = await browser.start(second.url, document);
      const choice = await browser.go(again.body.address);
      t.true((await browser.choose(choice, 'cred-1')).url.includes('/sign?ticket='));
      await concluded();
    }
    const { signers } = await second.acme.get<{ signers: unknown[] }>(
      `/api/documents/${document.id}/signatures-details`,
    );
    t.is(signers.length, 1);
    t.is(provider.signed, point === 'portal.provider.signed' ? 2 : 1);
  });
