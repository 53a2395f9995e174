/** E-mail addresses: which ones a relay can be handed, and which ones are equal. Source: RFC 5321 §4.5.3.1, RFC 1035 §2.3.4, RFC 5890 §2.3. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { mailboxOf } from '../../../machines/portal/mailbox.ts';

const MAX_ADDRESS_LENGTH = 254;
const MAX_DOMAIN_LENGTH = 253;

/** A mailbox name without quotes. Dots in a row are not standard, but some operators gave them out. */
const NAME = /^[^\s\p{C}<>()[\],;:\\"@]{1,64}$/u;
const LABEL = /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?$/i;

/** True for an address that a relay can take: no comments, quotes or literals, and a domain that can exist. */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 0 || text.length > MAX_ADDRESS_LENGTH || !NAME.test(text.slice(0, at))) return false;
  const domain = asciiDomain(text.slice(at + 1));
  const labels = domain.split('.');
  return (
    domain.length <= MAX_DOMAIN_LENGTH &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '')
  );
}

/** A domain that `domainToUnicode` only brings to lower case: letters, digits, single hyphens, and no number at its end. */
const PLAIN_DOMAIN = /^(?:[a-z\d]+[.-])*[a-z][a-z\d]*$/i;

/** The mailbox of an address in any form, for limits. */
export function mailboxKey(address: string): string {
  return mailboxOf(addressKey(address));
}

/** An address whose domain is in the form of the DNS. */
export function asciiAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at + 1)}${asciiDomain(address.slice(at + 1))}`;
}

/** An address in the form in which equal ones are equal: in lower case, an internationalized domain in its letters. */
export function addressKey(address: string): string {
  const at = address.lastIndexOf('@');
  const given = address.slice(at + 1);
  if (PLAIN_DOMAIN.test(given)) return address.toLowerCase();
  const domain = domainToUnicode(asciiDomain(given));
  return domain === '' ? address.toLowerCase() : `${address.slice(0, at + 1)}${domain}`.toLowerCase();
}

/** A domain in the form of the DNS; empty when it has none. Domains in ASCII stay as they are: the URL rules would read numbers as addresses. */
function asciiDomain(domain: string): string {
  if (/^[\x21-\x7e]*$/.test(domain)) return domain;
  // The URL rules would remove line ends.
  return /[\s\p{C}]/u.test(domain) ? '' : domainToASCII(domain);
}
