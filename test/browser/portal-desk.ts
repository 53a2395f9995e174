/**
 * A portal of one document per test, in memory: the pages' own HTTP on a real socket, and behind it the little that
 * they ask of the portal. Signatures with certificates are made by the real engine.
 */
import { createHash, randomUUID, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import type {
  PortalService,
  SigningPageView,
  StoredFile,
  ValidationRecord,
} from '../../actors/portal/api.ts';
import { fingerprintOf } from '../../crypto/certificates/certificate.ts';
import { beginPades, finishPades } from '../../crypto/pades/two-steps.ts';
import type { BegunSigning, SignerIdentity } from '../../crypto/types.ts';
import { BlockPool } from '../../http/block-pool.ts';
import { createCallerFinder } from '../../http/caller.ts';
import { Dispatcher } from '../../http/dispatch.ts';
import { Listener } from '../../http/listener.ts';
import { portalConventions } from '../../http/portal/conventions.ts';
import { createPortalGate } from '../../http/portal/gate.ts';
import { portalPageRoutes } from '../../http/portal/pages/routes.ts';
import { DONE, portalRoute } from '../../http/portal/route.ts';
import { createRequestIds } from '../../http/request-ids.ts';
import { type AnyRoute, Router } from '../../http/router.ts';
import type { DocumentId, FlowActionId, UserId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { classicPdf, documentObjects } from '../crypto/pdf/build.ts';
import { recorder } from '../http/harness.ts';
import { pki } from '../pki/pki.ts';

export const KEY = 'ABCDEFGHIJ0123456789';
export const TICKET = 'a-ticket-for-tests_0123';
/** The only code that is right. */
export const CODE = '135790';

/** What a test may want otherwise. */
export interface DeskOptions {
  readonly state?: SigningPageView['state'];
  readonly action?: Partial<NonNullable<SigningPageView['action']>>;
  readonly document?: Partial<NonNullable<SigningPageView['document']>>;
  readonly participants?: SigningPageView['participants'];
  readonly embedOrigins?: readonly string[];
  /** @default three pages of PDF */
  readonly file?: Buffer;
  /** Of the check page. */
  readonly record?: ValidationRecord;
  /** Of the marks page: the request, and the file. */
  readonly marks?: { readonly data: unknown; readonly file: Buffer };
}

/** What was asked of the portal, newest last. */
export interface Done {
  readonly what: 'code' | 'electronic' | 'certificate' | 'approval' | 'refusal';
  readonly body: { readonly [name: string]: unknown };
}

export interface Desk {
  readonly url: string;
  readonly signPath: string;
  readonly embedPath: string;
  readonly done: readonly Done[];
  readonly documentId: string;
  /** The signed file, once there is one. */
  readonly signed: () => string | undefined;
}

/** A PDF of so many A4 pages that say `Clause 1`, `Clause 2` and so on. */
export function clausePdf(pages: number): Buffer {
  const objects = documentObjects({ pages, text: 'Clause' });
  for (const [number, body] of objects) {
    objects.set(number, body.replace('/MediaBox [0 0 200 200]', '/MediaBox [0 0 595 842]'));
  }
  return classicPdf(objects);
}

export async function openDesk(t: ExecutionContext, options: DeskOptions = {}): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-desk-'));
  const input = join(folder, 'document');
  writeFileSync(input, options.file ?? clausePdf(3));
  const done: Done[] = [];
  const documentId = randomUUID();
  const view = viewOf(documentId, options);
  let begun: BegunSigning | undefined;
  let signed: string | undefined;

  const checkTicket = (ticket: unknown) => {
    if (ticket !== TICKET) throw new PortalRefusal('InvalidTicket');
  };
  const service: Pick<PortalService, 'validation' | 'marksSessions'> & {
    readonly signing: Pick<PortalService['signing'], 'page' | 'pageContent'>;
  } = {
    signing: {
      page: async (key, ticket) =>
        key === KEY && ticket === TICKET ? view : { state: 'unknown', embedOrigins: [] },
      pageContent: async (_key, ticket) => {
        checkTicket(ticket);
        return stored(input, view.document?.mimeType ?? 'application/pdf');
      },
    },
    validation: {
      byKey: async (_tenant, key) => {
        if (options.record === undefined || key !== KEY) throw new PortalRefusal('DocumentInvalidKey');
        return options.record;
      },
    } as PortalService['validation'],
    marksSessions: {
      get: async (id: string) => {
        if (options.marks === undefined || id !== 'session') throw new PortalRefusal('MarksSessionNotFound');
        return { id, files: [{ id: 'upload-1', location: '/marks-file' }], data: options.marks.data };
      },
    } as unknown as PortalService['marksSessions'],
  };

  const post = (
    action: string,
    handle: (body: { readonly [name: string]: unknown }) => Promise<object | undefined>,
  ): AnyRoute =>
    portalRoute({
      method: 'POST',
      path: `/api/documents/keys/{key}/${action}`,
      summary: action,
      auth: 'anonymous',
      params: z.object({ key: z.string() }),
      body: z.record(z.string(), z.unknown()),
      responses: { 200: z.unknown() },
      refusals: [],
      handle: async ({ body }) => {
        checkTicket(body['ticket']);
        const answer = await handle(body);
        return answer === undefined ? DONE : { kind: 'json', status: 200, body: answer };
      },
    });
  const noteOf = (what: Done['what'], body: { readonly [name: string]: unknown }) => {
    done.push({ what, body });
    return undefined;
  };
  const routes: readonly AnyRoute[] = [
    ...portalPageRoutes(service as PortalService, systemClock),
    post('email-authentication-code', async (body) => noteOf('code', body)),
    post('electronic-signature', async (body) => {
      if (view.action?.needsEmailCode === true && body['emailCode'] !== CODE) {
        throw new PortalRefusal('InvalidAuthenticationCode');
      }
      return noteOf('electronic', body);
    }),
    post('approval', async (body) => noteOf('approval', body)),
    post('participant-refusal', async (body) => noteOf('refusal', body)),
    post('signature/certificate', async (body) => {
      noteOf('certificate', body);
      const der = Buffer.from(String(body['certificate']), 'base64');
      const signer = identityOf(der);
      if (signer === undefined) {
        const { issuer } = new X509Certificate(der);
        const error = { type: 'Chain', message: `Nobody here trusts ${issuer}.`, detail: null };
        return { success: false, token: null, toSignHash: null, validationResults: { errors: [error] } };
      }
      begun = beginPades({ format: 'Pades', input, signer, at: Date.now() });
      return {
        success: true,
        token: 'token',
        toSignHash: begun.hash.toString('base64'),
        toSign: begun.toBeSigned.toString('base64'),
        digestAlgorithm: 'SHA-256',
        validationResults: { isValid: true, passedChecks: [], errors: [], warnings: [] },
      };
    }),
    post('signature', async (body) => {
      const output = join(folder, 'signed.pdf');
      const value = Buffer.from(String(body['signature']), 'base64');
      await finishPades({ input, output, state: begun?.state ?? '', value });
      signed = output;
      return { success: true, validationResults: { isValid: true, errors: [] } };
    }),
    portalRoute({
      method: 'GET',
      path: '/marks-file',
      summary: 'The file of the marks session.',
      auth: 'anonymous',
      responses: { 200: 'asset' },
      refusals: [],
      handle: () => ({
        kind: 'asset',
        status: 200,
        contentType: 'application/pdf',
        body: options.marks?.file ?? Buffer.alloc(0),
        headers: [],
      }),
    }),
  ];
  const url = await serve(t, routes);
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = `/document/key/${KEY}`;
  return {
    url,
    signPath: `${path}/sign?ticket=${TICKET}`,
    embedPath: `${path}/sign-embedded?ticket=${TICKET}`,
    done,
    documentId,
    signed: () => signed,
  };
}

async function serve(t: ExecutionContext, routes: readonly AnyRoute[]): Promise<string> {
  const settings = {
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['*'],
    requireHttps: false,
    forwarded: undefined,
    production: false,
    shutdownTimeout: 5_000,
  };
  const log = recorder([]);
  const dispatcher = new Dispatcher({
    router: new Router(routes, { trailingSlash: true }),
    conventions: portalConventions,
    gate: createPortalGate({ identify: async () => undefined }, settings),
    findCaller: createCallerFinder(false, undefined),
    challenge: '',
    limiters: undefined,
    requestIds: createRequestIds(systemIds),
    pool: new BlockPool(),
    spoolFolder: tmpdir(),
    clock: systemClock,
    log,
    production: false,
    observe: undefined,
  });
  const listener = new Listener(dispatcher, settings, systemClock, log);
  t.teardown(() => listener.close());
  return (await listener.listen()).url;
}

function viewOf(documentId: string, options: DeskOptions): SigningPageView {
  const participant = {
    id: randomUUID() as UserId,
    name: 'Ana María Souza',
    identifier: null,
    email: 'ana@example.test',
    phone: null,
  };
  const { state = 'ready', embedOrigins = [] } = options;
  if (state === 'unknown' || state === 'ticket-expired') return { state, embedOrigins };
  return {
    state,
    embedOrigins,
    document: {
      id: documentId as DocumentId,
      key: KEY,
      name: 'Rental agreement <b>2027</b>',
      description: 'Please read & sign.',
      mimeType: 'application/pdf',
      isEnvelope: false,
      organizationName: 'Ärzte & Söhne',
      expirationDate: Date.UTC(2027, 0, 31, 23, 59),
      isNewVersion: false,
      statusReason: 'Wrong <i>file</i>',
      ...options.document,
    },
    action: {
      flowActionId: randomUUID() as FlowActionId,
      userId: participant.id,
      type: 'Signer',
      title: 'Tenant',
      allowElectronicSignature: true,
      participant,
      marks: [],
      needsEmailCode: false,
      maskedEmail: 'a***@example.test',
      initialsMode: 'None',
      ...options.action,
    },
    participants: options.participants ?? [
      { name: 'Ana María Souza', type: 'Signer', step: 1, status: 'Pending', isYou: true },
      { name: null, type: 'Approver', step: 2, status: 'Created', isYou: false },
    ],
  };
}

function stored(path: string, contentType: string): StoredFile {
  const etag = `"${createHash('sha256').update(readFileSync(path)).digest('hex')}"`;
  return { path, length: statSync(path).size, contentType, fileName: 'agreement.pdf', etag };
}

/** Undefined for certificates that the tests' authority did not issue. */
function identityOf(certificate: Buffer): SignerIdentity | undefined {
  const { issuing } = pki();
  const parsed = new X509Certificate(certificate);
  if (!parsed.verify(new X509Certificate(issuing.certificate).publicKey)) return undefined;
  const { asymmetricKeyType, asymmetricKeyDetails } = parsed.publicKey;
  const isRsa = asymmetricKeyType === 'rsa';
  return {
    certificate,
    chain: [issuing.certificate],
    keyType: isRsa ? 'rsa' : 'ec',
    keyBits: isRsa ? (asymmetricKeyDetails?.modulusLength ?? 0) : 256,
    fingerprint: fingerprintOf(certificate),
  };
}
