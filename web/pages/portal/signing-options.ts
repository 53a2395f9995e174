/** Display options and addresses of the signing page. */
import type { Theme } from './page-frame.tsx';

/** Display options. Source: docs/portal-values.md §9, query parameters. */
export interface SigningPageOptions {
  readonly embedded: boolean;
  /** Sends no notifications after a signature. */
  readonly notify: boolean;
  /** From 1; -1 = the last. */
  readonly page: number | undefined;
  /** `PageWidth`, or per cent. */
  readonly scale: string | undefined;
  readonly hideDocument: boolean;
  readonly refusing: boolean;
  readonly theme: Theme | undefined;
}

/** Data for the page's script. */
export interface SigningAddresses {
  readonly key: string;
  readonly ticket: string;
  /** Path of the file. */
  readonly content: string;
  /** Path of the picture of its first page; absent where the page asks for none. */
  readonly picture?: string;
  /** Path of this page. */
  readonly self: string;
  /** Path to which the request for a new link is sent. */
  readonly newLink: string;
  /** Path to which an address is sent that a new link is wanted for. */
  readonly linkRequest: string;
  /** Page on which the participant hands the action on. */
  readonly passOn: string;
  /** Path of an attachment. */
  readonly attachment: (id: string) => string;
}
