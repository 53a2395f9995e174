/** Trusted lists in the running program: kept, judged by, demanded, and never taken back to an older one. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { certificatePem } from '#crypto/x509/certificate.js';
import { type Client, type PortalProgram, startProgram } from '../../actors/portal/service.ts';
import { startPersonProvider } from '../../actors/shared/key-services/person-provider.ts';
import { start } from '../../commands/program.ts';
import {
  authorityOf,
  JOURNAL,
  LOCATION,
  listSigner,
  listText,
  lotlText,
  providerText,
  type Statement,
  signList,
} from '../../crypto/trust-lists/own-lists.ts';
import { signatureValue, startSignature, ticketOf } from '../../http/portal/signing/certificate-client.ts';
import { Browser, documentOf, held, providerSettings } from '../../http/portal/signing/provider-client.ts';
import { keyPemOf, type TestSigner } from '../../pki/pki.ts';
import { makeCrl } from '../../pki/revocation-answers.ts';
import { type Service, temporaryRoot } from '../service.ts';

const DAY = 86_400_000;
const NOW = Date.now();
const scheme = listSigner('scheme');
const authority = authorityOf('BE');
const QUALIFIED: readonly Statement[] = ['compliance', 'signature', 'device'];
const list = makeCrl({
  issuer: authority,
  thisUpdate: NOW - DAY,
  nextUpdate: NOW + DAY,
  revoked: new Map(),
});
const answers = createServer((_, response) => response.end(list));
await new Promise<void>((resolve) => answers.listen(0, '127.0.0.1', resolve));
const provider = await startPersonProvider({ teardown: () => {} });
test.after.always(() => {
  answers.close();
  provider.close();
});
const crlUrl = `http://127.0.0.1:${(answers.address() as AddressInfo).port}/list.crl`;
const issued = (statements: readonly Statement[], from: string | undefined = crlUrl) =>
  authority.issue(statements, { notBefore: NOW - 30 * DAY, crlUrl: from });
const qualified = issued(QUALIFIED);
const advanced = issued(['compliance', 'signature']);
/** Nobody says whether it was revoked. */
const silent = issued(QUALIFIED, `${crlUrl.replace(/:\d+/, ':1')}`);

function bundle(folder: string, sequence: number, status = 'granted'): void {
  mkdirSync(folder, { recursive: true });
  const nextUpdate = NOW + 90 * DAY;
  const pointers = [{ territory: 'BE', signers: [scheme] }];
  const lotl = lotlText([scheme], { pointers, sequence, nextUpdate });
  const providers = providerText(authority.certificate, [{ status }]);
  writeFileSync(join(folder, 'eu-lotl.xml'), signList(lotl, scheme));
  writeFileSync(join(folder, 'BE.xml'), signList(listText({ sequence, nextUpdate, providers }), scheme));
}

function profile(root: string, index: number, { certificate, key }: TestSigner): Record<string, string> {
  const name = `p${index}`;
  writeFileSync(
    join(root, `${name}.pem`),
    certificatePem(certificate) + certificatePem(authority.certificate),
  );
  writeFileSync(join(root, `${name}.key`), keyPemOf(key.keyObject), { mode: 0o600 });
  const own = {
    Name: name,
    Require: 'QESig',
    'Certificate:Source': 'Pem',
    'Certificate:Pem:CertificatePath': join(root, `${name}.pem`),
    'Certificate:Pem:KeyPath': join(root, `${name}.key`),
  };
  return Object.fromEntries(
    Object.entries(own).map(([member, value]) => [`Signing:Profiles:${index}:${member}`, value]),
  );
}

const AT_PROVIDER = Object.entries(providerSettings(provider)).filter(([key]) => key.startsWith('Portal:'));

async function program(t: ExecutionContext) {
  const root = await temporaryRoot(t);
  const lists = join(root, 'bundle');
  bundle(lists, 7);
  mkdirSync(join(root, 'journal'));
  writeFileSync(join(root, 'journal', 'journal.pem'), certificatePem(scheme.certificate));
  const settings = {
    'Signing:Trust:Lists:Folder': lists,
    'Signing:Trust:Lists:Location': LOCATION,
    'Signing:Trust:Lists:Anchors': join(root, 'journal'),
    'Signing:Trust:Lists:Journal': JOURNAL,
    'Signing:Profiles:0:Name': 'seal',
    ...profile(root, 1, qualified),
    ...profile(root, 2, advanced),
    ...profile(root, 3, silent),
    'Portal:Organizations:0:Name': 'Acme',
    'Portal:Organizations:0:RequiredQualification': 'QESig',
    ...Object.fromEntries(AT_PROVIDER),
  };
  return { root, lists, settings, ...(await startProgram(t, { root, settings })) };
}

interface Ready {
  readonly status: string;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly detail: string }[];
}

async function listsCheck(service: Service): Promise<Ready['checks'][number] | undefined> {
  const { checks } = await service.json<Ready>('/api/ready');
  return checks.find(({ name }) => name === 'trust-lists');
}

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];

async function signed(client: Client, own: TestSigner) {
  const id = await client.create(FLOW);
  const { started, path, key } = await startSignature(client, id, 'ana@example.org', own);
  if (!started.success) return { id, key, started };
  const done = await client.post(path, { token: started.token, signature: signatureValue(own, started) });
  return { id, key, started, done };
}

test('signatures are qualified and demanded by the lists, which never go back to an older one', async (t) => {
  const { root, lists, settings, service, acme, url, organization, administrator } = await program(t);
  t.like(await listsCheck(service), { status: 'Healthy' });

  // The batch service: jobs of a profile, and validation.
  const good = await service.upload('a.xml', '<a/>', '?profile=p1');
  const bad = await service.upload('b.xml', '<a/>', '?profile=p2');
  t.like(await service.finished(good.jobId), { status: 'Completed' });
  const failed = await service.finished(bad.jobId);
  t.like(failed, { status: 'Failed', errorCode: 'verification.qualification', outputFileName: null });
  t.is(failed.errorMessage, 'QESig is required, and this is AdESig-QC.');
  const open = await service.upload('d.xml', '<a/>', '?profile=p3');
  const unknown = await service.finished(open.jobId);
  t.like(unknown, { status: 'Failed', errorCode: 'verification.qualification' });
  t.regex(String(unknown.errorMessage), /INDETERMINATE-QESig\. .*nothing says whether .* was revoked/);
  const validated = async (signer: TestSigner) => {
    const output = join(root, `${randomUUID()}.xml`);
    signFile({ format: 'Xades', input: Buffer.from('<a/>'), output, signer, at: Date.now() });
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(readFileSync(output))]), 'validated.xml');
    const headers = { accept: 'application/json' };
    const answer = await service.fetch('/api/validate', { method: 'POST', body: form, headers });
    return ((await answer.json()) as { signatures: { qualification: unknown }[] }).signatures[0];
  };
  t.like(await validated(qualified), {
    indication: 'TOTAL-PASSED',
    qualification: { word: 'QESig', isIndeterminate: false, territory: 'BE', list: { sequence: 7 } },
  });
  t.like(await validated(advanced), { qualification: { word: 'AdESig-QC', device: 'no' } });

  // The portal: what an organization demands, and what its pages show.
  const refused = await signed(acme, advanced);
  t.like(refused.started, { success: false });
  t.deepEqual(refused.started.validationResults.errors, [
    {
      type: 'certificate.demand',
      message: 'QESig is required, and this is AdESig-QC.',
      detail: null,
      innerValidationResults: null,
    } as never,
  ]);
  const unchecked = await signed(acme, silent);
  t.like(unchecked.started, { success: false });
  t.regex(unchecked.started.validationResults.errors[0]?.message ?? '', /nothing says whether/i);
  const made = await signed(acme, qualified);
  t.like(made.done, { success: true });
  const { signers } = await acme.get<{ signers: { qualification: unknown }[] }>(
    `/api/documents/${made.id}/signatures-details`,
  );
  t.like(signers[0]?.qualification, { word: 'QESig', provider: 'Provider' });
  for (const [language, words] of Object.entries(QUALIFIED_WORDS)) {
    const page = await (await fetch(`${url}/check/${made.key}?culture=${language}`)).text();
    t.true(page.includes(words), language);
  }
  const electronic = await acme.create(FLOW);
  const { key, ticket } = await ticketOf(acme, electronic, 'ana@example.org');
  const path = `/api/documents/keys/${key}/electronic-signature`;
  const answer = await acme.send(path, { ticket, typedName: 'Ana' });
  t.is(answer.status, 422);
  t.regex(await answer.text(), /demands signatures of the qualification QESig/);
  const free = await organization('Free');
  t.like((await signed(free, advanced)).done, { success: true });
  await assertDemandedOfProviders(t, { acme, free, administrator, url });

  // After a restart, with older lists in the folder: refused, said, and the ones before stay in use.
  await service.stop();
  bundle(lists, 6, 'withdrawn');
  const again = await startProgram(t, { root, settings });
  const check = await again.service.until('the refresh', async () => {
    const found = await listsCheck(again.service);
    return found?.status === 'Degraded' ? found : undefined;
  });
  t.regex(check.detail, /sequence number 6, but 7 was accepted before/);
  t.is((await again.service.json<Ready>('/api/ready')).status, 'Ready', 'all else works on');
  const still = await again.service.upload('c.xml', '<a/>', '?profile=p1');
  t.like(await again.service.finished(still.jobId), { status: 'Completed' });
  await again.service.stop();
  const words = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const doctor = start(root, ['doctor', `--Storage:Root=${root}`, ...words]);
  await doctor.ended;
  t.regex(doctor.out(), /warning {2}trust-lists: .*7 was accepted before/);
});

/** The demand where participants sign with certificates that a provider holds, also where it is raised meanwhile. */
async function assertDemandedOfProviders(
  t: ExecutionContext,
  {
    acme,
    free,
    administrator,
    url,
  }: Pick<PortalProgram, 'acme' | 'administrator' | 'url'> & {
    readonly free: Client & { readonly organizationId: string };
  },
): Promise<void> {
  provider.credentials.set('good', held(qualified)).set('advanced', held(advanced));
  const atProvider = async (client: Client, credential: string, until?: string) => {
    const browser = new Browser();
    const document = await documentOf(client);
    const page = await browser.go((await browser.start(url, document)).body.address);
    return { browser, document, end: await browser.choose(page, credential, until) };
  };
  const before = provider.signed;
  const refused = await atProvider(acme, 'advanced');
  t.is(refused.end.status, 403);
  t.is(provider.signed, before, 'nothing was asked for');
  t.true((await atProvider(acme, 'good')).end.url.includes('/sign?ticket='));
  const begun = await atProvider(free, 'advanced', '/return?');
  const change = { requiredQualification: 'QESig' };
  await administrator.post(`/api/admin/organizations/${free.organizationId}`, change, 'PATCH');
  const late = await begun.browser.go(begun.end.url);
  t.is(late.status, 403, late.text);
  const { status } = await free.get<{ status: string }>(`/api/documents/${begun.document.id}`);
  t.is(status, 'Pending');
}

const QUALIFIED_WORDS = {
  en: 'Qualified electronic signature',
  pt: 'Assinatura eletrônica qualificada',
  es: 'Firma electrónica cualificada',
  de: 'Qualifizierte elektronische Signatur',
  fr: 'Signature électronique qualifiée',
  it: 'Firma elettronica qualificata',
};
