/** A portal that records its arguments and returns configured results: for tests of HTTP alone. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PortalService, StoredFile, Tenant } from '../../../actors/portal/api.ts';
import type { DocumentActor } from '../../../actors/portal/document-records/document-index.ts';
import { documentView } from '../../../actors/portal/documents/document-view.ts';
import type { SignatureView, ValidationResults } from '../../../contracts/portal/signing/validation.ts';
import type {
  ApplicationId,
  DocumentId,
  FlowActionId,
  FolderId,
  OrganizationId,
  UploadId,
  UserId,
  WebhookId,
} from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { FlowAction } from '../../../machines/portal/portal-types.ts';

export const SECRET = '0123456789abcdef'.repeat(4);
export const KEY = `My App|${SECRET}`;
export const MONITOR_KEY = `Watcher|${SECRET}`;
export const ADMIN_KEY = `Boss|${SECRET}`;
export const UNICODE_KEY = `Aplicação|${SECRET}`;

const idOf = (digit: string) =>
  `${digit.repeat(8)}-${digit.repeat(4)}-4${digit.repeat(3)}-8${digit.repeat(3)}-${digit.repeat(12)}`;

export const IDS = {
  document: idOf('d') as DocumentId,
  action: idOf('a') as FlowActionId,
  organization: idOf('0') as OrganizationId,
  application: idOf('1') as ApplicationId,
  folder: idOf('f') as FolderId,
  user: idOf('2') as UserId,
  webhook: idOf('b') as WebhookId,
  flow: idOf('3'),
  session: idOf('4'),
  report: idOf('5'),
};

/** 2026-05-26T15:42:11.123Z */
export const THEN = Date.UTC(2026, 4, 26, 15, 42, 11, 123);

function tenant(name: string, role: Tenant['application']['role']): Tenant {
  return {
    organization: { id: IDS.organization, name: 'Org' },
    application: { id: IDS.application, name, role },
  };
}

const TENANTS = new Map([
  [KEY, tenant('My App', 'Normal')],
  [MONITOR_KEY, tenant('Watcher', 'Monitor')],
  [ADMIN_KEY, tenant('Boss', 'Administrator')],
  [UNICODE_KEY, tenant('Aplicação', 'Normal')],
]);

export const PERSON = {
  id: IDS.user,
  name: 'Zoë Müller',
  identifier: '12345678909',
  email: 'zoe@example.com',
  phone: null,
};

export const ACTION: FlowAction = {
  id: IDS.action,
  type: 'Signer',
  step: 1,
  user: PERSON,
  title: null,
  allowElectronicSignature: true,
  marks: [
    {
      type: 'SignatureVisualRepresentation',
      topLeftX: 10,
      topLeftY: 20.5,
      width: 100,
      height: 40,
      pageNumber: 1,
      fontSize: null,
    },
  ],
  ruleName: null,
  numberRequiredSignatures: 1,
  ruleUsers: [],
  allowRuleFlowToContinueIfRefused: false,
  confirmations: ['Sms'],
  disableEmailAuthentication: false,
  requiredCertificateType: null,
  requiredCertificateHolder: null,
  requireCompanyCertificate: null,
  requiredCompanyIdentifier: null,
  initialsMode: null,
  xadesOptions: null,
  status: 'Pending',
  creationDate: THEN,
  updateDate: THEN,
  pendingDate: THEN,
  refusalReason: null,
  isElectronic: null,
};

/** A document as it is stored. */
export const STORED = {
  state: 'Pending',
  context: {
    id: IDS.document,
    name: 'Contract',
    creationDate: THEN,
    updateDate: THEN,
    key: 'ABCDEFGHIJ0123456789',
    file: {
      name: 'contract.pdf',
      contentType: 'application/pdf',
      blob: { sha256: 'ff', length: 1234 },
      md5: '1B2M2Y8AsgTpgAmY7PhCfg==',
    },
    isEnvelope: false,
    createdBy: { id: IDS.application, type: 'Application', name: 'My App' },
    organization: { id: IDS.organization, name: 'Org' },
    statusUpdatedBy: null,
    statusUpdateReason: null,
    description: null,
    expirationDate: null,
    observers: [],
    attachments: [],
    notifiedEmails: [],
    forceCadesSignature: false,
    tags: [],
    type: null,
    signatureType: null,
    actions: [ACTION],
    made: [],
    processingError: null,
  },
} as object as DocumentActor;

export const DOCUMENT = documentView(STORED, null, undefined);

export const GOOD: ValidationResults = {
  isValid: true,
  passedChecks: [
    {
      type: 'Digest',
      message: 'The digest is that of the file.',
      detail: null,
      innerValidationResults: { isValid: true, passedChecks: [], errors: [], warnings: [] },
    },
  ],
  errors: [],
  warnings: [],
};

export const SIGNATURE: SignatureView = {
  subjectName: 'Zoë Müller',
  emailAddress: 'zoe@example.com',
  issuerName: 'CN=Test',
  identifier: null,
  companyName: null,
  companyIdentifier: null,
  isElectronic: false,
  isTimestamp: false,
  signingTime: THEN,
  certificateThumbprint: 'AAAA',
  validityStart: null,
  validityEnd: null,
  signatureTimestamps: [{ displayName: 'TSA', genTime: THEN, validityStart: null, validityEnd: THEN }],
  archiveTimestamps: [],
  validationResults: GOOD,
  attributeCertificates: [],
  qualification: null,
  evidences: null,
};

export interface Call {
  /** `documents.create` */
  readonly name: string;
  readonly args: readonly unknown[];
}

/** Bytes in memory; `aborted` when HTTP has discarded them. */
class MemorySink {
  readonly pieces: Buffer[] = [];
  aborted = false;
  length = 0;

  write(bytes: Buffer): undefined {
    this.pieces.push(Buffer.from(bytes));
    this.length += bytes.length;
  }

  abort(): Promise<void> {
    this.aborted = true;
    return Promise.resolve();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.pieces);
  }
}

export interface MemoryPortal {
  readonly service: PortalService;
  readonly calls: Call[];
  readonly sinks: MemorySink[];
  /** Sets the behaviour of a method from this call on. */
  set(name: string, answer: (...args: never[]) => unknown): void;
  /** A stored file with this content. */
  file(content: Buffer | string, contentType: string, fileName: string): Promise<StoredFile>;
  /** The last call of a method; undefined when there was none. */
  last(name: string): Call | undefined;
  remove(): Promise<void>;
}

export async function createMemoryPortal(maxBytes = 1_000_000): Promise<MemoryPortal> {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-portal-'));
  const calls: Call[] = [];
  const sinks: MemorySink[] = [];
  const answers = new Map<string, (...args: never[]) => unknown>();
  const repeats = new Map<string, { readonly fingerprint: string; readonly answer: Promise<unknown> }>();

  const upload = (sink: MemorySink, name: string, contentType: string) => ({
    id: randomUUID() as UploadId,
    name,
    contentType,
    size: sink.length,
    md5: createHash('md5').update(sink.bytes).digest('base64'),
    sha256: createHash('sha256').update(sink.bytes).digest('hex'),
    location: '/api/uploads/x/preview?ticket=t',
  });

  const set = (name: string, answer: (...args: never[]) => unknown) => void answers.set(name, answer);
  set('tenants.identify', (key: string) => TENANTS.get(key));
  set('uploads.open', () => {
    const sink = new MemorySink();
    sinks.push(sink);
    return sink;
  });
  set('uploads.accept', (_: Tenant, sink: MemorySink, file: { name: string; contentType: string }) =>
    upload(sink, file.name, file.contentType),
  );
  set('documents.get', () => DOCUMENT);
  set('documents.list', () => ({ items: [], totalCount: 0 }));
  set('documents.remind', () => 1);
  set('pendingReminders.notify', (_: Tenant, emails: readonly string[]) => emails.length);
  set('documents.create', () => [{ uploadId: IDS.user, documentId: IDS.document, attachments: [] }]);
  set('documents.actionUrl', () => ({
    url: 'http://h/document/key/K/sign?ticket=t',
    embedUrl: 'http://h/document/key/K/sign-embedded?ticket=t',
  }));
  set(
    'idempotency.answer',
    (
      _: Tenant,
      request: { readonly key: string; readonly fingerprint: string },
      make: (seed: string) => Promise<unknown>,
    ) => {
      const known = repeats.get(request.key);
      if (known !== undefined && known.fingerprint !== request.fingerprint) {
        throw new PortalRefusal('IdempotencyConflict');
      }
      const answer = known?.answer ?? make(`seed ${request.key}`);
      repeats.set(request.key, { fingerprint: request.fingerprint, answer });
      return answer;
    },
  );

  const part = (group: string) =>
    new Proxy({} as Record<string, unknown>, {
      get(_, method) {
        if (group === 'uploads' && method === 'maxBytes') return maxBytes;
        const name = `${group}.${String(method)}`;
        return async (...args: never[]) => {
          calls.push({ name, args });
          const answer = answers.get(name);
          return answer === undefined ? undefined : await answer(...args);
        };
      },
    });
  const service = new Proxy({} as Record<string, unknown>, {
    get: (_, group) => part(String(group)),
  }) as unknown as PortalService;

  let files = 0;
  return {
    service,
    calls,
    sinks,
    set,
    async file(content, contentType, fileName) {
      files += 1;
      const path = join(folder, String(files));
      await writeFile(path, content);
      const bytes = Buffer.from(content);
      const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;
      const file = { path, bring: async () => path, open: () => open(path, 'r') };
      return { ...file, length: bytes.length, contentType, fileName, etag };
    },
    last: (name) => calls.findLast((call) => call.name === name),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
