/** A flow of one signer over HTTP, and the verification of its result. */
import { writeFile } from 'node:fs/promises';
import { verifyFile } from '@sealwright/signatures';
import { Unverified } from './frame/bench.ts';
import type { Program } from './program.ts';

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** Uploads a file and creates a document of it, whose one signer gets no mails. @returns its id */
export async function createDocument(program: Program, pdf: Buffer): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(pdf)], { type: 'application/pdf' }), 'contract.pdf');
  const { id, name, contentType } = await program.ask<{ id: string; name: string; contentType: string }>(
    'portal',
    '/api/uploads',
    { method: 'POST', body: form },
  );
  const [created] = await program.ask<{ documentId: string }[]>(
    'portal',
    '/api/documents',
    json({
      files: [{ displayName: 'Contract', id, name, contentType }],
      flowActions: [
        { type: 'Signer', user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true },
      ],
      disableNotifications: true,
    }),
  );
  return created?.documentId ?? '';
}

/**
 * Runs one flow: upload, creation, electronic signature, Concluded. @returns the id of the document
 * @param pollMs pause between two looks at the document after its signature, milliseconds
 */
export async function flow(program: Program, pdf: Buffer, pollMs = 5): Promise<string> {
  const document = await createDocument(program, pdf);
  const detail = () =>
    program.ask<{ status: string; flowActions: { id: string }[] }>('portal', `/api/documents/${document}`);
  const flowActionId = (await detail()).flowActions[0]?.id;
  await program.ask('portal', `/api/documents/${document}/electronic-signature`, json({ flowActionId }));
  while ((await detail()).status !== 'Concluded') await new Promise((resolve) => setTimeout(resolve, pollMs));
  return document;
}

/** Verifies the signed file of a concluded document. @throws {Unverified} */
export async function mustVerify(
  { portal, portalKey }: Program,
  id: string,
  { path, at, damage }: { readonly path: string; readonly at: number; readonly damage: boolean },
): Promise<void> {
  const response = await fetch(`${portal}/api/documents/${id}/content?type=Signatures`, {
    headers: portalKey,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (damage) bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  await writeFile(path, bytes);
  const { ok, checks } = verifyFile({ format: 'Pades', path, at });
  const failed = checks.filter((check) => !check.ok).map(({ detail }) => detail);
  if (!ok) throw new Unverified(`The signed file of document ${id} does not verify: ${failed.join(' ')}`);
}
