/**
 * URLs of PostgreSQL as libpq reads them: several hosts, Unix sockets, IPv6, TLS.
 *
 * Source: https://www.postgresql.org/docs/15/libpq-connect.html, §34.1.1.3; docs/decisions/0271-hosts-and-poolers.md.
 */
import { Fatal } from '../../../model/failures.ts';

const DEFAULT_PORT = 5432;

const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;

const CODES = 'characters such as / ? # of a password are written as %2F %3F %23';

/** Each may be asked at the same time. */
const MAX_HOSTS = 16;

/** Kinds of hosts that take steps; libpq knows others, for reading. */
const WRITING = ['any', 'read-write', 'primary'];

export interface PostgresAddress {
  /** In the order of the attempts. A host that begins with "/" is the folder of a Unix socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  /** Undefined where the URL says nothing about TLS. */
  readonly tls: (typeof TLS_MODES)[number] | undefined;
  /** Paths of PEM files; the certificates of authorities may be `system`. */
  readonly files: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Limit of one attempt to connect, milliseconds. */
  readonly connectTimeoutMs: number | undefined;
  /** Other parameters. */
  readonly parameters: Readonly<Partial<Record<string, string>>>;
}

/** Throws `store.postgres-options`; the message is the rest of a sentence about the URL, without its secrets. */
export function parsePostgresUrl(url: string): PostgresAddress {
  const [, credentials, authority = '', path = '', query = ''] =
    /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#@]*))?(?:\?([^#]*))?$/.exec(url) ?? [];
  const given: Partial<Record<string, string>> = Object.fromEntries(new URLSearchParams(query));
  const { host, port, user, password, dbname, target_session_attrs, ...others } = given;
  const { ssl, sslmode, sslrootcert, sslcert, sslkey, connect_timeout, ...parameters } = others;
  const database = dbname ?? decode(path);
  const hosts = host === undefined ? hostsOf(authority) : hostsOfParameters(host, port);
  if (hosts.length === 0 || database === '')
    throw fault(`must be like postgres://user:password@host:port/database; ${CODES}`);
  if (hosts.length > MAX_HOSTS) throw fault(`has more than ${MAX_HOSTS} hosts`);
  if (target_session_attrs !== undefined && !WRITING.includes(target_session_attrs))
    throw fault(
      `has target_session_attrs=${target_session_attrs}, which must be one of ${WRITING.join(', ')}`,
    );
  const [name, secret] = (credentials ?? '').split(/:(.*)/s);
  const timeout = Number(connect_timeout ?? 0) * 1000;
  return {
    hosts,
    user: user ?? (name ? decode(name) : undefined),
    password: password ?? (secret === undefined ? undefined : decode(secret)),
    database,
    tls: tlsOf(sslmode, ssl, sslrootcert ?? sslcert ?? sslkey),
    files: {
      ...(sslrootcert !== undefined && { ca: sslrootcert }),
      ...(sslcert !== undefined && { cert: sslcert }),
      ...(sslkey !== undefined && { key: sslkey }),
    },
    connectTimeoutMs: timeout > 0 ? timeout : undefined,
    parameters,
  };
}

/** Hosts on other machines that the URL names without TLS; whoever is between reads the password and all data. */
export function hostsWithoutTls(url: string): readonly string[] {
  const { hosts, tls } = parsePostgresUrl(url);
  if (tls !== undefined && tls !== 'disable') return [];
  return hosts.map(({ host }) => host).filter((host) => !/^(\/.*|localhost|127\..*|::1)$/i.test(host));
}

/** @param file a file of TLS, which nobody names without wanting it */
function tlsOf(mode: string | undefined, ssl: string | undefined, file: string | undefined) {
  if (mode === undefined) {
    if (ssl === 'no-verify') return 'no-verify';
    return file !== undefined || ssl === 'true' || ssl === '1' ? 'verify-full' : undefined;
  }
  const known = TLS_MODES.find((one) => one === mode);
  if (known === undefined) throw fault(`has sslmode=${mode}, which must be one of ${TLS_MODES.join(', ')}`);
  if (known === 'verify-ca' && file === undefined)
    throw fault(
      'has sslmode=verify-ca, which needs sslrootcert: the file with the certificate of the authority',
    );
  return known;
}

function hostsOf(authority: string): PostgresAddress['hosts'] {
  if (authority === '') return [];
  return authority.split(',').map((text) => {
    const [, bracketed, plain = '', port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(text) ?? [];
    return { host: hostOf(bracketed ?? decode(plain)), port: portOf(port) };
  });
}

/** `?host=a,b&port=1,2`; one port is that of all hosts. */
function hostsOfParameters(hosts: string, ports = ''): PostgresAddress['hosts'] {
  const all = ports.split(',');
  return hosts.split(',').map((host, at) => ({ host: hostOf(host), port: portOf(all[at] ?? all[0]) }));
}

function hostOf(text: string): string {
  if (text === '') throw fault(`has a host that cannot be read, unlike a:5432,[2001:db8::1]:5432; ${CODES}`);
  return text;
}

function portOf(text: string | undefined): number {
  const port = Number(text || DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw fault('has a port that is not 1 to 65535');
  return port;
}

/** A "%" that begins no code stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function fault(rule: string): Fatal {
  return new Fatal('store.postgres-options', rule);
}
