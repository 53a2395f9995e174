/**
 * `sealwright try`: makes a document on the running service, signs it as a person would, verifies it, and prints the
 * pages to open.
 *
 * Source: docs/operations.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Clock } from '@sealwright/runtime';
import { validateFile } from '@sealwright/signatures';
import { FIRST_APPLICATION, SAMPLE_MARK, sampleContract } from '../actors/index.ts';
import { escapeControls } from '../logging.ts';
import { APPLICATION_FILE } from '../service/portal-setup.ts';
import type { AcceptedSettings, Settings } from '../settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { findService, localApiKey, localFetch, NoService, reachable } from './local-service.ts';
import { type CommandContext, painter, programFile } from './terminal.ts';
import { readOwnTrust } from './verify/own-trust.ts';

/** Time for one step of the service, such as a mail or a signature, milliseconds. */
const STEP_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 100;

/** Name of the signed file below `Storage:Root`. */
const SIGNED_FILE = 'sample-contract-signed.pdf';

interface DocumentStatus {
  readonly key: string;
  readonly status: string;
}

/** 0 when the signed file is good, 1 when a step fails, 3 when no service answers. */
export async function tryCommand(
  loaded: AcceptedSettings,
  { terminal, clock, ids }: CommandContext,
): Promise<ExitCode> {
  const { settings } = loaded;
  const { bold, green, dim } = painter(terminal);
  const done = (text: string) => terminal.out(`  ${green('ok')}  ${escapeControls(text)}\n`);
  if (!settings.portal.enabled) {
    terminal.err('sealwright try needs the portal: Portal:Enabled is false.\n');
    return EXIT.refused;
  }
  let urls: { readonly portal: string; readonly batch: string | undefined };
  try {
    urls = {
      portal: reachable(await findService(settings, 'portal')),
      batch: settings.batch.enabled ? reachable(await findService(settings, 'batch')) : undefined,
    };
  } catch (error) {
    if (!(error instanceof NoService)) throw error;
    terminal.err(
      `No service answers at ${error.url}: it ${error.message}. Start it in another terminal: node ${programFile()} serve\n`,
    );
    return EXIT.unavailable;
  }
  const portal = new PortalCalls(settings, urls, clock);
  try {
    const email = `ana.${ids.bytes(4).toString('hex')}@example.com`;
    const documents = await portal.createDocuments(email);
    done(`A sample contract was uploaded, and Ana Example (${email}) was asked to sign it.`);
    const { url } = await portal.actionUrl(documents.toSign, email);
    const code = await portal.signAs('Ana Example', email, url);
    if (code !== undefined) done(`The code ${code} was read from the e-mail to her.`);
    const { key } = await portal.concluded(documents.toSign);
    done('The contract was signed with her name and sealed by the service.');
    const path = join(settings.storage.root, SIGNED_FILE);
    writeFileSync(path, await portal.signedFile(documents.toSign));
    const own = readOwnTrust(loaded);
    const trust = {
      anchors: own?.roots ?? [],
      intermediates: own?.intermediates ?? [],
      revocation: 'soft',
    } as const;
    const report = await validateFile({ format: 'Pades', path, at: clock.now(), trust });
    const shown = relative(process.cwd(), path);
    if (report.indication !== 'TOTAL-PASSED') {
      terminal.err(`The signed file ${shown} is not valid: ${report.indication}.\n`);
      return EXIT.failed;
    }
    done(
      `${shown} is good: ${report.signatures.length === 1 ? '1 signature' : `${report.signatures.length} signatures`}, trusted: ${own?.names.join(', ')}.`,
    );
    const pages: [string, string][] = [
      ['Sign a copy yourself', (await portal.actionUrl(documents.toOpen, email, false)).url],
      ['Check the signed contract', `${urls.portal}/check/${key}`],
    ];
    const operator = urls.batch;
    if (operator !== undefined) {
      if (settings.portal.smtp.host === undefined)
        pages.push(['The e-mails to Ana', `${operator}/mails?search=${encodeURIComponent(email)}`]);
      pages.push(['Operator pages', operator]);
    }
    const width = Math.max(...pages.map(([label]) => label.length));
    const rows = pages.map(([label, address]) => `    ${dim(label.padEnd(width))}  ${bold(address)}`);
    terminal.out(`\n  Open in a browser:\n\n${rows.join('\n')}\n\n`);
    return EXIT.good;
  } catch (error) {
    terminal.err(`sealwright try: ${escapeControls((error as Error).message)}\n`);
    return EXIT.failed;
  }
}

/** Calls of an application, of a participant's page, and of the development mailbox. */
class PortalCalls {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #fetch: typeof fetch;
  readonly #urls: { readonly portal: string; readonly batch: string | undefined };

  constructor(
    settings: Settings,
    urls: { readonly portal: string; readonly batch: string | undefined },
    clock: Clock,
  ) {
    this.#settings = settings;
    this.#urls = urls;
    this.#clock = clock;
    this.#fetch = localFetch(settings);
  }

  /** Rejects with a sentence when the answer is no success. */
  async call<Answer>(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    const { bootstrap } = this.#settings.portal;
    const key = `${bootstrap.application ?? FIRST_APPLICATION}|${this.#secret()}`;
    return answerOf(
      path,
      await this.#fetch(`${this.#urls.portal}${path}`, {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  }

  /** Two documents of one upload: one to sign here, one to open in a browser. */
  async createDocuments(email: string): Promise<{ readonly toSign: string; readonly toOpen: string }> {
    const { id } = await this.call<{ id: string }>('POST', '/api/uploads/bytes', {
      bytes: sampleContract().toString('base64'),
    });
    const create = async (displayName: string, silent: boolean) => {
      const [created] = await this.call<{ documentId: string }[]>('POST', '/api/documents', {
        files: [{ id, displayName, name: 'sample-contract.pdf', contentType: 'application/pdf' }],
        flowActions: [
          {
            type: 'Signer',
            allowElectronicSignature: true,
            user: { name: 'Ana Example', email },
            prePositionedMarks: [SAMPLE_MARK],
          },
        ],
        disablePendingActionNotifications: silent,
      });
      return created?.documentId ?? '';
    };
    // A relay would deliver the mails to real addresses.
    const silent = !this.#hasMailbox();
    return {
      toSign: await create('Sample contract', silent),
      toOpen: await create('Sample contract, a copy', silent),
    };
  }

  /** @param withCode whether the page asks for a code from an e-mail. @default where the mailbox can be read */
  actionUrl(
    document: string,
    emailAddress: string,
    withCode = this.#hasMailbox(),
  ): Promise<{ readonly url: string }> {
    const body = { emailAddress, requireEmailAuthentication: withCode };
    return this.call('POST', `/api/documents/${document}/action-url`, body);
  }

  /** Does what the signing page at `url` does. Resolves with the code that was needed. */
  async signAs(typedName: string, email: string, url: string): Promise<string | undefined> {
    const page = new URL(url);
    // A proxy takes the path of the public address away.
    const base = new URL(this.#settings.portal.publicUrl ?? this.#urls.portal).pathname.replace(/\/$/, '');
    const path = page.pathname.slice(page.pathname.startsWith(`${base}/`) ? base.length : 0);
    const opened = await this.#fetch(`${this.#urls.portal}${path}${page.search}`);
    if (!opened.ok) throw new Error(`The signing page answered ${opened.status}.`);
    const ticket = page.searchParams.get('ticket');
    const [, key = ''] = /\/key\/([^/]+)\//.exec(page.pathname) ?? [];
    const post = (action: string, body: object) =>
      this.call('POST', `/api/documents/keys/${key}/${action}`, body);
    let emailCode: string | undefined;
    if (this.#hasMailbox()) {
      await post('email-authentication-code', { ticket });
      emailCode = await this.#until('the e-mail with the code', () => this.#codeSentTo(email));
    }
    await post('electronic-signature', { ticket, typedName, ...(emailCode !== undefined && { emailCode }) });
    return emailCode;
  }

  concluded(document: string): Promise<DocumentStatus> {
    return this.#until('the signature', async () => {
      const shown = await this.call<DocumentStatus>('GET', `/api/documents/${document}`);
      return shown.status === 'Concluded' ? shown : undefined;
    });
  }

  async signedFile(document: string): Promise<Buffer> {
    const path = `/api/documents/${document}/content-b64?type=Signatures`;
    return Buffer.from((await this.call<{ bytes: string }>('GET', path)).bytes, 'base64');
  }

  /** True when the operator pages show the mails. */
  #hasMailbox(): boolean {
    const { portal } = this.#settings;
    return (
      this.#urls.batch !== undefined && portal.smtp.host === undefined && localApiKey(this.#settings) !== ''
    );
  }

  async #codeSentTo(email: string): Promise<string | undefined> {
    const { auth } = this.#settings;
    const get = (path: string) =>
      this.#fetch(`${this.#urls.batch}/api/mails${path}`, {
        headers: { [auth.apiKeyHeader]: localApiKey(this.#settings) },
      });
    const { items } = await answerOf<{ items: { id: string; about: string; hasText: boolean }[] }>(
      '/api/mails',
      await get(`?search=${encodeURIComponent(email)}`),
    );
    const mail = items.find(({ about, hasText }) => about === 'code' && hasText);
    if (mail === undefined) return undefined;
    return /^ *(\d{6})\r?$/m.exec(await (await get(`/${encodeURIComponent(mail.id)}/text`)).text())?.[1];
  }

  #secret(): string {
    const { portal, storage } = this.#settings;
    if (portal.bootstrap.secret !== undefined) return portal.bootstrap.secret;
    return readFileSync(join(storage.keysPath, APPLICATION_FILE), 'utf8').trim();
  }

  async #until<Found>(what: string, look: () => Promise<Found | undefined>): Promise<Found> {
    const end = this.#clock.elapsed() + STEP_TIMEOUT_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (this.#clock.elapsed() > end) throw new Error(`Waited ${STEP_TIMEOUT_MS / 1000} s for ${what}.`);
      await new Promise<void>((resolve) => this.#clock.after(POLL_INTERVAL_MS, resolve));
    }
  }
}

async function answerOf<Answer>(path: string, answer: Response): Promise<Answer> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 500)}`);
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}
