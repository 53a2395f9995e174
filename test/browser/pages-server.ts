/**
 * A portal with one document per test, in memory: the real HTTP routes of the pages on a socket, and the subset of
 * the portal that they use. The real engine creates signatures with certificates.
 */
import { createHash, hash, randomUUID, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { BegunSigning, SignerIdentity } from '#crypto/core/types.js';
import { externalSigner } from '#crypto/keys/stored-signer.js';
import { beginPades, finishPades } from '#crypto/pades/two-step.js';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import type {
  PortalService,
  Signing,
  SigningPages,
  SigningPageView,
  StoredFile,
} from '../../actors/portal/api.ts';
import type { ValidationRecord } from '../../contracts/portal/signing/validation.ts';
import type { AnyRoute } from '../../http/core/router.ts';
import { portalPageRoutes } from '../../http/portal/page-routes.ts';
import { portalRoute } from '../../http/portal/route.ts';
import { createPortalServer } from '../../http/portal/server.ts';
import type { DocumentId, FlowActionId, UserId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { clausePdf } from '../crypto/pdf/build.ts';
import { recorder } from '../http/harness.ts';
import { pki } from '../pki/pki.ts';

export const KEY = 'ABCDEFGHIJ0123456789';
export const TICKET = 'a-ticket-for-tests_0123';
/** The only valid code. */
export const CODE = '135790';

/** `state-done` and similar names are tickets of documents in that state. */
const STATE_TICKET = /^state-([a-z-]+)$/;
type PageState = SigningPageView['state'];

/** Options of a test. */
export interface PagesServerOptions {
  readonly state?: PageState;
  readonly action?: Partial<NonNullable<SigningPageView['action']>>;
  readonly document?: Partial<NonNullable<SigningPageView['document']>>;
  readonly participants?: SigningPageView['participants'];
  readonly visit?: SigningPageView['visit'];
  readonly embedOrigins?: readonly string[];
  readonly replyTo?: string;
  /** @default three pages of PDF */
  readonly file?: Buffer;
  /** Of the first page, as an SVG in Brotli, at once or later. @default none */
  readonly picture?: () => Uint8Array | Promise<Uint8Array>;
  /** Makes every request of the pages fail. @default false */
  readonly isBroken?: boolean;
  /** Result of the check page. */
  readonly record?: ValidationRecord;
  /** Data of the marks page: the request, and the file. */
  readonly marks?: { readonly data: unknown; readonly file: Buffer };
}

/** Texts of which the check page has the SHA-256. */
export const CHECKED_TEXTS = { original: 'the original', signed: 'the signed file' };
const CHECKED_FILES = {
  original: hash('sha256', CHECKED_TEXTS.original),
  signed: hash('sha256', CHECKED_TEXTS.signed),
};

/** Calls of the portal, newest last. */
export interface Done {
  readonly what: 'code' | 'new-link' | 'electronic' | 'certificate' | 'approval' | 'refusal';
  readonly given: { readonly [name: string]: unknown };
}

export interface PagesServer {
  readonly url: string;
  readonly signPath: string;
  readonly embedPath: string;
  readonly done: readonly Done[];
  readonly documentId: string;
  /** The signed file, once there is one. */
  readonly signed: () => string | undefined;
}

export async function startPagesServer(
  t: Pick<ExecutionContext, 'teardown'>,
  options: PagesServerOptions = {},
): Promise<PagesServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-pages-'));
  const input = join(folder, 'document');
  writeFileSync(input, options.file ?? clausePdf(3));
  const done: Done[] = [];
  const documentId = randomUUID();
  const view = viewOf(documentId, options);
  let begun: BegunSigning | undefined;
  let signed: string | undefined;

  const note = (what: Done['what'], given: object) => {
    done.push({ what, given: given as Done['given'] });
  };
  const checkAccess = (
    access: Parameters<Signing['completeCertificate']>[0] | Parameters<Signing['approve']>[0],
  ) => {
    const fits = access.by === 'ticket' && access.ticket === TICKET && access.key === KEY;
    if (!fits) throw new PortalRefusal('InvalidTicket');
  };
  const signingPages: Pick<SigningPages, keyof SigningPages> = {
    page: async (key, ticket) => {
      if (options.isBroken === true) throw new Error('The page is out of order.');
      const state = key === KEY ? STATE_TICKET.exec(ticket)?.[1] : undefined;
      if (state !== undefined) return viewOf(documentId, { ...options, state: state as PageState });
      return key === KEY && ticket === TICKET
        ? now(view, done, signed)
        : { state: 'unknown', embedOrigins: [] };
    },
    pageContent: async (key, ticket) => {
      if (!STATE_TICKET.test(ticket)) checkAccess({ by: 'ticket', key, ticket });
      return stored(input, view.document?.mimeType ?? 'application/pdf');
    },
    requestLink: async (key, ticket) => {
      if (key !== KEY || ticket !== 'state-ticket-expired') throw new PortalRefusal('InvalidTicket');
      note('new-link', {});
    },
    requestLinkTo: async (_key, emailAddress) => note('new-link', { emailAddress }),
    pageDownload: async (key, ticket) => {
      checkAccess({ by: 'ticket', key, ticket });
      return stored(signed ?? input, 'application/pdf');
    },
    pagePicture: async (key, ticket) => {
      if (!STATE_TICKET.test(ticket)) checkAccess({ by: 'ticket', key, ticket });
      if (options.picture === undefined) throw new PortalRefusal('NotFound');
      return options.picture();
    },
    pageAttachment: async () => {
      throw new PortalRefusal('AttachmentNotFound');
    },
  };
  const signing: Pick<Signing, keyof Signing> = {
    checkAccess: async (access) => checkAccess(access),
    passOn: async () => {
      throw new PortalRefusal('InvalidFlowAction');
    },
    checkFieldUpload: async () => {
      throw new PortalRefusal('InvalidFieldValue');
    },
    acceptFieldUpload: async () => {
      throw new PortalRefusal('InvalidFieldValue');
    },
    recordView: async (access) => checkAccess(access),
    sendPhoneCode: async () => {},
    resetApp: async () => {},
    factorHolders: async () => new Set(),
    passkeyOptions: async () => ({ request: undefined, creation: undefined }),
    sendCode: async (access, _channel, resend) => {
      checkAccess(access);
      note('code', { resend });
    },
    signElectronically: async (access, request) => {
      checkAccess(access);
      if (view.action?.codes[0] !== undefined && request.emailCode !== CODE) {
        throw new PortalRefusal('InvalidAuthenticationCode', undefined, { details: { channel: 'Email' } });
      }
      note('electronic', request);
    },
    approve: async (access, _origin, given = {}) => {
      checkAccess(access);
      note('approval', given);
    },
    refuse: async (access, reason) => {
      checkAccess(access);
      note('refusal', { reason });
    },
    startCertificate: async (access, request) => {
      checkAccess(access);
      note('certificate', request);
      const signer = identityOf(request.certificate);
      const none = { isValid: true, passedChecks: [], errors: [], warnings: [] };
      if (signer === undefined) {
        const { issuer } = new X509Certificate(request.certificate);
        const message = `Nobody here trusts ${issuer}.`;
        const error = { type: 'certificate.untrusted', message, detail: null, innerValidationResults: null };
        const validationResults = { ...none, isValid: false, errors: [error] };
        const nothing = { token: null, toSignHash: null, toSign: null, digestAlgorithm: null };
        return { success: false, ...nothing, validationResults };
      }
      begun = beginPades({ format: 'Pades', input, signer, at: Date.now() });
      const { hash, toBeSigned } = begun;
      const toSignHash = hash.toString('base64');
      const toSign = toBeSigned.toString('base64');
      const begunToSign = { token: 'token', toSignHash, toSign, digestAlgorithm: 'SHA-256' };
      return { success: true, ...begunToSign, validationResults: none };
    },
    completeCertificate: async (access, { signature }) => {
      checkAccess(access);
      const output = join(folder, 'signed.pdf');
      await finishPades({ input, output, state: begun?.state ?? '', value: signature });
      signed = output;
      const validationResults = { isValid: true, passedChecks: [], errors: [], warnings: [] };
      return { success: true, validationResults };
    },
  };
  const service = {
    tenants: { identify: async () => undefined },
    uploads: { maxBytes: 1 << 20 },
    signing,
    signingPages,
    validation: {
      checked: async (key: string) => {
        if (options.isBroken === true) throw new Error('The page is out of order.');
        if (options.record === undefined || key !== KEY) throw new PortalRefusal('DocumentInvalidKey');
        return { record: options.record, approvals: [], files: CHECKED_FILES };
      },
      brandingByKey: async () => undefined,
    },
    marksSessions: {
      get: async (id: string) => {
        if (options.marks === undefined || id !== 'session') throw new PortalRefusal('MarksSessionNotFound');
        return { id, files: [{ id: 'upload-1', location: '/marks-file' }], data: options.marks.data };
      },
    },
  } as unknown as PortalService;
  const marksFile = portalRoute({
    method: 'GET',
    path: '/marks-file',
    group: 'Pages',
    summary: 'The file of the marks session.',
    description: 'For the page under test.',
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
  });
  const url = await serve(t, service, [marksFile]);
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

async function serve(
  t: Pick<ExecutionContext, 'teardown'>,
  service: PortalService,
  more: readonly AnyRoute[],
): Promise<string> {
  const server = createPortalServer({
    service,
    settings: {
      host: '127.0.0.1',
      port: 0,
      allowedHosts: ['*'],
      requireHttps: false,
      forwarded: undefined,
      production: false,
      shutdownTimeout: 5_000,
    },
    clock: systemClock,
    ids: systemIds,
    log: recorder([]),
    pageRoutes: [...portalPageRoutes(service, { clock: systemClock, ids: systemIds }), ...more],
  });
  t.teardown(() => server.close());
  return (await server.listen()).url;
}

/** State after the participant's action. */
function now(view: SigningPageView, done: readonly Done[], signed: string | undefined): SigningPageView {
  const acts = done.map(({ what }) => what);
  const isRefused = acts.includes('refusal');
  const isDone = acts.includes('electronic') || acts.includes('approval') || signed !== undefined;
  if (!isRefused && !isDone) return view;
  return {
    ...view,
    state: isRefused ? 'refused' : 'done',
    ...(view.document !== undefined && {
      document: {
        ...view.document,
        signatures: acts.includes('approval')
          ? []
          : [{ name: 'Ana María Souza', kind: 'electronic', at: Date.UTC(2027, 0, 5, 12, 30) }],
      },
    }),
    participants: (view.participants ?? []).map((one) =>
      one.isYou
        ? isRefused
          ? { ...one, status: 'Refused' }
          : { ...one, status: 'Completed', at: Date.UTC(2027, 0, 5, 12, 30) }
        : one,
    ),
  };
}

function viewOf(documentId: string, options: PagesServerOptions): SigningPageView {
  const participant = {
    id: randomUUID() as UserId,
    name: 'Ana María Souza',
    identifier: null,
    email: 'ana@example.test',
    phone: null,
  };
  const { state = 'ready', embedOrigins = [] } = options;
  if (state === 'unknown') return { state, embedOrigins };
  if (state === 'ticket-expired') return { state, canRequestLink: true, embedOrigins };
  return {
    state,
    embedOrigins,
    replyTo: options.replyTo ?? null,
    ...(options.visit !== undefined && { visit: options.visit }),
    contact: options.document?.senderName ?? 'Ärzte & Söhne',
    document: {
      id: documentId as DocumentId,
      key: KEY,
      name: 'Rental agreement <b>2027</b>',
      description: 'Please read & sign.',
      mimeType: 'application/pdf',
      length: options.file?.length ?? 0,
      isEnvelope: false,
      organizationName: 'Ärzte & Söhne',
      expirationDate: Date.UTC(2027, 0, 31, 23, 59),
      isNewVersion: false,
      version: 1,
      statusReason: 'Wrong <i>file</i>',
      endedBy: 'Marta Reis',
      changedAt: Date.UTC(2026, 10, 24, 12),
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
      codes: [],
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
  const file = { path, bring: async () => path, open: () => open(path, 'r') };
  return { ...file, length: statSync(path).size, contentType, fileName: 'agreement.pdf', etag };
}

/** Undefined for certificates that the tests' authority did not issue. */
function identityOf(certificate: Buffer): SignerIdentity | undefined {
  const { issuing } = pki();
  const parsed = new X509Certificate(certificate);
  if (!parsed.verify(new X509Certificate(issuing.certificate).publicKey)) return undefined;
  return externalSigner(certificate, [issuing.certificate]);
}
