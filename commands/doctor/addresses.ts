/** Network: the ports to listen on, the clocks of others, the mail relay, and the address that participants open. */
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import type { Clock } from '@sealwright/runtime';
import { describeFailure } from '@sealwright/runtime/core';
import { createHttpClient, verifyRelay } from '../../actors/index.ts';
import { readServiceFile, type ServiceFile } from '../../service/service-file.ts';
import type { ListenUrl, Settings } from '../../settings.ts';
import { requestLocal } from '../local-service.ts';
import { bad, errorCode, type Finding, good } from './finding.ts';

/** A remote clock this far away is worth a look, milliseconds. */
const SKEW_WARNING_MS = 30_000;
/** Time-stamps further away than this are refused when they arrive, milliseconds. */
const SKEW_ERROR_MS = 300_000;
/** Milliseconds for one answer. */
const TIMEOUT_MS = 10_000;

/** Both addresses to listen on; one that the running service of this store has is expected to be taken. */
export async function checkPorts(settings: Settings): Promise<readonly Finding[]> {
  const running = readServiceFile(settings);
  const { batch, portal } = settings;
  return [
    ...(batch.enabled
      ? [await checkPort('port', 'Batch:Url', { url: batch.url, own: running?.batchUrl, running })]
      : []),
    ...(portal.enabled
      ? [await checkPort('port:portal', 'Portal:Url', { url: portal.url, own: running?.portalUrl, running })]
      : []),
  ];
}

async function checkPort(
  name: string,
  key: string,
  {
    url,
    own,
    running,
  }: {
    readonly url: ListenUrl;
    readonly own: string | null | undefined;
    readonly running: ServiceFile | undefined;
  },
): Promise<Finding> {
  if (own && running && isAddressOf(url, own)) {
    const { runId } = await requestLocal(own, '/api/health').catch(() => ({ runId: undefined }));
    if (runId === running.runId)
      return good(name, `The service listens at ${own}, as process ${running.process.pid}.`);
    return bad('failed', name, {
      says: `The service does not answer at ${own}, its own address (${key}).`,
      cause: 'It is stopping or hangs, or another program answers there.',
      remedy: `Look at the log of process ${running.process.pid}, and restart it.`,
    });
  }
  const code = await listenFailure(url);
  if (code === undefined) return good(name, `${url.href} is free to listen on.`);
  const words = {
    EADDRINUSE: ['Another program listens there.', `Stop it, or choose another port with ${key}.`],
    EACCES: [
      'Ports below 1024 need a right this user does not have.',
      `Choose a higher port with ${key}, or grant CAP_NET_BIND_SERVICE.`,
    ],
    EADDRNOTAVAIL: [
      'This machine does not have that address.',
      `Correct the host of ${key}; 0.0.0.0 stands for every address.`,
    ],
  }[code] ?? ['The system refuses it.', `Correct ${key}.`];
  return bad('failed', name, {
    says: `${url.href} cannot be listened on (${code}).`,
    cause: words[0] ?? '',
    remedy: words[1] ?? '',
  });
}

/** True when the configured address is that of the socket; port 0 stands for any. */
function isAddressOf({ host, port }: ListenUrl, socket: string): boolean {
  const { hostname, port: real, protocol } = new URL(socket);
  const realPort = real === '' ? (protocol === 'https:' ? 443 : 80) : Number(real);
  return hostname.replace(/^\[|\]$/g, '') === host && (port === 0 || port === realPort);
}

/** Reads the time of a server from the Date header of any response. */
export async function checkAuthorityClock(
  profile: string,
  url: string,
  clock: Pick<Clock, 'now' | 'after'>,
): Promise<Finding> {
  const name = `clock:time-stamp-authority:${profile}`;
  const host = new URL(url).host;
  const limit = new AbortController();
  const cancel = clock.after(TIMEOUT_MS, () => limit.abort());
  const client = createHttpClient();
  try {
    const response = await client.send({
      url: new URL(url),
      method: 'HEAD',
      headers: {},
      policy: 'any',
      repeatable: true,
      signal: limit.signal,
    });
    response.destroy();
    const theirs = Date.parse(response.headers.date ?? '');
    if (Number.isNaN(theirs)) return good(name, `${host} answers; it does not say what time it is.`);
    const skew = Math.abs(theirs - clock.now());
    const says = `The clock of ${host} is ${Math.round(skew / 1000)} s away from this machine's.`;
    if (skew < SKEW_WARNING_MS) return good(name, says);
    return bad(skew > SKEW_ERROR_MS ? 'failed' : 'warning', name, {
      says,
      cause: 'Time-stamps that are more than five minutes away from this machine’s clock are refused.',
      remedy: 'Set this machine’s clock, for example with timedatectl set-ntp true.',
    });
  } catch {
    return bad('failed', name, {
      says: `${host} cannot be reached.`,
      cause: 'The address is wrong, a firewall is in the way, or the authority is down.',
      remedy: `Check Signing:Profiles[${profile}]:Timestamp:Url and that this machine may connect there.`,
    });
  } finally {
    cancel();
    client.close();
  }
}

function listenFailure({ host, port }: ListenUrl): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(errorCode(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

const RELAY = 'smtp';

/** Connects and logs in; nothing is sent. No finding where the portal is not served or writes its mails to a folder. */
export async function checkSmtp({ portal }: Settings): Promise<readonly Finding[]> {
  const { host, secure, user, password } = portal.smtp;
  if (!portal.enabled || host === undefined) return [];
  const port = portal.smtp.port ?? (secure ? 465 : 587);
  try {
    await verifyRelay({
      host,
      port,
      secure,
      name: hostname(),
      connectTimeout: TIMEOUT_MS,
      silenceTimeout: TIMEOUT_MS,
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
    });
    return [good(RELAY, `${host}:${port} takes mails${user === undefined ? '' : ` of ${user}`}.`)];
  } catch (error) {
    const { code } = describeFailure(error);
    const refused = code === 'EAUTH';
    return [
      bad('failed', RELAY, {
        says: refused
          ? `${host}:${port} refuses the user or the password.`
          : `${host}:${port} cannot be used as a mail relay (${code}).`,
        cause: refused
          ? 'Portal:Smtp:User or Portal:Smtp:Password is wrong, or the account is locked.'
          : 'The address is wrong, a firewall is in the way, TLS does not fit, or the relay is down.',
        remedy: refused
          ? 'Correct Portal:Smtp:User and Portal:Smtp:Password.'
          : 'Check Portal:Smtp:Host, Port and Secure, and that this machine may connect there.',
      }),
    ];
  }
}

const PUBLIC_URL = 'portal:public-url';

/** No finding while the service does not run, or without `Portal:PublicUrl`. */
export async function checkPublicUrl(settings: Settings): Promise<readonly Finding[]> {
  const { enabled, publicUrl } = settings.portal;
  const running = readServiceFile(settings);
  if (!enabled || publicUrl === undefined || running === undefined) return [];
  const path = `${new URL(publicUrl).pathname.replace(/\/$/, '')}/api/health`;
  const answer = await requestLocal(publicUrl, path).catch((error: Error) => error.message);
  if (typeof answer === 'string')
    return [
      bad('warning', PUBLIC_URL, {
        says: `${publicUrl} does not answer this machine: ${answer}.`,
        cause: 'The address is wrong, the proxy is down, or only other networks reach it.',
        remedy:
          'Open it from outside. If nothing answers there either, correct Portal:PublicUrl or the proxy.',
      }),
    ];
  if (answer.status === 505)
    return [
      bad('failed', PUBLIC_URL, {
        says: `The proxy at ${publicUrl} speaks HTTP/1.0 to the service, which answers 505.`,
        cause: 'HTTP/1.0 is the default of nginx before 1.29.7 for its upstreams.',
        remedy: 'Set "proxy_http_version 1.1;" in the location of the proxy, for both services.',
      }),
    ];
  if (answer.runId === running.runId) return [good(PUBLIC_URL, `${publicUrl} leads to this service.`)];
  return [
    bad('warning', PUBLIC_URL, {
      says: `${publicUrl} answers with status ${answer.status}, and not as this service.`,
      cause:
        'It leads to another program or node, or the proxy has another path or removes the header X-Run-Id.',
      remedy: 'Check the target and the path of the proxy: it removes the path of Portal:PublicUrl.',
    }),
  ];
}
