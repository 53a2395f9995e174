/** The language of a participant decides mails, codes and pages. Source: docs/decisions/0520-language-of-participants.md. */
import test, { type ExecutionContext } from 'ava';
import { startProgram } from '../../../actors/portal/service.ts';
import { startReceiver, status } from '../../../actors/portal/webhooks/receiver.ts';
import { reached } from '../../../project/waiting.ts';
import { assertRefused } from '../../refused.ts';
import { type ClockedPortal, clockedPortal, untilMailed } from '../requests/clocked-portal.ts';
import { ticketOf } from './certificate-client.ts';

const GATEWAY_KEY = Buffer.alloc(32, 9);

let portal: ClockedPortal;
const ends: (() => unknown)[] = [];
test.before(async () => {
  portal = await clockedPortal({ teardown: (end) => ends.push(end) });
});
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
});

function signer(name: string, language?: string | null) {
  const user = { name, email: `${name.toLowerCase()}@example.org`, language };
  return { user, allowElectronicSignature: true };
}

/** The newest mail to a person whose subject fits. */
async function mailTo(t: ExecutionContext, name: string, subject: RegExp) {
  const { mails } = portal.fixture;
  const find = () =>
    [...mails]
      .reverse()
      .find((one) => one.to.address === `${name.toLowerCase()}@example.org` && subject.test(one.subject));
  await reached(() => find() !== undefined);
  return find() ?? t.fail();
}

async function htmlOf(path: string, accept = 'en'): Promise<string> {
  const answer = await fetch(new URL(path, portal.client.url), { headers: { 'accept-language': accept } });
  return answer.text();
}

const langOf = async (path: string, accept?: string) =>
  /<html lang="(\w+)"/.exec(await htmlOf(path, accept))?.[1];

test.serial('mails, codes and pages have the language of each participant, of one document', async (t) => {
  const { client } = portal;
  const people = [signer('Greta', 'de'), signer('Fabien', 'fr'), signer('Nobody'), signer('Null', null)];
  const observers = [{ user: { name: 'Ida', email: 'ida@example.org', language: 'it' } }];
  const id = await client.create(people, { observers });
  await untilMailed(portal, id, 'pending', 4);
  const german = await mailTo(t, 'Greta', /signieren/);
  const french = await mailTo(t, 'Fabien', /signer/);
  const italian = await mailTo(t, 'Ida', /conoscenza/);
  const english = await mailTo(t, 'Nobody', /sign/i);
  t.deepEqual(
    [german, french, italian, english].map(({ language }) => language),
    ['de', 'fr', 'it', 'en'],
  );
  t.regex(german.html, /<html lang="de"/);
  t.is((await mailTo(t, 'Null', /sign/i)).language, 'en');
  const pathIn = (text: string) => /\/document\/key\/\S+ticket=[\w-]+/.exec(text)?.[0] ?? '';
  const page = pathIn(german.text);
  t.is(await langOf(page), 'de');
  t.is(await langOf(pathIn(french.text)), 'fr');
  t.is(await langOf(pathIn(italian.text)), 'it');
  t.is(await langOf(pathIn(english.text), 'pt'), 'pt');
  t.is(await langOf(`${page}&culture=es`), 'es', 'the one that is chosen on the page');
  for (const unknown of ['', 'nl']) t.is(await langOf(`${page}&culture=${unknown}`), 'de', unknown);
  const html = await htmlOf(page);
  t.true(html.includes('culture=de'), 'further addresses of the page keep it');
  const { key, ticket } = await ticketOf(client, id, 'greta@example.org');
  await client.post(`/api/documents/keys/${key}/email-authentication-code`, { ticket });
  t.is((await mailTo(t, 'Greta', /Code/)).language, 'de');
  const { flowActions } = await client.get<{ flowActions: { user: { language?: string } }[] }>(
    `/api/documents/${id}`,
  );
  t.deepEqual(
    flowActions.map(({ user }) => [user.language, 'language' in user]),
    [
      ['de', true],
      ['fr', true],
      [undefined, false],
      [undefined, false],
    ],
  );
});

test.serial('the people of a rule have their languages', async (t) => {
  const { client } = portal;
  const signRuleUsers = [signer('Rosa', 'de').user, signer('Ruth').user];
  const rule = { type: 'SignRule', ruleName: 'Board', numberRequiredSignatures: 1, signRuleUsers };
  const id = await client.create([{ ...rule, allowElectronicSignature: true }]);
  await untilMailed(portal, id, 'pending', 2);
  t.is((await mailTo(t, 'Rosa', /./)).language, 'de');
  t.is((await mailTo(t, 'Ruth', /./)).language, 'en');
});

test.serial('the end of the visit and the check page have the language too', async (t) => {
  const { client } = portal;
  const id = await client.create([signer('Gerd', 'de')]);
  const { key, ticket } = await ticketOf(client, id, 'gerd@example.org');
  await client.post(`/api/documents/keys/${key}/electronic-signature`, { ticket });
  await untilMailed(portal, id, 'concluded', 1);
  const path = `/document/key/${key}/sign?ticket=${ticket}`;
  const html = await htmlOf(path);
  t.regex(html, /<html lang="de"/);
  const check = new RegExp(`href="(/check/${key}\\?culture=de)"`).exec(html)?.[1] ?? '';
  t.is(await langOf(check), 'de');
  t.true((await htmlOf(`${path}&culture=fr`)).includes(`/check/${key}?culture=fr`));
  const done = await mailTo(t, 'Gerd', /Abgeschlossen/);
  t.is(done.language, 'de');
});

test.serial('own words of the organization are used in its language alone', async (t) => {
  const { client } = portal;
  const probe = await client.create([signer('Probe')], { disablePendingActionNotifications: true });
  const { organization } = await client.get<{ organization: { id: string } }>(`/api/documents/${probe}`);
  const path = `/api/organizations/${organization.id}/branding`;
  const mailTexts = [{ kind: 'pending', subject: 'Our words', introduction: 'Please look.' }];
  t.is((await client.send(path, { mailTexts }, 'PUT')).status, 200);
  const id = await client.create([signer('Gisela', 'de'), signer('Edward', 'en'), signer('Plain')]);
  await untilMailed(portal, id, 'pending', 3);
  t.is((await mailTo(t, 'Edward', /./)).subject, 'Our words');
  t.is((await mailTo(t, 'Plain', /./)).subject, 'Our words');
  const german = await mailTo(t, 'Gisela', /./);
  t.false(german.subject.includes('Our words') || german.text.includes('Please look.'));
  await client.send(path, { mailTexts: [] }, 'PUT');
});

test.serial(
  'one person with two languages gets a first mail for each, and a list in the first',
  async (t) => {
    const { client } = portal;
    const upload = async () => {
      const { id, name, contentType } = await client.upload();
      return { id, name, contentType, displayName: 'Lease' };
    };
    const files = [await upload(), await upload()];
    const same = await client.post<readonly { documentId: string }[]>('/api/documents', {
      files,
      flowActions: [signer('Twice', 'de')],
    });
    t.is(same.length, 2);
    await untilMailed(portal, same[0]?.documentId ?? '', 'pending', 1);
    const { mails } = portal.fixture;
    t.is(mails.filter(({ to }) => to.address === 'twice@example.org').length, 1);
    await client.post('/api/users/notify-pending', { emails: ['twice@example.org'] });
    await reached(() => mails.filter(({ to }) => to.address === 'twice@example.org').length === 2);
    t.deepEqual(
      mails.filter(({ to }) => to.address === 'twice@example.org').map(({ language }) => language),
      ['de', 'de'],
    );
  },
);

test.serial('a language that there is not is refused, and changes nothing', async (t) => {
  const { client } = portal;
  const { id, name, contentType } = await client.upload();
  for (const language of ['xx', 'DE-de', '', 7]) {
    const files = [{ id, name, contentType, displayName: 'Lease' }];
    const { user, ...action } = signer('Wrong');
    const answer = await client.send('/api/documents', {
      files,
      flowActions: [{ ...action, user: { ...user, language } }],
    });
    const refusal = await assertRefused(t, answer, 'BadRequest');
    t.regex(JSON.stringify(refusal), /language/i);
  }
});

test.serial('a table names the language of each row, and a template its members', async (t) => {
  const { client } = portal;
  const { id, name, contentType } = await client.upload();
  const template = await client.post<{ id: string }>('/api/templates', {
    name: 'Lease',
    document: {
      files: [{ id, name, contentType, displayName: 'Lease' }],
      flowActions: [{ title: 'Tenant', allowElectronicSignature: true }],
    },
  });
  const table = async (text: string) => {
    const file = await client.upload({ name: 'people.csv', content: Buffer.from(text), type: 'text/csv' });
    return client.send(`/api/templates/${template.id}/generation`, {
      dataFile: { id: file.id, name: 'people.csv', contentType: 'text/csv' },
    });
  };
  const wrong = await table('tenant.name,tenant.email,tenant.language\nAnna,anna@example.org,klingon');
  await assertRefused(t, wrong, 'InvalidFlowAction');
  const good = await table(
    'tenant.name,tenant.email,tenant.language\nAnna,anna@example.org,DE\nBert,bert@example.org,\nCara,cara@example.org,pt-BR\nDora,dora@example.org,Allemand',
  );
  t.true(good.ok, await good.clone().text());
  t.is((await mailTo(t, 'Anna', /./)).language, 'de');
  t.is((await mailTo(t, 'Bert', /./)).language, 'en');
  t.is((await mailTo(t, 'Cara', /./)).language, 'pt');
  t.is((await mailTo(t, 'Dora', /./)).language, 'de');
});

test('a code by telephone has the language of the participant', async (t) => {
  const gateway = await startReceiver(t, status(202));
  const { acme: client } = await startProgram(t, {
    settings: {
      'Portal:MessageGateway:Url': gateway.url,
      'Portal:MessageGateway:Secret': `whsec_${GATEWAY_KEY.toString('base64')}`,
    },
  });
  const { user, ...action } = signer('Gustav', 'de');
  const id = await client.create(
    [
      {
        ...action,
        user: { ...user, phone: '+4915112345678' },
        requireSmsAuthenticationToSignElectronically: true,
      },
    ],
    { disablePendingActionNotifications: true },
  );
  const { flowActions } = await client.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  await client.post('/api/documents/sms-authentication-code', { flowActionId: flowActions[0]?.id });
  await reached(() => gateway.calls.length > 0);
  const message = JSON.parse(gateway.calls[0]?.body ?? '{}') as { text: string; language: string };
  t.is(message.language, 'de');
  t.regex(message.text, /Code/);
  t.regex(message.text, /Minuten/);
});
