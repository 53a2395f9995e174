/** The real program with its portal as a client sees it, for tests that kill it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { ONE_REQUEST_PER_CONNECTION } from '../../../postgres/test-store.ts';
import { Service } from '../../../service/service.ts';
import { runTool } from '../../../verifiers/index.ts';

const SECRET = 'ab'.repeat(32);
const KEY = `killed|${SECRET}`;
export const SETTINGS = {
  'Portal:Enabled': true,
  'Portal:Bootstrap:Application': 'killed',
  'Portal:Bootstrap:Secret': SECRET,
};

interface Detail {
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly flowActions: readonly { readonly id: string; readonly status: string }[];
}

/** The portal as a client sees it; undefined for an answer that a kill cut off. */
export class Client {
  readonly #service: Service;
  /** Error of the last request that was cut off. */
  #cut: unknown;

  constructor(service: Service) {
    this.#service = service;
  }

  /** The request that was cut off, for a test in which nothing may cut it off. */
  #cutOff(what: string): Error {
    return new Error(`${what} was cut off; ${this.#service.condition()}`, { cause: this.#cut });
  }

  async call<Body>(method: string, path: string, body?: object | FormData): Promise<Body | undefined> {
    const isForm = body instanceof FormData;
    const noteCut = (error: unknown) => {
      this.#cut = error;
    };
    const answer = await fetch(`${this.#service.portalUrl}${path}`, {
      method,
      headers: {
        'X-Api-Key': KEY,
        ...ONE_REQUEST_PER_CONNECTION,
        ...(!isForm && body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    }).catch(noteCut);
    const text = await answer?.text().catch(noteCut);
    if (answer === undefined || text === undefined) return undefined;
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Body;
  }

  async upload(): Promise<{ readonly id: string; readonly name: string; readonly contentType: string }> {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(contract())], { type: 'application/pdf' }), 'contract.pdf');
    const upload = await this.call<Awaited<ReturnType<Client['upload']>>>('POST', '/api/uploads', form);
    if (upload === undefined) throw this.#cutOff('the upload');
    return upload;
  }

  /** Ids of as many documents as asked for, with two participants each; undefined when a kill cut it off. */
  async create(count: number, more: object = {}): Promise<readonly string[] | undefined> {
    const { id, name, contentType } = await this.upload();
    const files = Array.from({ length: count }, (_, at) => ({
      id,
      name,
      contentType,
      displayName: `Paper ${at}`,
    }));
    const user = (person: string) => ({ name: person, email: `${person.toLowerCase()}@example.org` });
    const flowActions = ['Ana', 'Bob'].map((person, step) => ({
      type: 'Signer',
      step,
      user: user(person),
      allowElectronicSignature: true,
      ...more,
    }));
    const made = await this.call<{ documentId: string }[]>('POST', '/api/documents', { files, flowActions });
    return made?.map(({ documentId }) => documentId);
  }

  async detail(id: string): Promise<Detail> {
    const detail = await this.call<Detail>('GET', `/api/documents/${id}`);
    if (detail === undefined) throw this.#cutOff('the detail');
    return detail;
  }

  /** The signed file. */
  async content(id: string): Promise<Buffer> {
    const content = await fetch(`${this.#service.portalUrl}/api/documents/${id}/content?type=Signatures`, {
      headers: { 'X-Api-Key': KEY },
    });
    return Buffer.from(await content.arrayBuffer());
  }

  /** True when it was answered. */
  async sign(id: string): Promise<boolean> {
    const { flowActions } = await this.detail(id);
    const flowActionId = flowActions.find(({ status }) => status === 'Pending')?.id;
    if (flowActionId === undefined) return true;
    const answer = await this.call('POST', `/api/documents/${id}/electronic-signature`, { flowActionId });
    return answer !== undefined;
  }
}

/** After the restart every document goes on from where it was, and ends with two good signatures and no more. */
export async function goesOn(t: ExecutionContext, root: string, ids: readonly string[]): Promise<void> {
  const service = await Service.start(t, { root, settings: SETTINGS });
  const client = new Client(service);
  for (const id of ids) {
    await service.until(`document ${id} to be concluded`, async () => {
      const { status, flowActions } = await client.detail(id);
      if (status === 'Concluded') return true;
      // The remaining participants can sign.
      if (status === 'Pending' && flowActions.some((action) => action.status === 'Pending'))
        await client.sign(id).catch(() => undefined);
      return undefined;
    });
    const path = join(root, `${id}.pdf`);
    await writeFile(path, await client.content(id));
    const { stdout } = await runTool('pdfsig', ['-nocert', path]);
    t.is(stdout.match(/Signature is Valid/g)?.length, 2, stdout);
    t.is(stdout.match(/Signature Type/g)?.length, 2, stdout);
  }
  await service.kill();
}
