/** What the page and the thread that holds a participant's key say to each other. */

export type KeyRequest =
  | { readonly ask: 'open'; readonly file: ArrayBuffer; readonly password: string }
  /** `hash`: of `data`, made as the answer said, which is null when it was too large to be sent here. */
  | { readonly ask: 'sign'; readonly data: Uint8Array | null; readonly hash: Uint8Array };

/** Why a file was not opened. `file-unsupported`: protected in a way that this page does not know. */
export type FileTrouble =
  | 'password-wrong'
  | 'file-unreadable'
  | 'file-damaged'
  | 'file-unsupported'
  | 'key-missing';

export type KeyTrouble = FileTrouble | 'key-unsupported' | 'needs-https';

export type KeyAnswer =
  | { readonly answer: 'opened'; readonly certificate: Uint8Array; readonly holder: string }
  | { readonly answer: 'signed'; readonly signature: Uint8Array }
  | { readonly answer: 'failed'; readonly trouble: KeyTrouble };
