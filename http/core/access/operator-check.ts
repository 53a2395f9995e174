/** Check for anonymous routes that show more to holders of the API key or a session. */
import { Refusal } from '../../../machines/refusals.ts';
import type { Authenticator } from './auth.ts';
import type { Caller } from './caller.ts';
import { mayDo } from './permission.ts';
import { readCookie } from './session-cookies.ts';
import type { WrongKeys } from './wrong-keys.ts';

export interface OperatorCheck {
  /** Request headers that `isOperator` reads. */
  readonly credentialHeaders: readonly string[];
  /** True for a key and a session that may read the whole service; a wrong key is counted but not refused. */
  isOperator(header: (name: string) => string, caller: Caller): boolean;
}

export function createOperatorCheck(
  { apiKeyHeader, cookieName, identify }: Pick<Authenticator, 'apiKeyHeader' | 'cookieName' | 'identify'>,
  wrongKeys: WrongKeys,
): OperatorCheck {
  return {
    credentialHeaders: [apiKeyHeader, 'cookie'],
    isOperator(header, caller) {
      const apiKey = header(apiKeyHeader);
      const session = apiKey === '' ? readCookie(header('cookie'), cookieName) : '';
      if (apiKey === '' && session === '') return false;
      try {
        return mayDo(identify({ apiKey, session }).identity, { scope: 'read', reach: 'service' });
      } catch (thrown) {
        if (!(thrown instanceof Refusal)) throw thrown;
        if (apiKey !== '') ignoreLimit(() => wrongKeys.count(caller.address));
        return false;
      }
    },
  };
}

function ignoreLimit(count: () => void): void {
  try {
    count();
  } catch {
    // The caller is unknown in both cases.
  }
}
