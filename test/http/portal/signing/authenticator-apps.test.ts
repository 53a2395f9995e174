/** Codes of authenticator apps of participants. Source: docs/decisions/0291-authenticator-apps-of-participants.md. */
import test, { type ExecutionContext } from 'ava';
import { totpCode, totpCounter } from '../../../../actors/portal/shared/totp.ts';
import { partsOf, startRelay } from '../../../actors/portal/mails/relay.ts';
import {
  Client,
  type PortalProgram,
  sharedProgram,
  startProgram,
  until,
} from '../../../actors/portal/service.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { ADMINISTRATOR, register, SENDER, UserBrowser } from '../accounts/users.ts';

const QUIET = { disablePendingActionNotifications: true };
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function signer(name: string) {
  const user = { name, email: `${name.toLowerCase()}@example.org` };
  return { user, allowElectronicSignature: true, requireAuthenticatorAppToSignElectronically: true };
}

/** The secret on the page, in groups of four. */
function secretOn(page: string): Buffer {
  const [, text = ''] = /class="secret">([A-Z2-7-]+)</.exec(page) ?? [];
  const bits = [...text.replaceAll('-', '')].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, '0'));
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of a step from now. Those of 0 and 1 are accepted also when the next step begins before they arrive. */
function codeAt(secret: Buffer, step: number): string {
  return totpCode(secret, totpCounter(Date.now() / 1000) + step);
}

/** A code that is none of the accepted ones. */
function wrongCode(secret: Buffer): string {
  const right = [-2, -1, 0, 1, 2].map((step) => codeAt(secret, step));
  return (
    ['111111', '222222', '333333', '444444', '555555', '666666'].find((one) => !right.includes(one)) ?? ''
  );
}

async function start(t: ExecutionContext) {
  const relay = await startRelay(t);
  const root = await temporaryRoot(t);
  const settings = {
    'Portal:Smtp:Host': '127.0.0.1',
    'Portal:Smtp:Port': relay.port,
    'Portal:Smtp:From': 'portal@example.test',
  };
  const program = () => startProgram(t, { root, settings });
  /** The newest code that was mailed to an address, beyond `after` mails. */
  const mailedCode = (email: string, after: number) =>
    until(async () => {
      const mails = relay.taken.slice(after).filter(({ raw }) => raw.includes(email));
      const texts = mails.map(({ raw }) => partsOf(raw).get('text/plain') ?? '');
      return /^ *(\d{6})\s*$/m.exec(texts.join('\n'))?.[1];
    });
  return { relay, program, mailedCode };
}

/** A new document, and the page of its participant, opened by the application. */
async function open(client: Client, name: string) {
  const { user } = signer(name);
  const id = await client.create([signer(name)], QUIET);
  const link = { emailAddress: user.email, requireEmailAuthentication: false };
  const { url } = await client.post<{ url: string }>(`/api/documents/${id}/action-url`, link);
  const { pathname, search, searchParams } = new URL(url);
  const page = await (await fetch(`${client.url}${pathname}${search}`)).text();
  const call = async (action: string, body: object) => {
    const response = await fetch(`${client.url}/api/documents/keys/${pathname.split('/')[3]}/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ticket: searchParams.get('ticket'), ...body }),
    });
    const text = await response.text();
    const { code } = (text === '' ? {} : JSON.parse(text)) as { readonly code?: string };
    return code ?? response.status;
  };
  const [, otpEnrolment] = /data-sealed="([^"]+)"/.exec(page) ?? [];
  return {
    id,
    page,
    call,
    otpEnrolment,
    sign: (given: object) => call('electronic-signature', { typedName: name, ...given }),
  };
}

async function flowActionOf(client: Client, id: string): Promise<string> {
  const { flowActions } = await client.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  return flowActions[0]?.id ?? '';
}

/** Sets up an app. @returns its secret, and the code that was used */
async function enrolled(
  acme: Client,
  { relay, mailedCode }: Awaited<ReturnType<typeof start>>,
  name: string,
) {
  const document = await open(acme, name);
  const secret = secretOn(document.page);
  const sent = relay.taken.length;
  await document.call('email-authentication-code', {});
  const emailCode = await mailedCode(signer(name).user.email, sent);
  const otpCode = codeAt(secret, 0);
  const { otpEnrolment } = document;
  const answer = await document.sign({ emailCode, otpCode, otpEnrolment });
  return { secret, used: otpCode, answer, id: document.id };
}

test('an app is set up with a mailed code, each code is good once, also after a kill, and the evidence says since when', async (t) => {
  const portal = await start(t);
  const before: PortalProgram = await portal.program();
  const { acme } = before;
  const first = await open(acme, 'Ana');
  const secret = secretOn(first.page);
  const { otpEnrolment } = first;
  t.is(secret.length, 20);
  // The link alone sets up nothing, and neither does the enrolment of another person.
  t.is(await first.sign({ otpCode: codeAt(secret, 0), otpEnrolment }), 'InvalidAuthenticationCode');
  t.is(await first.call('email-authentication-code', {}), 200);
  const emailCode = await portal.mailedCode('ana@example.org', 0);
  const ben = await open(acme, 'Ben');
  const foreign = { otpCode: codeAt(secretOn(ben.page), 0), otpEnrolment: ben.otpEnrolment };
  t.is(await first.sign({ emailCode, ...foreign }), 'InvalidAuthenticationCode', 'of another participant');
  t.is(await first.sign({ emailCode, otpCode: '1', otpEnrolment }), 'InvalidAuthenticationCode');
  const used = codeAt(secret, 0);
  t.is(await first.sign({ emailCode, otpCode: used, otpEnrolment }), 200);
  // Operators see that there is one, and nothing of it.
  const list = await (await before.service.fetch('/api/actors?kind=authenticator')).json();
  const [{ id = '' } = {}] = (list as { items: { id?: string }[] }).items;
  const seen = await (await before.service.fetch(`/api/actors/authenticator/${id}`)).text();
  t.regex(seen, /"since":/);
  t.notRegex(seen, /"totp":"(?!\(hidden\))/);
  await before.service.kill();

  const { acme: again, organization } = await portal.program();
  const { signers } = await again.get<{ signers: { evidences: { file: string } }[] }>(
    `/api/documents/${first.id}/signatures-details`,
  );
  const evidences = signers[0]?.evidences ?? t.fail();
  t.like(evidences, { authenticationTypes: ['Email', 'AuthenticatorApp', 'Application'] });
  const file = Buffer.from(evidences.file, 'base64').toString('utf8');
  t.regex(file, /"authenticatorAppEnrolledAt":"\d{4}-/);
  const second = await open(again, 'Ana');
  t.is(second.otpEnrolment, undefined);
  t.false(second.page.includes('id="email-code"'));
  t.is(await second.sign({ otpCode: used }), 'InvalidAuthenticationCode', 'a code that was used');
  const older = { authenticationType: 'AuthenticationApp', authenticationCode: codeAt(secret, 1) };
  t.is(await second.sign(older), 200);

  const other = await organization('Other');
  t.not((await open(other, 'Ana')).otpEnrolment, undefined, 'another organization knows nothing of it');
});

test('wrong codes lock an app over all documents, and a reset by the organization of the app alone ends it', async (t) => {
  const portal = await start(t);
  const { acme, organization, administrator, url } = await portal.program();
  const ana = await enrolled(acme, portal, 'Ana');
  t.is(ana.answer, 200);
  const ben = await enrolled(acme, portal, 'Ben');
  t.is(ben.answer, 200);
  const documents = await Promise.all(Array.from({ length: 6 }, () => open(acme, 'Ana')));
  const guesses = [
    ana.used,
    codeAt(ben.secret, 0),
    ...Array.from({ length: 3 }, () => wrongCode(ana.secret)),
  ];
  for (const [index, otpCode] of guesses.entries())
    t.is(
      await documents[index]?.sign({ otpCode }),
      index < 4 ? 'InvalidAuthenticationCode' : 'TooManyRequests',
    );
  const last = documents[5] ?? t.fail();
  t.is(await last.sign({ otpCode: codeAt(ana.secret, 1) }), 'TooManyRequests', 'the right code while locked');
  // Whoever has a link alone locks nobody out: beside a mailed code, that of the app counts.
  const shown = await open(acme, 'Ana');
  t.true(shown.page.includes('id="email-code"'), 'the page asks for it');
  const sent = portal.relay.taken.length;
  t.is(await shown.call('email-authentication-code', {}), 200);
  const emailCode = await portal.mailedCode('ana@example.org', sent);
  t.is(await shown.sign({ emailCode, otpCode: wrongCode(ana.secret) }), 'InvalidAuthenticationCode');
  t.is(await shown.sign({ emailCode, otpCode: codeAt(ana.secret, 1) }), 200);
  const bens = await open(acme, 'Ben');
  t.is(await bens.sign({ otpCode: codeAt(ben.secret, 1) }), 200, 'nobody else is locked');

  const flowActionId = await flowActionOf(acme, last.id);
  const reset = (client: Client) => client.send('/api/documents/authenticator-app-reset', { flowActionId });
  const other = await organization('Other');
  t.is((await reset(other)).status, 422);
  // What only signs, or reaches some folders, must not take away what protects all documents.
  const path = `/api/admin/organizations/${other.organizationId}/applications`;
  const { id } = await administrator.post<{ id: string }>(path, { name: 'Limited' });
  const { id: folder } = await other.post<{ id: string }>('/api/folders', { name: 'F' });
  for (const limits of [{ scopes: ['read', 'create', 'sign'] }, { folderIds: [folder] }]) {
    const { key } = await administrator.post<{ key: string }>(`${path}/${id}/keys`, limits);
    t.is((await reset(new Client(url, key))).status, 403);
  }
  t.is((await reset(acme)).status, 200);
  t.is((await reset(acme)).status, 422, 'there is none now');
  t.is(await last.sign({ otpCode: codeAt(ana.secret, 0) }), 'InvalidAuthenticationCode');
  // A page from before the reset has no enrolment; the code alone, and the old app, set up nothing.
  t.not((await open(acme, 'Ana')).otpEnrolment, undefined);
  const history = await (await acme.fetch(`/api/documents/${last.id}/history`)).text();
  t.true(history.includes('Acme App removed the authenticator of a participant.'));
  t.true(history.includes('ana@example.org'));
});

test('administrators remove the app of a participant on the page of a document, and senders do not', async (t) => {
  const portal = await start(t);
  const { relay } = portal;
  const program = await portal.program();
  const { acme } = program;
  t.is((await enrolled(acme, portal, 'Ana')).answer, 200);
  const other = await acme.create([signer('Ben')], QUIET);
  const { id } = await open(acme, 'Ana');
  const signedIn = async (email: string, profile: object) => {
    await register(program, email, profile);
    const browser = new UserBrowser(program.url);
    const before = relay.taken.length;
    await browser.askForLink(email);
    const link = await until(async () => {
      const texts = relay.taken.slice(before).map(({ raw }) => partsOf(raw).get('text/plain') ?? '');
      return /http:\S+\/sign-in\/link\?ticket=[\w-]+/.exec(texts.join('\n'))?.[0];
    });
    await browser.follow(link);
    return browser;
  };
  const form = /action="([^"?]*\/factor-reset\/[^"?]+)/;
  const sender = await signedIn('sender@acme.test', SENDER);
  const administrator = await signedIn('admin@acme.test', ADMINISTRATOR);
  t.notRegex(await administrator.page(`/account/documents/${other}`), form, 'Ben has no app');
  const page = await administrator.page(`/account/documents/${id}`);
  const [, action = ''] = form.exec(page) ?? [];
  t.true(page.includes('Remove app and passkeys of Ana'));
  t.notRegex(await sender.page(`/account/documents/${id}`), form);
  t.is((await sender.post(action, {})).status, 403);
  const done = await administrator.post(action, {});
  t.is(done.status, 302);
  t.regex(await administrator.page(done.headers.get('location') ?? ''), /App and passkeys are removed/);
  t.notRegex(await administrator.page(`/account/documents/${id}`), form);
  t.not((await open(acme, 'Ana')).otpEnrolment, undefined);
  const history = await (await acme.fetch(`/api/documents/${id}/history`)).text();
  t.true(history.includes('removed the authenticator of a participant.'));
});

test('an action with an app needs the address of its participant', async (t) => {
  const { acme } = await sharedProgram(t);
  const upload = await acme.upload();
  const files = [{ ...upload, displayName: upload.name }];
  const flowActions = [{ ...signer('Ana'), user: { name: 'Ana', identifier: '123' } }];
  const refused = await acme.send('/api/documents', { files, flowActions });
  t.like(await refused.json(), { code: 'InvalidFlowAction' });
  t.is(refused.status, 422);
});
