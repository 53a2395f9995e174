/** Every page template, rendered with hostile text in each field that a caller controls. */

import type { SignedInUser, SigningPageView } from '../../actors/portal/api.ts';
import type { ValidationRecord } from '../../contracts/portal/signing/validation.ts';
import { TEXTS } from '../../contracts/texts/texts.ts';
import { errorPage } from '../../http/portal/pages/error-page.ts';
import { signingPageOptions } from '../../http/portal/pages/page-options.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { framedPage } from '../../web/pages/batch/layout.tsx';
import { loginPage } from '../../web/pages/batch/login.tsx';
import { OPERATOR_PAGES } from '../../web/pages/batch/operator.tsx';
import { ReportView, ValidationForm } from '../../web/pages/batch/validation.tsx';
import type { AccountNotice, AccountPage } from '../../web/pages/portal/account-frame.ts';
import { brandingPage } from '../../web/pages/portal/accounts/branding-view.tsx';
import {
  certificateChoicePage,
  onTheWayPage,
  providerTroublePage,
  secretsPage,
} from '../../web/pages/portal/accounts/provider-signing-view.tsx';
import { retentionPage } from '../../web/pages/portal/accounts/retention-view.tsx';
import { signingProvidersPage } from '../../web/pages/portal/accounts/signing-providers-view.tsx';
import { applicationPage, applicationsPage } from '../../web/pages/portal/applications-view.tsx';
import { deputiesPage } from '../../web/pages/portal/forms/deputies-view.tsx';
import { hereStartPage } from '../../web/pages/portal/forms/public-link-view.tsx';
import { waitingPage, waitingStartPage } from '../../web/pages/portal/forms/waiting-view.tsx';
import { marksOverPage, marksPage } from '../../web/pages/portal/marks-view.tsx';
import { organizationPage } from '../../web/pages/portal/organization-view.tsx';
import { bulkPage, bulkResultPage } from '../../web/pages/portal/sender/bulk-view.tsx';
import { documentsPage } from '../../web/pages/portal/sender/documents-page.tsx';
import { linksPage, linkView } from '../../web/pages/portal/sender/links-view.tsx';
import { signingPage } from '../../web/pages/portal/signing-view.tsx';
import { pageTexts } from '../../web/pages/portal/texts.ts';
import { usersPage } from '../../web/pages/portal/users-view.tsx';
import { validationPage } from '../../web/pages/portal/validation-view.tsx';

/** Ends a text, an attribute in either quotes, and an element. */
export const HOSTILE = `"'><script>alert(1)</script>&amp;`;

/** Pages around a signing provider, whose names, certificates and questions are its own. */
function providerPages(): readonly (readonly [name: string, html: string])[] {
  const frame = { words: pageTexts('en'), provider: HOSTILE };
  const own = { action: HOSTILE, visit: HOSTILE, document: HOSTILE, isAgain: true };
  const credential = { id: HOSTILE, holder: HOSTILE, issuer: HOSTILE, until: 0, trouble: undefined };
  const credentials = [credential, { ...credential, holder: undefined, trouble: 'blocked' } as const];
  const secrets = [{ id: HOSTILE, kind: 'password', label: HOSTILE, isNumeric: true }] as const;
  const trouble = { why: 'rejected', faults: [HOSTILE], page: HOSTILE, choice: HOSTILE } as const;
  return [
    ['provider choice', certificateChoicePage(frame, { ...own, credentials, back: HOSTILE })],
    ['provider secrets', secretsPage(frame, { ...own, secrets, question: HOSTILE, page: HOSTILE })],
    ['provider onward', onTheWayPage(frame, { to: HOSTILE, text: 'onward' })],
    ['provider trouble', providerTroublePage(frame, trouble)],
  ];
}

function retentionOf(
  page: AccountPage,
  user: SignedInUser,
  notice: AccountNotice | undefined,
): readonly [name: string, html: string] {
  const rule = { folderId: HOSTILE, status: null, days: 1 };
  const by = { id: HOSTILE, type: 'User', name: HOSTILE } as const;
  const item = { id: HOSTILE, name: HOSTILE, status: null, date: 0, rule, reason: HOSTILE, by } as const;
  const list = { items: [{ ...item, type: 'Folder' as const }], totalCount: 1 };
  const retention = { noticeDays: 1, rules: [rule] };
  const folders = [{ id: HOSTILE, name: HOSTILE }];
  const lists = { held: list, planned: list, deleted: list };
  const documents = [{ documentId: HOSTILE, outcome: 'Refused', code: HOSTILE }] as const;
  const counts = { erased: 1, kept: 0, refused: 1, mails: 1 };
  const erasures = [
    { id: HOSTILE, date: 0, by, isDone: false, keptFor: null, ...counts, documents: [...documents] },
  ];
  return ['retention', retentionPage(page, user, { retention, folders, ...lists, erasures, notice })];
}

/** Name → HTML. */
export function hostilePages(): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const { path, main } of OPERATOR_PAGES) {
    pages.set(`batch ${path}`, framed(main([[HOSTILE, HOSTILE]])));
  }
  for (const [name, html] of providerPages()) pages.set(`portal ${name}`, html);
  pages.set('batch validate', framed(ValidationForm()));
  pages.set('batch report', framed(ReportView({ fileName: HOSTILE, report: report() })));
  pages.set('batch login', loginPage(HOSTILE, undefined));
  pages.set('batch login again', loginPage(HOSTILE, 'invalid'));
  for (const [name, view] of signingViews()) {
    for (const embedded of [false, true]) {
      const options = signingPageOptions({ refusal: 'true', scale: '100', theme: 'dark' }, embedded);
      pages.set(
        `portal ${name}${embedded ? ', embedded' : ''}`,
        signingPage(view, pageTexts('en'), options, ADDRESSES),
      );
    }
  }
  pages.set(
    'portal check',
    validationPage(
      {
        found: 'record',
        record: record(),
        approvals: [{ name: HOSTILE, title: HOSTILE, email: HOSTILE, identifier: HOSTILE, at: 0 }],
        files: { original: HOSTILE, signed: HOSTILE },
      },
      HOSTILE,
      pageTexts('en'),
    ),
  );
  for (const found of ['empty', 'unknown', 'unsigned', 'deleted', 'busy', 'broken'] as const) {
    pages.set(`portal check ${found}`, validationPage({ found }, HOSTILE, pageTexts('en')));
  }
  const data = {
    files: [
      { id: 'a', name: HOSTILE },
      { id: 'b', displayName: HOSTILE },
    ],
    flowActions: [{ user: { name: HOSTILE } }, { ruleName: HOSTILE }, { user: { email: HOSTILE } }, {}],
  };
  const files = ['a', 'b', 'c'].map((id) => ({ id, location: HOSTILE }));
  pages.set('portal marks', marksPage({ files, data }, pageTexts('en'), 'dark', [HOSTILE]));
  pages.set('portal marks over', marksOverPage(pageTexts('en'), undefined));
  const visitor = { words: pageTexts('en'), theme: undefined, email: HOSTILE } as const;
  for (const asksCode of [false, true])
    pages.set(`portal waiting, code ${asksCode}`, waitingStartPage({ ...visitor, asksCode }));
  pages.set('portal waiting', waitingPage({ ...visitor, ...waiting() }));
  pages.set('portal deputies', deputiesPage({ ...visitor, ...deputies() }));
  for (const [name, page] of accountPages()) pages.set(`account ${name}`, page);
  const failure = { status: 500, requestId: HOSTILE, query: 'theme=dark', header: () => '' };
  pages.set('portal failure', errorPage('none')(failure).html);
  return pages;
}

function waiting() {
  const item = {
    documentId: HOSTILE,
    flowActionId: HOSTILE,
    userId: HOSTILE,
    documentVersion: 1,
    actionDate: 1,
    name: HOSTILE,
    organizationName: HOSTILE,
    senderName: HOSTILE,
    participantName: HOSTILE,
    title: HOSTILE,
    asked: 'Sign',
    creationDate: 0,
    expirationDate: 1,
    alone: null,
    url: HOSTILE,
  } as const;
  const other = { ...item, senderName: null, title: null, participantName: null, alone: 'fields' } as const;
  const items = [item, other];
  return { endDate: 1, items, nextCursor: HOSTILE, formToken: HOSTILE, typedName: HOSTILE };
}

function deputies() {
  const times = { startDate: 1, endDate: 2 };
  const one = { id: HOSTILE, name: HOSTILE, email: HOSTILE, reason: HOSTILE, ...times };
  const items = waiting().items.map((item) => ({ ...item, person: HOSTILE, deputyName: HOSTILE }));
  return {
    deputies: [one],
    people: [{ id: HOSTILE, person: HOSTILE, name: HOSTILE, ...times }],
    represented: { person: HOSTILE, items, nextCursor: HOSTILE },
    formToken: HOSTILE,
    values: { name: HOSTILE, email: HOSTILE, reason: HOSTILE, from: HOSTILE, until: HOSTILE },
  };
}

function framed(main: Parameters<typeof framedPage>[0]['main']): string {
  return framedPage({
    title: HOSTILE,
    path: '/jobs/1',
    groups: [
      {
        name: HOSTILE,
        links: [
          { href: '/', text: HOSTILE, icon: 'x' },
          { href: '/jobs', text: HOSTILE, icon: 'x' },
          { href: HOSTILE, text: HOSTILE, icon: 'x' },
        ],
      },
    ],
    version: HOSTILE,
    styles: ['pages.css'],
    script: HOSTILE,
    pollSeconds: 5,
    data: HOSTILE,
    main,
  });
}

const ADDRESSES = {
  newLink: '/new-link',
  picture: '/picture',
  linkRequest: '/link-request',
  passOn: '/pass-on',
  attachment: (id: string) => `/attachment/${id}?${HOSTILE}`,
  key: HOSTILE,
  ticket: HOSTILE,
  content: `/content?${HOSTILE}`,
  self: `/self?${HOSTILE}`,
};

function signingViews(): readonly (readonly [name: string, view: SigningPageView])[] {
  const document = {
    id: 'd',
    key: 'K',
    name: HOSTILE,
    description: HOSTILE,
    mimeType: 'application/pdf',
    isEnvelope: false,
    organizationName: HOSTILE,
    expirationDate: 1_780_000_000_000,
    attachments: [{ id: HOSTILE, name: HOSTILE }],
    isNewVersion: true,
    warnings: [{ code: 'pdf.hidden-look', object: HOSTILE, message: HOSTILE }],
    version: 2,
    statusReason: HOSTILE,
    endedBy: HOSTILE,
    changedAt: 0 as never,
  };
  const participants = [
    { name: HOSTILE, type: 'Signer', status: 'Pending', isYou: true },
    { name: null, type: 'Approver', status: 'Completed', isYou: false },
  ];
  const action = {
    flowActionId: 'f',
    userId: 'u',
    type: 'Signer',
    title: HOSTILE,
    allowElectronicSignature: true,
    participant: { name: HOSTILE, email: HOSTILE, identifier: null },
    marks: [],
    codes: [{ channel: 'Email', to: HOSTILE }],
    initialsMode: 'Optional',
  };
  const ready = { state: 'ready', document, action, participants, embedOrigins: [HOSTILE] };
  const states = [
    'waiting-for-turn',
    'done',
    'refused',
    'canceled',
    'expired',
    'concluded',
    'deleted',
    'processing',
    'ticket-expired',
    'unknown',
  ];
  const views: [string, object][] = [
    ['sign', ready],
    ['sign a text', { ...ready, document: { ...document, mimeType: 'text/plain' } }],
    ['approve', { ...ready, action: { ...action, type: 'Approver', title: null } }],
    [
      'sign with a certificate',
      { ...ready, action: { ...action, allowElectronicSignature: false, initialsMode: 'Required' } },
    ],
    ...states.map((state): [string, object] => [
      state,
      { state, document, participants, embedOrigins: [], isLinkOver: false },
    ]),
    ['unknown document', { state: 'unknown', embedOrigins: [] }],
  ];
  return views.map(([name, view]) => [name, view as SigningPageView] as const);
}

function record(): ValidationRecord {
  const item = { type: HOSTILE, message: HOSTILE, detail: HOSTILE, innerValidationResults: null };
  const inner = { isValid: false, passedChecks: [item], errors: [item], warnings: [item] };
  const results = {
    ...inner,
    errors: [
      { ...item, innerValidationResults: inner },
      { ...item, detail: null },
    ],
  };
  const stamp = { displayName: HOSTILE, genTime: 1_780_000_000_000, validityStart: null, validityEnd: null };
  const signature = {
    subjectName: HOSTILE,
    emailAddress: HOSTILE,
    issuerName: HOSTILE,
    identifier: HOSTILE,
    companyName: HOSTILE,
    companyIdentifier: HOSTILE,
    isElectronic: false,
    isTimestamp: false,
    signingTime: 1_780_000_000_000,
    certificateThumbprint: HOSTILE,
    validityStart: 1_700_000_000_000,
    validityEnd: 1_790_000_000_000,
    signatureTimestamps: [stamp, stamp],
    archiveTimestamps: [stamp],
    validationResults: results,
    qualification: {
      word: 'QESig',
      isIndeterminate: true,
      qualifiedFor: 'signature',
      device: 'yes',
      territory: HOSTILE,
      service: HOSTILE,
      provider: HOSTILE,
      list: null,
      reasons: [HOSTILE],
    },
    evidences: null,
    signingProvider: { name: HOSTILE, address: 'https://remote.example.org/csc/v2' },
  };
  return {
    id: 'd',
    name: HOSTILE,
    filename: HOSTILE,
    mimeType: HOSTILE,
    status: 'Concluded',
    creationDate: 1_780_000_000_000,
    updateDate: 1_780_000_000_000,
    createdBy: { name: HOSTILE },
    isEnvelope: false,
    isFile: true,
    type: null,
    signatureType: null,
    signers: [
      signature,
      { ...signature, isElectronic: true, signingTime: null, emailAddress: null },
      { ...signature, isTimestamp: true, validationResults: { ...inner, isValid: true } },
    ],
  } as unknown as ValidationRecord;
}

function report(): Parameters<typeof ReportView>[0]['report'] {
  const item = { type: HOSTILE, message: HOSTILE, detail: HOSTILE };
  const results = {
    isValid: false,
    passedChecks: [item],
    errors: [item, { message: HOSTILE }],
    warnings: [item],
  };
  const stamp = { kind: HOSTILE, genTime: 0, displayName: HOSTILE, indication: 'INDETERMINATE' };
  const signature = {
    name: HOSTILE,
    indication: 'TOTAL-FAILED',
    subIndication: HOSTILE,
    isTimestamp: false,
    certificate: { subjectName: HOSTILE, issuerName: HOSTILE },
    signingTime: 0,
    bestTime: 0,
    level: HOSTILE,
    scope: { description: HOSTILE },
    reason: HOSTILE,
    location: HOSTILE,
    timestamps: [stamp],
    changes: [{ revision: 1, description: HOSTILE, permitted: false }],
    results,
  };
  const signatures = [{ ...signature, counterSignatures: [{ ...signature, counterSignatures: [] }] }];
  return { indication: 'TOTAL-FAILED', format: HOSTILE, signatures, results } as unknown as Parameters<
    typeof ReportView
  >[0]['report'];
}

/** Pages of an administrator, each with its refused forms. */
function accountPages(): readonly (readonly [name: string, html: string])[] {
  const page: AccountPage = {
    words: pageTexts('en'),
    texts: TEXTS.en.account,
    culture: undefined,
    theme: undefined,
    path: '/organization',
    address: '/organization',
  };
  const user = {
    id: 'u',
    name: HOSTILE,
    email: HOSTILE,
    role: 'administrator',
    formToken: HOSTILE,
    tenant: { organization: { id: 'o', name: HOSTILE } },
  } as unknown as SignedInUser;
  const provider = {
    id: 'p',
    title: HOSTILE,
    address: HOSTILE,
    authorization: HOSTILE,
    clientId: HOSTILE,
    returnAddress: HOSTILE,
  };
  const names = ['name', 'email', 'role', 'expiry', 'url', 'authType', 'origins', 'subject', 'introduction'];
  const looks = ['primaryColor', 'headerColor', 'redirectOrigins', 'redirectUrl'];
  const values = Object.fromEntries([...names, ...looks].map((name) => [name, HOSTILE]));
  const refused = (action: string, field: string | undefined): AccountNotice => ({
    kind: 'bad',
    text: HOSTILE,
    form: { action, values, faults: field === undefined ? {} : { [field]: HOSTILE } },
  });
  const member = { id: 'm', name: HOSTILE, email: HOSTILE, accessProfile: {} };
  const application = { id: 'a', name: HOSTILE, role: 'Normal', keys: [] } as never;
  const folders = { offered: [{ id: HOSTILE, name: HOSTILE }], names: new Map(), hasMore: false };
  const webhook = {
    id: 'w',
    url: HOSTILE,
    authType: 'NoAuth',
    isSigned: true,
    isDisabled: true,
    disabledReason: HOSTILE,
    events: null,
  };
  const attempt = { date: 0, status: null, milliseconds: 1, error: HOSTILE, response: HOSTILE };
  const delivery = {
    id: 'd',
    type: HOSTILE,
    status: 'Failed',
    creationDate: 0,
    body: HOSTILE,
    attempts: [attempt],
  };
  const organization = (notice: AccountNotice) =>
    organizationPage(page, user, {
      organization: { embedOrigins: [HOSTILE] },
      webhooks: [webhook] as never,
      deliveries: { items: [delivery], totalCount: 1 } as never,
      status: undefined,
      offset: 0,
      limit: 20,
      now: 0,
      notice,
    });
  const branding = (notice: AccountNotice) =>
    brandingPage(page, user, {
      branding: {
        logo: null,
        primaryColor: HOSTILE,
        headerColor: null,
        redirectUrl: null,
        redirectOrigins: [HOSTILE],
        mailTexts: {},
      } as never,
      kind: 'pending',
      preview: { subject: HOSTILE, text: HOSTILE, html: HOSTILE },
      placeholders: [HOSTILE],
      replyTo: HOSTILE,
      notice,
    } as never);
  const users = (notice: AccountNotice) =>
    usersPage(page, user, { items: [member], totalCount: 1 } as never, {
      offset: 0,
      limit: 50,
      notice,
      requireSecondFactor: false,
    });
  const applications = (notice: AccountNotice) =>
    applicationsPage(page, user, [application], { hasRoles: true, notice });
  const path = '/organization';
  const { list, statuses, newDocument } = TEXTS.en.senders;
  const filters = { show: '', q: HOSTILE, status: '', folder: HOSTILE, from: HOSTILE, to: '', order: '' };
  const person = { name: HOSTILE, deputy: HOSTILE, state: 'waiting', opened: null, isMailReturned: false };
  const item = {
    id: HOSTILE,
    name: HOSTILE,
    status: 'Pending',
    folder: HOSTILE,
    creator: HOSTILE,
    updateDate: 0,
    expirationDate: 0,
    people: [person],
    hasSignature: false,
    pendingActions: [],
  };
  const documents = (show: string) =>
    documentsPage(page, user, {
      language: 'en',
      culture: 'en',
      now: 0,
      texts: { list, statuses, newDocument },
      words: {},
      filters: { ...filters, show },
      counts: {},
      items: [item],
      totalCount: 1,
      isFirst: false,
      drafts: [{ id: HOSTILE, name: HOSTILE, updateDate: 0, mayChange: true }],
      draftsCount: 1,
      maySend: true,
      formToken: HOSTILE,
      folders: [{ id: HOSTILE, name: HOSTILE }],
      next: HOSTILE,
    } as never);
  const template = { id: 't', version: 1, name: HOSTILE } as never;
  const leftOut = { hidden: HOSTILE, empty: HOSTILE };
  const table = { columns: [HOSTILE], rows: [[HOSTILE]], leftOut };
  const preview = {
    given: table,
    columns: [HOSTILE],
    known: [{ column: HOSTILE, role: HOSTILE, text: HOSTILE }],
    table,
    faults: [{ row: 1, code: HOSTILE, text: HOSTILE }],
  };
  const file = { id: HOSTILE, name: HOSTILE, contentType: HOSTILE };
  const refusal = new PortalRefusal('InvalidGenerationFile', HOSTILE);
  const generation = {
    id: HOSTILE,
    status: 'Error',
    totalDocumentsCount: 1,
    initializedCount: 0,
    refusedRowsCount: 1,
    error: { message: HOSTILE },
  } as never;
  const link = {
    id: HOSTILE,
    name: HOSTILE,
    role: HOSTILE,
    contact: 'Email',
    fields: [HOSTILE],
    endDate: 0,
    creationDate: 0,
    language: null,
    returnUrl: HOSTILE,
    status: 'Open',
    lastRefusal: { message: HOSTILE },
    url: HOSTILE,
    createdBy: { id: 'a', name: HOSTILE },
    devices: [{ id: HOSTILE, openedBy: { id: 'a', name: HOSTILE }, creationDate: 0, endDate: 0 }],
  } as never;
  const rows = [{ row: 1, status: 'Refused', documentIds: [HOSTILE], error: { message: HOSTILE } }];
  const failed = { kind: 'bad', text: HOSTILE } as const;
  return [
    ['signing providers', signingProvidersPage(page, user, [provider], failed)],
    retentionOf(page, user, failed),
    ...['', 'drafts'].map((show) => [`documents ${show}`, documents(show)] as const),
    ['bulk', bulkPage(page, user, { template, mayUse: true, file, preview, key: HOSTILE, refusal })],
    [
      'links',
      linksPage(page, user, {
        items: [link],
        isFirst: true,
        of: {
          template: { id: 't', name: HOSTILE, roles: [HOSTILE, 'b'] } as never,
          fields: [{ name: HOSTILE }],
          mayUse: true,
          takesPhones: true,
          key: HOSTILE,
        },
      }),
    ],
    [
      'link',
      linkView(page, user, {
        link,
        code: { size: 1, path: '' },
        mayUse: true,
        mayChange: true,
        notice: undefined,
      }),
    ],
    ['start of a device', hereStartPage(page.words, undefined, HOSTILE)],
    [
      'bulk results',
      bulkResultPage(page, user, {
        template,
        generation,
        rows: { items: rows, totalCount: 1 } as never,
        offset: 1,
        mayCancel: true,
      }),
    ],
    ['refusal of no field', users(refused(`${path}/users`, undefined))],
    ['refused user', users(refused(`${path}/users`, 'email'))],
    ['refused application', applications(refused(`${path}/applications`, 'name'))],
    [
      'refused key',
      applicationPage(page, user, application, {
        folders,
        now: 0,
        made: HOSTILE,
        notice: refused(`${path}/applications/a/keys`, 'expiry'),
      }),
    ],
    ['refused webhook', organization(refused(`${path}/webhooks`, 'url'))],
    ['refused change of a webhook', organization(refused(`${path}/webhooks/w`, 'token'))],
    ['refused origins', organization(refused(`${path}/origins`, 'origins'))],
    ['refused looks', branding(refused(`${path}/branding/looks`, 'redirectOrigins'))],
    ['refused mail', branding(refused(`${path}/branding/mail`, 'introduction'))],
  ];
}
