/** The whole program with an SMTP relay, and the calls of an application that requests signatures. */
import { writeFile } from 'node:fs/promises';
import type { ExecutionContext, TestFn } from 'ava';
import { partsOf, type Relay, startRelay } from '../actors/portal/mails/relay.ts';
import { freshPath } from '../crypto/pades/validation/verdicts.ts';
import { pki } from '../pki/pki.ts';
import { ONE_REQUEST_PER_CONNECTION } from '../postgres/test-store.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { closeBrowser } from './browser.ts';

const APPLICATION = 'Browser tests';
const SECRET = '0123456789abcdef'.repeat(4);

export interface ShownDocument {
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly flowActions: readonly {
    readonly id: string;
    readonly status: string;
    readonly refusalReason: string | null;
  }[];
}

export class PortalProgram {
  readonly url: string;
  /** Key of the application. */
  readonly key = `${APPLICATION}|${SECRET}`;
  readonly relay: Relay;
  readonly #service: Service;

  private constructor(url: string, relay: Relay, service: Service) {
    this.url = url;
    this.relay = relay;
    this.#service = service;
  }

  /** The portal trusts the tests' authority and, for its own seals, its own. */
  static async start(
    t: Pick<ExecutionContext, 'teardown'>,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<PortalProgram> {
    const root = await temporaryRoot(t);
    const relay = await startRelay(t);
    const service = await Service.start(t, {
      root,
      settings: {
        'Portal:Enabled': true,
        'Portal:Url': 'http://127.0.0.1:0',
        'Portal:Bootstrap:Organization': 'Ärzte & Söhne',
        'Portal:Bootstrap:Application': APPLICATION,
        'Portal:Bootstrap:Secret': SECRET,
        'Portal:Smtp:Host': '127.0.0.1',
        'Portal:Smtp:Port': relay.port,
        'Portal:Smtp:From': 'portal@example.test',
        'Signing:Trust:Roots:0': pki().rootFile,
        'Signing:Trust:Intermediates:0': pki().issuingFile,
        'Signing:Trust:Revocation': 'None',
        ...settings,
      },
    });
    return new PortalProgram(service.portalUrl, relay, service);
  }

  async call<Answer>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Answer> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        'x-api-key': this.key,
        'content-type': 'application/json',
        ...ONE_REQUEST_PER_CONNECTION,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }

  /** Creates a document of this PDF with these flow actions; returns its id. */
  async create(pdf: Buffer, flowActions: readonly object[], more: object = {}): Promise<string> {
    const { id } = await this.call<{ id: string }>('POST', '/api/uploads/bytes', {
      bytes: pdf.toString('base64'),
    });
    const files = [
      { displayName: 'Rental agreement', id, name: 'agreement.pdf', contentType: 'application/pdf' },
    ];
    const [created] = await this.call<readonly { documentId: string }[]>('POST', '/api/documents', {
      files,
      flowActions,
      ...more,
    });
    return created?.documentId ?? '';
  }

  document(id: string): Promise<ShownDocument> {
    return this.call('GET', `/api/documents/${id}`);
  }

  actionUrl(id: string, emailAddress: string, more: object = {}): Promise<{ url: string; embedUrl: string }> {
    return this.call('POST', `/api/documents/${id}/action-url`, { emailAddress, ...more });
  }

  /** Resolves with the document once it has this status. */
  reached(id: string, status: string): Promise<ShownDocument> {
    return this.#service.until(`document ${id} to be ${status}`, async () => {
      const shown = await this.document(id);
      return shown.status === status ? shown : undefined;
    });
  }

  /** Plain text of the newest matching mail to an address. */
  mail(to: string, fits: RegExp): Promise<RegExpExecArray> {
    return this.#service.until(`a mail to ${to}`, async () => {
      for (const { to: taken, raw } of [...this.relay.taken].reverse()) {
        const found = taken.includes(to) ? fits.exec(partsOf(raw).get('text/plain') ?? '') : null;
        if (found !== null) return found;
      }
      return undefined;
    });
  }

  /** Writes the signed PDF to a file. */
  async signedFile(id: string): Promise<string> {
    const { bytes } = await this.call<{ bytes: string }>(
      'GET',
      `/api/documents/${id}/content-b64?type=Signatures`,
    );
    const path = freshPath('signed.pdf');
    await writeFile(path, Buffer.from(bytes, 'base64'));
    return path;
  }
}

/** Context of the tests of a file that share a program. */
export interface SharedPortal {
  readonly portal: PortalProgram;
}

/** Starts one program for all tests of a file, and ends it with the browser. */
export function sharePortalProgram(test: TestFn<SharedPortal>): void {
  const ends: (() => unknown)[] = [];
  test.before(async (t) => {
    t.context = { portal: await PortalProgram.start({ teardown: (end) => void ends.push(end) }) };
  });
  test.after.always(async () => {
    await closeBrowser();
    for (const end of ends.reverse()) await end();
  });
}
