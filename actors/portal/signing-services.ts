/** Parts of the portal by which participants see and sign documents. */

import { deputyDemandsOf, qualificationOf } from './accounts/organization-settings.ts';
import type { Accounts } from './accounts.ts';
import { Deputies } from './deputies/deputies.ts';
import { DeputySigning } from './deputies/deputy-signing.ts';
import type { DocumentServices } from './document-services.ts';
import { Erasures } from './erasure/erasures.ts';
import { Authenticators } from './signing/authenticators.ts';
import { EarlySignatures } from './signing/early-signatures.ts';
import { FieldUploads } from './signing/field-uploads.ts';
import { FirstPages } from './signing/first-pages.ts';
import { MailboxSessions } from './signing/mailbox-sessions.ts';
import { OpenProviders } from './signing/open-providers.ts';
import { OrganizationProviders } from './signing/organization-providers.ts';
import { ProviderSigning } from './signing/provider-signing.ts';
import { CertificateSigning } from './signing/signing-certificates.ts';
import { SigningCodes } from './signing/signing-codes.ts';
import { SigningPages } from './signing/signing-pages.ts';
import { Signing } from './signing/signing-service.ts';
import { WaitingDocuments } from './signing/waiting-documents.ts';
import type { PortalCommon } from './wiring-common.ts';

export function createSigningServices(common: PortalCommon, accounts: Accounts, documents: DocumentServices) {
  const { options, runtime, pool, blobs, uploads, links, tickets, waits, sealProfile, languageOf } = common;
  const { tenants, passkeys } = accounts;
  const { directory, contents, files, plans } = documents;
  const demandOf = qualificationOf(runtime.actors);
  const sealing = { ...sealingOf(common), qualificationOf: demandOf };
  const authenticators = new Authenticators(runtime, common.secrets, passkeys);
  const early = new EarlySignatures(runtime, waits, sealing);
  const codes = new SigningCodes(runtime, common.codeFor, authenticators, options.messageGateway?.perDay);
  const certificates = new CertificateSigning({
    runtime,
    pool,
    blobs,
    directory,
    waits,
    tickets,
    uploads,
    sealProfile,
    allowUnproven: options.allowUnproven ?? false,
    languageOf,
    qualificationOf: demandOf,
    early,
    files,
  });
  const { signingProviders, providers } = providersOf(common);
  const providerSigning = new ProviderSigning({
    runtime,
    directory,
    links,
    certificates,
    secrets: common.secrets,
    publicUrl: common.publicUrl,
    providers,
  });
  const signing = new Signing({
    runtime,
    blobs,
    pool,
    directory,
    early,
    links,
    codes,
    uploads,
    certificates,
    fieldUploads: new FieldUploads(uploads),
    files,
    plans,
  });
  return {
    codes,
    sealing,
    providerSigning,
    signingProviders,
    signing,
    erasures: new Erasures(
      runtime,
      { registry: common.outgoing.registry, mailer: options.mailer, key: common.erasureKey },
      options.erasures,
    ),
    ...waitingServices(common, documents, { signing, sessions: new MailboxSessions(runtime, codes) }),
    signingPages: new SigningPages({
      runtime,
      blobs,
      directory,
      links,
      tenants,
      contents,
      authenticators,
      providerSigning,
      qualificationOf: demandOf,
      firstPages: new FirstPages({ runtime, pool, blobs }),
    }),
  };
}

function providersOf({ options, runtime, secrets, publicUrl }: PortalCommon) {
  const { allowPrivate } = options.webhooks;
  const signingProviders = new OrganizationProviders({ runtime, secrets, publicUrl, allowPrivate });
  const configured = options.signingProviders ?? [];
  const providers = new OpenProviders({ clock: runtime.clock, configured, own: signingProviders });
  return { signingProviders, providers };
}

function waitingServices(
  { runtime, blobs, links }: PortalCommon,
  { directory, plans }: DocumentServices,
  signing: { readonly signing: Signing; readonly sessions: MailboxSessions },
) {
  const { actors } = runtime;
  const demandsOf = deputyDemandsOf(actors);
  const qualifications = qualificationOf(actors);
  return {
    deputies: new Deputies({ runtime, plans, sessions: signing.sessions }),
    deputySigning: new DeputySigning({ runtime, directory, blobs, demandsOf, ...signing }),
    waiting: new WaitingDocuments({ runtime, directory, links, qualificationOf: qualifications, ...signing }),
  };
}

function sealingOf({ options, runtime, pool, blobs, sealProfile, certificates, languageOf }: PortalCommon) {
  return {
    actors: runtime.actors,
    clock: runtime.clock,
    faults: runtime.faults,
    log: runtime.log,
    pool,
    blobs,
    sealProfile,
    certificates,
    languageOf,
    tellParticipants: options.notifyParticipants.concluded,
    onSigned: options.onSigned,
  };
}
