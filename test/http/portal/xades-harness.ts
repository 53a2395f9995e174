/** Programs whose participants sign XML documents with `xadesOptions`, and the verifiers of the results. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { type PortalProgram, startProgram, until } from '../../actors/portal/service.ts';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { temporaryRoot } from '../../service/service.ts';
import { localProfile } from '../../service/signing/profiles.ts';
import { xmlsec1 } from '../../verifiers/index.ts';

export interface XadesFixture {
  readonly authority: TestAuthority;
  readonly program: PortalProgram;
}

/** @param timestamps true configures a time-stamp authority */
export async function startXadesFixture(
  teardown: (task: () => unknown) => void,
  timestamps: boolean,
): Promise<XadesFixture> {
  const authority = await startAuthority();
  teardown(() => authority.close());
  const root = await temporaryRoot({ teardown });
  return openXadesFixture(teardown, timestamps, authority, root);
}

/** Restarts a stopped program on the same root folder. */
export function restartXadesFixture(
  teardown: (task: () => unknown) => void,
  timestamps: boolean,
  { authority, program }: XadesFixture,
): Promise<XadesFixture> {
  return openXadesFixture(teardown, timestamps, authority, program.service.root);
}

async function openXadesFixture(
  teardown: (task: () => unknown) => void,
  timestamps: boolean,
  authority: TestAuthority,
  root: string,
): Promise<XadesFixture> {
  const profile = await localProfile(root, 0, {
    name: 'seal',
    signer: authority.pki.signer('p-256'),
    members: {
      Format: 'Pades',
      ...(timestamps && { 'Timestamp:Url': authority.timestampUrl }),
    },
  });
  const settings = {
    ...profile,
    'Signing:Trust:Roots:0': authority.pki.rootFile,
    'Signing:Trust:Intermediates:0': authority.pki.issuingFile,
    'Portal:SealProfile': 'seal',
  };
  return { authority, program: await startProgram({ teardown }, { root, settings }) };
}

type Context = ExecutionContext<XadesFixture>;

export interface Document {
  readonly key: string;
  readonly status: string;
  readonly processingError: { readonly code: string; readonly message: string } | null;
  readonly flowActions: readonly { readonly status: string }[];
}

export const ORDER =
  '<?xml version="1.0" encoding="UTF-8"?>\n<o:order xmlns:o="urn:order" xmlns="urn:item"><items>' +
  '<item code="7">first</item><item code="8" Id="eight">second</item><item code="7"/></items></o:order>\n';
export const XML = { name: 'order.xml', content: Buffer.from(ORDER), type: 'application/xml' };
/** `O`: signs electronically, so that the portal's own key signs; `C`: with a certificate, in two steps. */
type Way = 'O' | 'C';

export interface Signing {
  readonly by: Way;
  readonly options?: object | null;
  readonly more?: object;
}

export const action = ({ by, options, more }: Signing, index: number) => ({
  type: 'Signer',
  step: index,
  user: { name: `P${index}`, email: `p${index}@example.com` },
  allowElectronicSignature: by === 'O',
  ...(options !== undefined && { xadesOptions: options }),
  ...more,
});

function browser(url: string, path: string, body: object): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

export async function create(
  { program }: XadesFixture,
  signings: readonly Signing[],
  file = XML,
  request: { readonly [member: string]: unknown } = {},
): Promise<{ readonly id: string; readonly key: string }> {
  const id = await program.acme.create(signings.map(action), request, file);
  const { key } = await program.acme.get<Document>(`/api/documents/${id}`);
  return { id, key };
}

/** Reply to the creation of such a document. */
export async function creating(t: Context, signings: readonly Signing[], file = XML): Promise<Response> {
  const { acme } = t.context.program;
  const upload = await acme.upload(file);
  const files = [{ ...upload, displayName: file.name }];
  return acme.send('/api/documents', { files, flowActions: signings.map(action) });
}

export async function ticketOf({ program }: XadesFixture, id: string, index: number): Promise<string> {
  const { url } = await program.acme.post<{ url: string }>(`/api/documents/${id}/action-url`, {
    emailAddress: `p${index}@example.com`,
  });
  return /\?ticket=(.*)$/.exec(url)?.[1] ?? '';
}

export async function begin(
  { authority, program }: XadesFixture,
  key: string,
  ticket: string,
): Promise<Response> {
  const { certificate } = authority.pki.signer('rsa-2048');
  const path = `/api/documents/keys/${key}/signature/certificate`;
  return browser(program.url, path, { ticket, certificate: certificate.toString('base64') });
}

export async function signOne(
  t: Context,
  { id, key }: { readonly id: string; readonly key: string },
  by: Way,
  index: number,
): Promise<void> {
  const { program } = t.context;
  const ticket = await ticketOf(t.context, id, index);
  if (by === 'O') {
    const signed = await browser(program.url, `/api/documents/keys/${key}/electronic-signature`, { ticket });
    t.is(signed.status, 200, await signed.text());
    return;
  }
  const begun = await begin(t.context, key, ticket);
  const text = await begun.text();
  const { token, toSign } = JSON.parse(text) as { token: string; toSign: string | null };
  if (toSign === null) throw new Error(text);
  const value = t.context.authority.pki
    .signer('rsa-2048')
    .key.sign(Buffer.from(toSign, 'base64'), { scheme: 'rsa-pkcs1', digest: 'sha256' });
  const done = await browser(program.url, `/api/documents/keys/${key}/signature`, {
    token,
    signature: value.toString('base64'),
  });
  const answer = await done.text();
  t.is((JSON.parse(answer) as { success?: boolean }).success, true, answer);
}

/**
 * All participants sign in turn; returns the signed file, every signature of which our validation and xmlsec1 accept.
 */
export async function signed(
  t: Context,
  signings: readonly Signing[],
  file = XML,
  request: { readonly [member: string]: unknown } = {},
): Promise<string> {
  const { program } = t.context;
  const document = await create(t.context, signings, file, request);
  for (const [index, { by }] of signings.entries()) {
    await until(async () => {
      const { flowActions } = await program.acme.get<Document>(`/api/documents/${document.id}`);
      return flowActions[index]?.status === 'Pending' ? true : undefined;
    });
    await signOne(t, document, by, index);
  }
  await until(async () => {
    const { status, processingError } = await program.acme.get<Document>(`/api/documents/${document.id}`);
    if (processingError !== null) throw new Error(JSON.stringify(processingError));
    return status === 'Concluded' ? true : undefined;
  });
  const content = await program.acme.fetch(`/api/documents/${document.id}/content?type=Signatures`);
  const bytes = Buffer.from(await content.arrayBuffer());
  const record = await program.acme.get<{ signers: { validationResults: { isValid: boolean } }[] }>(
    `/api/documents/${document.id}/signatures-details`,
  );
  t.is(record.signers.length, signings.length);
  t.true(
    record.signers.every(({ validationResults }) => validationResults.isValid),
    JSON.stringify(record.signers),
  );
  await judgedByXmlsec(t, document.id, bytes, signings.length);
  return bytes.toString();
}

async function judgedByXmlsec(t: Context, id: string, bytes: Buffer, count: number): Promise<void> {
  const path = join(t.context.program.service.root, `${id}.xml`);
  await writeFile(path, bytes);
  const ids = [...bytes.toString('latin1').matchAll(/<ds:Signature [^>]*Id="([^"]+)"/g)];
  t.is(ids.length, count);
  for (const [, nodeId = ''] of ids) {
    const verdict = await xmlsec1({
      file: path,
      ca: t.context.authority.pki.rootFile,
      nodeId,
      idAttributes: [
        ['Id', 'http://www.w3.org/2000/09/xmldsig#:Signature'],
        ['Id', 'urn:item:item'],
      ],
    });
    t.true(verdict.ok, verdict.text);
    t.deepEqual([verdict.referencesOk, verdict.references], [2, 2]);
  }
}

export const byId = {
  signatureType: 'XmlElement',
  elementToSignIdentifierType: 'Id',
  elementToSignIdentifier: 'eight',
};
export const byPath = (elementToSignIdentifier: string) => ({
  signatureType: 'XmlElement',
  elementToSignIdentifierType: 'XPath',
  elementToSignIdentifier,
});
export const FILTER = 'http://www.w3.org/2002/06/xmldsig-filter2';
export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
