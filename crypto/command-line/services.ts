/** Authorities that options of a command name. */
import type { SigningServices } from '../evidence/authorities.ts';
import { createEvidenceSource, type EvidenceSourceOptions } from '../evidence/evidence-source.ts';
import { createHttpTransport } from '../evidence/http-transport.ts';
import { createTimestampAuthority, type TimestampAuthorityOptions } from '../evidence/timestamp-authority.ts';

export interface ServiceOptions {
  /** Address of the time-stamp authority. */
  readonly timestampUrl?: string;
  readonly timestampUser?: string;
  /** Name of the environment variable with that user's password. */
  readonly timestampPasswordEnv?: string;
  /** Lets certificates name addresses that are not public. */
  readonly allowPrivate?: boolean;
}

/** Network, time and chance of a program; @default those of the machine */
export type CommandServices = Partial<
  Pick<EvidenceSourceOptions, 'transport' | 'now' | 'wait' | 'issuerHosts'> &
    Pick<TimestampAuthorityOptions, 'random'>
>;

/** @throws {CryptoError} `request.invalid` for an address that is none, `certificate.malformed` */
export function servicesOf(
  { timestampUrl, timestampUser, timestampPasswordEnv, allowPrivate = false }: ServiceOptions,
  certificates: Required<Pick<EvidenceSourceOptions, 'anchors' | 'intermediates'>>,
  env: Readonly<Record<string, string | undefined>>,
  { random, issuerHosts = [], ...given }: CommandServices,
): SigningServices & Required<Pick<SigningServices, 'evidence'>> {
  const asking = { transport: createHttpTransport({ allowPrivate, issuerHosts }), ...given };
  const password = timestampPasswordEnv === undefined ? '' : (env[timestampPasswordEnv] ?? '');
  return {
    ...(timestampUrl !== undefined && {
      timestamps: createTimestampAuthority({
        ...asking,
        url: timestampUrl,
        ...(random !== undefined && { random }),
        ...(timestampUser !== undefined && { username: timestampUser, password }),
      }),
    }),
    evidence: createEvidenceSource({ ...asking, ...certificates, issuerHosts }),
  };
}
