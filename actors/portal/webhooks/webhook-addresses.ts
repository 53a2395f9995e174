/** The URLs that webhooks may be registered for. Source: docs/portal-values.md §19; docs/decisions/0052-outgoing-requests.md. */
import { isPublicAddress, literalAddress } from '@sealwright/signatures/http';

/** Longest URL of a webhook, characters. */
const MAX_URL_LENGTH = 2000;

/**
 * A URL webhooks may be registered for; undefined when it is none: not http or https, with credentials, or with an
 * IP address in the place of a name that is not public. Names are resolved and checked when they are called.
 */
export function parseWebhookUrl(text: string, allowPrivate: boolean): URL | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  const address = literalAddress(url);
  if (address !== undefined && !allowPrivate && !isPublicAddress(address)) return undefined;
  return url;
}
