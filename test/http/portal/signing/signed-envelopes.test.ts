/** Signed files in an envelope, which cannot contain their signatures. */
import { readFile, writeFile } from 'node:fs/promises';
import test from 'ava';
import { sharedProgram, startProgram, until } from '../../../actors/portal/service.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { assertRefused } from '../../refused.ts';

const toolTest = withTools(test, 'pdftotext');

interface Detail {
  readonly status: string;
  readonly attachments: readonly {
    readonly id: string;
    readonly filename: string;
    readonly signaturesNotInEnvelope: number | null;
  }[];
}

const ANA = { name: 'Ana', email: 'ana@example.org' };
const FLOW = [{ user: ANA, allowElectronicSignature: true }];

toolTest(
  'a signed file of an envelope stays readable as an attachment, in the detail and in the manifest',
  async (t) => {
    const { acme, administrator, service } = await startProgram(t);
    const sign = async (id: string) => {
      const { flowActions } = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
      await acme.post(`/api/documents/${id}/electronic-signature`, { flowActionId: flowActions[0]?.id });
      await until(async () =>
        (await acme.get<Detail>(`/api/documents/${id}`)).status === 'Concluded' ? true : undefined,
      );
    };
    const download = async (path: string) => {
      const answer = await acme.fetch(path);
      t.is(answer.status, 200, path);
      return Buffer.from(await answer.arrayBuffer());
    };
    const single = await acme.create(FLOW);
    await sign(single);
    const content = await download(`/api/documents/${single}/content?type=Signatures`);
    const uploads = [
      await acme.upload({ name: 'signed.pdf', content, type: 'application/pdf' }),
      await acme.upload(),
    ];
    const files = uploads.map((upload) => ({ ...upload, displayName: upload.name }));
    const request = { files, flowActions: FLOW, isEnvelope: true, envelopeName: 'Both' };
    const [made] = await acme.post<{ documentId: string; attachments: unknown }[]>('/api/documents', request);
    const id = made?.documentId ?? '';
    t.deepEqual(made?.attachments, [], 'the attachments of the answer are those of the request');
    const { attachments } = await acme.get<Detail>(`/api/documents/${id}`);
    t.like(attachments, [{ filename: 'signed.pdf', signaturesNotInEnvelope: 1 }]);
    t.is(attachments.length, 1);
    const kept = await download(`/api/documents/${id}/attachments/${attachments[0]?.id}/content`);
    t.deepEqual(kept, content, 'byte for byte');
    await sign(id);
    const manifest = `${service.root}/manifest.pdf`;
    await writeFile(manifest, await download(`/api/documents/${id}/content?type=SignaturesManifest`));
    const text = (await runTool('pdftotext', ['-layout', manifest, '-'])).stdout;
    t.regex(text, /signed\.pdf[\s\S]*Number of its signatures: 1\./);
    t.true((await readFile(manifest)).length > 0);

    const again = await acme.create(FLOW);
    t.deepEqual((await acme.get<Detail>(`/api/documents/${again}`)).attachments, []);

    const organizations = '/api/admin/organizations';
    const { items } = await administrator.get<{ items: { id: string; name: string }[] }>(organizations);
    const path = `${organizations}/${items.find(({ name }) => name === 'Acme')?.id}`;
    await administrator.post(path, { refuseSignedEnvelopeFiles: true }, 'PATCH');
    t.like(await administrator.get(path), { refuseSignedEnvelopeFiles: true });
    const refused = await acme.send('/api/documents', request);
    t.deepEqual((await assertRefused(t, refused, 'EnvelopeFileSigned')).details, { file: 'signed.pdf' });
    t.truthy(
      await acme.post('/api/documents', { ...request, files: files.slice(1) }),
      'unsigned files are merged',
    );
  },
);

test('a new version of an envelope has the signed files of its own version alone', async (t) => {
  const { acme } = await sharedProgram(t);
  const single = await acme.create(FLOW);
  const { flowActions } = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${single}`);
  await acme.post(`/api/documents/${single}/electronic-signature`, { flowActionId: flowActions[0]?.id });
  const signed = await until(async () => {
    const answer = await acme.fetch(`/api/documents/${single}/content?type=Signatures`);
    return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : undefined;
  });
  const entry = async (name: string, content?: Buffer) => {
    const upload = await acme.upload(content && { name, content, type: 'application/pdf' });
    return { ...upload, displayName: name };
  };
  const files = [await entry('one.pdf', signed), await entry('two.pdf')];
  const [made] = await acme.post<{ documentId: string }[]>('/api/documents', {
    files,
    flowActions: FLOW,
    isEnvelope: true,
    envelopeName: 'E',
    attachments: [{ ...(await entry('terms.pdf')), isPrivate: false }],
  });
  const path = `/api/documents/${made?.documentId}`;
  const named = async () =>
    (await acme.get<Detail>(path)).attachments.map(({ signaturesNotInEnvelope: n }) => n);
  t.deepEqual(await named(), [null, 1]);
  await acme.post(`${path}/envelope/versions`, { files: [await entry('two.pdf')] });
  t.deepEqual(await named(), [null]);
});
