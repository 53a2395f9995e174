/** A flow of one signer over HTTP, and the verification of its result. */
import { writeFile } from 'node:fs/promises';
import { verifyFile } from '../crypto/index.ts';
import { Unverified } from './frame/bench.ts';
import type { Program } from './program.ts';

async function ask<Body>({ portal, portalKey }: Program, path: string, body?: unknown): Promise<Body> {
  const json = body !== undefined && !(body instanceof FormData);
  const response = await fetch(`${portal}${path}`, {
    ...(body !== undefined && { method: 'POST', body: json ? JSON.stringify(body) : (body as FormData) }),
    headers: { ...portalKey, ...(json && { 'content-type': 'application/json' }) },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

/**
 * Runs one flow: upload, creation, electronic signature, Concluded. @returns the id of the document
 * @param pollMs pause between two looks at the document after its signature, milliseconds
 */
export async function flow(program: Program, pdf: Buffer, pollMs = 5): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(pdf)], { type: 'application/pdf' }), 'contract.pdf');
  const { id, name, contentType } = await ask<{ id: string; name: string; contentType: string }>(
    program,
    '/api/uploads',
    form,
  );
  const [created] = await ask<{ documentId: string }[]>(program, '/api/documents', {
    files: [{ displayName: 'Contract', id, name, contentType }],
    flowActions: [
      { type: 'Signer', user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true },
    ],
    disableNotifications: true,
  });
  const document = created?.documentId ?? '';
  const detail = () =>
    ask<{ status: string; flowActions: { id: string }[] }>(program, `/api/documents/${document}`);
  const flowActionId = (await detail()).flowActions[0]?.id;
  await ask(program, `/api/documents/${document}/electronic-signature`, { flowActionId });
  while ((await detail()).status !== 'Concluded') await new Promise((resolve) => setTimeout(resolve, pollMs));
  return document;
}

/** Verifies the signed file of a concluded document. @throws {Unverified} */
export async function mustVerify(
  { portal, portalKey }: Program,
  id: string,
  path: string,
  at: number,
  damage: boolean,
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
