import type { SigningProvider } from '../shared/key-services/csc-person.ts';
import type { ObjectStore } from '../shared/objects/object-store.ts';
import type { Profile } from '../shared/signing/profiles.ts';
import type { TrustOptions } from '../shared/signing/trust-options.ts';
import type { IdentifierFormat } from './documents/document-plans.ts';
import type { ErasureFile } from './erasure/erasures.ts';
import type { Mailer } from './mails/mail-port.ts';
import type { MessageGateway } from './mails/message-gateway.ts';
import type { bootstrapTenants } from './tenants-bootstrap.ts';

export interface PortalOptions {
  /** `{Storage:Root}/portal`, absolute. */
  readonly root: string;
  /** `Storage:Objects`. @default the files are in the folder */
  readonly objects?: ObjectStore | undefined;
  /** The service's signing profiles; at least one of them signs here. */
  readonly profiles: readonly Profile[];
  readonly trust?: TrustOptions;
  /** `Portal:SealProfile`. @default the first profile that signs here */
  readonly sealProfile?: string;
  /** Called with the kind of each signature that was put into a document, and the milliseconds that it took. */
  readonly onSigned?: ((kind: string, took: number) => void) | undefined;
  /** Called with what became of each visit to a link for anybody. */
  readonly onVisit?: ((outcome: string) => void) | undefined;
  /** The portal's secret from the key folder, at least 32 bytes. */
  readonly secret: Buffer;
  /** `Portal:PublicUrl` without trailing slash; read when a link is created. */
  readonly publicUrl: () => string;
  /** `Portal:AllowUnprovenCertificates`: without trusted roots, people sign with any certificate. @default false */
  readonly allowUnproven?: boolean;
  /** `Portal:SigningProviders`. @default none */
  readonly signingProviders?: readonly SigningProvider[];
  /** `Portal:Identifiers`. */
  readonly identifiers: IdentifierFormat;
  /** `Portal:UploadMaxBytes`. */
  readonly uploadMaxBytes: number;
  /** `Portal:NotifyParticipants:*`. */
  readonly notifyParticipants: { readonly concluded: boolean; readonly newVersion: boolean };
  /** Records required after the start. */
  readonly tenants: Parameters<typeof bootstrapTenants>[1];
  /** Length of a user's session on the pages: `Auth:SessionHours`. */
  readonly userSessionHours: number;
  /** Sign-in at identity providers; `closed`: organizations without mailed links (`Identity:LocalSignIn`). @default none */
  readonly identity?: { readonly sessionMinutes: number; readonly closed: readonly string[] };
  readonly mailer: Mailer;
  /** Record of erasures outside of the store. @default none is kept */
  readonly erasures?: ErasureFile;
  /** `Portal:MessageGateway`. @default codes for telephones are refused */
  readonly messageGateway?: MessageGateway | undefined;
  /** Address all mails come from. */
  readonly sender: string;
  /** `Portal:WebhookAllowPrivate`; `Portal:WebhookConcludedDelaySeconds`, in milliseconds. */
  readonly webhooks: { readonly allowPrivate: boolean; readonly concludedDelay: number };
}
