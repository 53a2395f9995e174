/** A document at the limits of a flow over HTTP: 30 who sign, 20 who approve, 200 fields, 300 pages. */
import { writeFile } from 'node:fs/promises';
import ava from 'ava';
import { type Client, sharedProgram, until } from '../../../actors/portal/service.ts';
import { freshPath } from '../../../crypto/pades/validation/verdicts.ts';
import { classicPdf, documentObjects } from '../../../crypto/pdf/build.ts';
import { pki } from '../../../pki/pki.ts';
import { pdfsig, runTool, withTools } from '../../../verifiers/index.ts';
import { ticketOf } from './certificate-client.ts';

const test = withTools(ava, 'pdfsig', 'certutil', 'pdftotext');

const SIGNERS = 30;
const APPROVERS = 20;

function fieldsOf(at: number): readonly { readonly name: string }[] {
  return Array.from({ length: at < 20 ? 7 : 6 }, (_, index) => ({
    name: `${at}-${index}`,
    topLeftX: 10,
    topLeftY: 10 + 25 * index,
    width: 80,
    height: 20,
    pageNumber: 10 * at + index + 1,
  }));
}

function user(name: string) {
  return { name, email: `${name}@example.org` };
}

/** Acts with the ticket of the participant's link, without a key. */
async function act(
  client: Client,
  id: string,
  {
    name,
    action,
    more = {},
  }: { readonly name: string; readonly action: string; readonly more?: object | undefined },
) {
  const { key, ticket } = await ticketOf(client, id, user(name).email);
  const answer = await fetch(`${client.url}/api/documents/keys/${key}/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket, ...more }),
  });
  if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
}

test('a document of 50 participants, 200 fields and 300 pages concludes over HTTP with each signature accepted', async (t) => {
  t.timeout(540_000);
  const { acme } = await sharedProgram(t);
  const signers = Array.from({ length: SIGNERS }, (_, at) => ({
    type: 'Signer',
    user: user(`signer${at}`),
    allowElectronicSignature: true,
    fields: fieldsOf(at),
  }));
  const approvers = Array.from({ length: APPROVERS }, (_, at) => ({
    type: 'Approver',
    user: user(`approver${at}`),
  }));
  const fields = signers.flatMap((signer) => signer.fields);
  t.deepEqual([signers.length + approvers.length, fields.length], [50, 200]);
  const content = classicPdf(documentObjects({ pages: 300, text: 'Clause' }));
  const id = await acme.create(
    [...signers, ...approvers],
    {},
    {
      name: 'large.pdf',
      content,
      type: 'application/pdf',
    },
  );
  for (const approver of approvers) await act(acme, id, { name: approver.user.name, action: 'approval' });
  for (const [at, { user: signer }] of signers.entries()) {
    const fieldValues = Object.fromEntries(fieldsOf(at).map(({ name }) => [name, `v${name}`]));
    await act(acme, id, { name: signer.name, action: 'electronic-signature', more: { fieldValues } });
  }
  await until(async () => {
    const { status } = await acme.get<{ status: string }>(`/api/documents/${id}`);
    return status === 'Concluded' ? true : undefined;
  });

  const path = freshPath('large.pdf');
  const signed = await acme.fetch(`/api/documents/${id}/content?type=Signatures`);
  await writeFile(path, Buffer.from(await signed.arrayBuffer()));
  const found = await pdfsig(path, pki());
  t.is(found.length, SIGNERS);
  for (const { signature } of found) t.is(signature, 'Signature is Valid.');
  t.true(found.at(-1)?.coversWholeFile);
  const { stdout } = await runTool('pdftotext', ['-layout', path, '-']);
  for (const { name } of fields) t.true(stdout.includes(`v${name}`), name);
});
