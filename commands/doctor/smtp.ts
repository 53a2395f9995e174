/** The mail relay: answers, and takes the user and password. */
import { hostname } from 'node:os';
import { describeFailure } from '@sealwright/runtime/core';
import { verifyRelay } from '../../actors/index.ts';
import type { Settings } from '../../settings.ts';
import { bad, type Finding, good } from './finding.ts';

const NAME = 'smtp';
/** Time for which the relay may stay silent, milliseconds. */
const TIMEOUT_MS = 10_000;

/** Connects and logs in; nothing is sent. No finding where the portal is not served or writes its mails to a folder. */
export async function checkSmtp({ portal }: Settings): Promise<readonly Finding[]> {
  const { host, secure, user, password } = portal.smtp;
  if (!portal.enabled || host === undefined) return [];
  const port = portal.smtp.port ?? (secure ? 465 : 587);
  try {
    await verifyRelay({
      ...{ host, port, secure, name: hostname() },
      ...{ connectTimeout: TIMEOUT_MS, silenceTimeout: TIMEOUT_MS },
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
    });
    return [good(NAME, `${host}:${port} takes mails${user === undefined ? '' : ` of ${user}`}.`)];
  } catch (error) {
    const { code } = describeFailure(error);
    const refused = code === 'EAUTH';
    return [
      bad('failed', NAME, {
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
