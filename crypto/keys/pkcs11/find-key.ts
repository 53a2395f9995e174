/** Finds the key and the certificates of a token by module and thumbprint. */

import { CryptoError } from '../../core/types.ts';
import {
  type Certificate,
  normalThumbprint,
  readableCertificates,
  thumbprintOf,
} from '../../x509/certificate.ts';
import { gateOf, restartModule, type TokenModule, tokenModule, unavailable } from './module.ts';
import { createSessionPool, type SessionPool } from './session-pool.ts';
import {
  certificatesOf,
  inSession,
  logIn,
  presentTokens,
  type Token,
  type TokenCertificate,
} from './token.ts';
import { type TokenKey, tokenKey } from './token-key.ts';

export interface TokenSource {
  readonly source: 'Pkcs11';
  /** The shared library of the token's vendor. */
  readonly modulePath: string;
  /** User PIN. Empty for tokens with a PIN pad. */
  readonly pin: string;
  /** SHA-1 of the signer's certificate in hex, colons and spaces allowed. */
  readonly thumbprint: string;
  /** Restricts the search to the token with this label; needed when certificates are visible only after a login. */
  readonly tokenLabel?: string;
  /** Most open sessions of the process with the key, 1 to 64. @default 1: signatures one after another */
  readonly maxSessions?: number;
}

interface FoundKey {
  readonly key: TokenKey;
  readonly certificate: Certificate;
  /** DER of all certificates on the token. */
  readonly certificates: readonly Buffer[];
}

/** Finds the key; sends the PIN once, to the token with the certificate. @throws {CryptoError} see `loadSigner` */
export function findTokenKey(source: TokenSource): FoundKey {
  const pool = createSessionPool(source.pin, source.maxSessions ?? 1);
  const { modulePath } = source;
  const gate = gateOf(modulePath);
  // Tokens inserted after the start of the module may be visible only after a restart.
  gate.restart(
    () => {},
    () => restartModule(modulePath),
  );
  const { token, certificates, own } = gate.enter(() =>
    findCertificate(tokenModule(modulePath), source, pool),
  );
  const [certificate] = readableCertificates(own.der);
  if (certificate === undefined) {
    throw new CryptoError('certificate.malformed', "The certificate on the token can't be read.");
  }
  const key = tokenKey(
    {
      modulePath,
      label: token.label,
      serialNumber: token.serialNumber,
      keyId: own.id,
      sessions: pool.memory,
      gate: gate.memory,
    },
    certificate.publicKey,
  );
  key.open();
  return { key, certificate, certificates: certificates.map(({ der }) => der) };
}

interface FoundCertificate {
  readonly token: Token;
  readonly certificates: readonly TokenCertificate[];
  readonly own: TokenCertificate;
}

function findCertificate(module: TokenModule, source: TokenSource, pool: SessionPool): FoundCertificate {
  const { tokenLabel } = source;
  const wanted = normalThumbprint(source.thumbprint);
  const tokens = presentTokens(module).filter(
    ({ label }) => tokenLabel === undefined || label === tokenLabel,
  );
  if (tokens.length === 0) {
    const named = tokenLabel === undefined ? '' : ` labelled "${tokenLabel}"`;
    throw new CryptoError('key.unavailable', `No token${named} is there.`);
  }
  let failure: CryptoError | undefined;
  const look = (token: Token, loggedIn: boolean): FoundCertificate | undefined => {
    try {
      return inSession(module, token, (session) => {
        if (loggedIn) logIn(module, token, session, pool);
        const certificates = certificatesOf(module, session);
        const own = certificates.find(({ der }) => thumbprintOf(der) === wanted);
        return own && { token, certificates, own };
      });
    } catch (error) {
      // Another token may have it.
      failure = unavailable(`The token "${token.label}" does not answer`, error);
      return undefined;
    }
  };
  for (const token of tokens) {
    const found = look(token, false);
    if (found !== undefined) return found;
  }
  // Certificates may be private objects. With several tokens, the PIN can't be assigned to one.
  const [only, ...others] = tokens;
  const found = only && others.length === 0 ? look(only, true) : undefined;
  if (found !== undefined) return found;
  if (failure !== undefined) throw failure;
  const labels = tokens.map(({ label }) => `"${label}"`).join(', ');
  throw new CryptoError(
    'key.not-found',
    `No certificate with the thumbprint ${wanted} is to be seen on ${labels}.`,
  );
}
