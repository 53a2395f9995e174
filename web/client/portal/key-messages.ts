/** Messages between the page and the worker that holds a participant's key. */

export type KeyRequest =
  | { readonly ask: 'open'; readonly file: ArrayBuffer; readonly password: string }
  /** `hash`: digest of `data` as the service requested; `data` is null when it was too large to send. */
  | { readonly ask: 'sign'; readonly data: Uint8Array | null; readonly hash: Uint8Array };

/** Cause of a failed opening. `file-unsupported`: protected by a scheme that this page does not support. */
export type FileError =
  | 'password-wrong'
  | 'file-unreadable'
  | 'file-damaged'
  | 'file-unsupported'
  | 'key-missing';

export type KeyError = FileError | 'key-unsupported' | 'needs-https';

export type KeyResponse =
  | { readonly answer: 'opened'; readonly certificate: Uint8Array; readonly holder: string }
  | { readonly answer: 'signed'; readonly signature: Uint8Array }
  | { readonly answer: 'failed'; readonly trouble: KeyError };
